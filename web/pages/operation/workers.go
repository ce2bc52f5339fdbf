package operation

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"warpboard/models/accounts"
	"warpboard/models/fleet"
	"warpboard/views"
	"warpboard/web/site"
)

// WorkerCreate creates a worker's credential and shows its secret. Only this response contains it.
func (p *Operation) WorkerCreate(c *fiber.Ctx) error {
	secret, cred, err := p.site.Store.Fleet.CreateCredential(c.UserContext(), site.Actor(c),
		strings.TrimSpace(c.FormValue("name")), formDeviceNames(c))
	if err != nil {
		return p.redirectToControls(c, err)
	}
	return p.showControls(c, fiber.StatusOK, func(page *views.OperatePage) { page.NewSecret, page.NewName = secret, cred.Name })
}

// formDeviceNames reads a form field with device names, separated by commas or spaces.
func formDeviceNames(c *fiber.Ctx) []string {
	return strings.FieldsFunc(c.FormValue("devices"), func(r rune) bool { return r == ',' || r == ' ' })
}

// WorkerRevoke revokes a credential and disconnects its worker.
func (p *Operation) WorkerRevoke(c *fiber.Ctx) error {
	name := c.Params("name")
	if err := p.site.Store.Fleet.RevokeCredential(c.UserContext(), site.Actor(c), name); err != nil {
		return err
	}
	p.site.Dispatcher.DisconnectWorker(name)
	return site.Redirect(c, "/operate?done=revoked#credentials")
}

// WorkerForget removes a disconnected worker from the list.
func (p *Operation) WorkerForget(c *fiber.Ctx) error {
	if err := p.site.Store.Fleet.ForgetWorker(c.UserContext(), site.Actor(c), c.Params("name")); err != nil {
		return err
	}
	return site.Redirect(c, "/devices")
}

// DevicePause pauses the queue of a device.
func (p *Operation) DevicePause(c *fiber.Ctx) error {
	return p.changeDevice(c, func(ctx context.Context, actor accounts.User, device string) error {
		return p.site.Store.Fleet.PauseDevice(ctx, actor, device, c.FormValue("why"))
	})
}

// DeviceResume resumes the queue of a device.
func (p *Operation) DeviceResume(c *fiber.Ctx) error {
	return p.changeDevice(c, p.site.Store.Fleet.ResumeDevice)
}

func (p *Operation) changeDevice(
	c *fiber.Ctx, change func(ctx context.Context, actor accounts.User, device string) error,
) error {
	if err := change(c.UserContext(), site.Actor(c), c.Params("device")); err != nil {
		return err
	}
	p.site.Dispatcher.Wake()
	p.site.Hub.QueueChanged()
	return site.Redirect(c, "/devices")
}

// TokenCreate creates a join token and shows it. Only this response contains it.
func (p *Operation) TokenCreate(c *fiber.Ctx) error {
	most, _ := strconv.Atoi(c.FormValue("most")) // a text that is not a number is refused, like 0
	days, _ := strconv.Atoi(c.FormValue("days"))
	secret, _, err := p.site.Store.Fleet.CreateJoinToken(c.UserContext(), site.Actor(c), fleet.NewJoinToken{
		Name: strings.TrimSpace(c.FormValue("name")), MaxWorkers: most, Lifetime: time.Duration(min(days, 1000)) * 24 * time.Hour,
		Devices: formDeviceNames(c),
	})
	if err != nil {
		return p.redirectToControls(c, err)
	}
	return p.showControls(c, fiber.StatusOK, func(page *views.OperatePage) { page.NewToken = secret })
}

// TokenRevoke revokes a join token and disconnects the workers that joined with it.
func (p *Operation) TokenRevoke(c *fiber.Ctx) error {
	id, err := site.IDParam(c, "id")
	if err != nil {
		return err
	}
	workers, err := p.site.Store.Fleet.RevokeJoinToken(c.UserContext(), site.Actor(c), id)
	if err != nil {
		return err
	}
	for _, name := range workers {
		p.site.Dispatcher.DisconnectWorker(name)
	}
	return site.Redirect(c, "/operate")
}
