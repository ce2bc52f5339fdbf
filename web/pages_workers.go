package web

import (
	"context"
	"strings"

	"github.com/gofiber/fiber/v2"

	"warpboard/models"
	"warpboard/views"
)

// kicker disconnects a worker whose credential was revoked, where the way to the workers can do that.
type kicker interface{ Kick(worker string) }

// credentials lists what admins see of remote workers; nil for everybody else.
func (p pages) credentials(c *fiber.Ctx, page views.Page) (*views.CredentialList, error) {
	if !actor(c).IsAdmin() {
		return nil, nil
	}
	list, err := p.store.Credentials(c.UserContext())
	if err != nil {
		return nil, err
	}
	shown := &views.CredentialList{Page: page}
	for _, cred := range list {
		shown.Rows = append(shown.Rows, views.CredentialRow{
			Name: cred.Name, Devices: cred.Devices, Created: cred.CreatedAt, Used: timeOf(cred.UsedAt), Live: cred.RevokedAt == nil,
		})
	}
	return shown, nil
}

// workerCreate makes a credential and shows its secret this one time.
func (p pages) workerCreate(c *fiber.Ctx) error {
	if _, err := requireUser(c); err != nil {
		return err
	}
	names := strings.FieldsFunc(c.FormValue("devices"), func(r rune) bool { return r == ',' || r == ' ' })
	secret, cred, err := p.store.CreateCredential(c.UserContext(), actor(c), strings.TrimSpace(c.FormValue("name")), names)
	status, problem := fiber.StatusOK, ""
	switch models.KindOf(err) {
	case models.Invalid, models.Conflict:
		refused := failureOf(err)
		status, problem = refused.status, refused.message
	default:
		if err != nil {
			return err
		}
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return p.showDevices(c, status, func(l *views.CredentialList) { l.NewSecret, l.NewName, l.Problem = secret, cred.Name, problem })
}

// workerRevoke ends a credential and disconnects its worker.
func (p pages) workerRevoke(c *fiber.Ctx) error {
	if _, err := requireUser(c); err != nil {
		return err
	}
	name := c.Params("name")
	if err := p.store.RevokeCredential(c.UserContext(), actor(c), name); err != nil {
		return err
	}
	if way, ok := any(p.cfg.Dispatcher).(kicker); ok {
		way.Kick(name)
	}
	return redirect(c, "/devices?done=revoked#credentials")
}

// workerForget takes a worker that is gone off the list.
func (p pages) workerForget(c *fiber.Ctx) error {
	if _, err := requireUser(c); err != nil {
		return err
	}
	if err := p.store.ForgetWorker(c.UserContext(), actor(c), c.Params("name")); err != nil {
		return err
	}
	return redirect(c, "/devices")
}

// devicePause holds back the queue of a device.
func (p pages) devicePause(c *fiber.Ctx) error { return p.changeDevice(c, p.store.PauseDevice) }

// deviceResume lets the queue of a device go on.
func (p pages) deviceResume(c *fiber.Ctx) error { return p.changeDevice(c, p.store.ResumeDevice) }

func (p pages) changeDevice(c *fiber.Ctx, change func(ctx context.Context, actor models.User, device string) error) error {
	if _, err := requireUser(c); err != nil {
		return err
	}
	if err := change(c.UserContext(), actor(c), c.Params("device")); err != nil {
		return err
	}
	p.cfg.Dispatcher.Wake()
	p.hub.QueueChanged()
	return redirect(c, "/devices")
}
