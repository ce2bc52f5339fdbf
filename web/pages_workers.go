package web

import (
	"context"
	"strings"

	"github.com/gofiber/fiber/v2"

	"warpboard/models"
	"warpboard/views"
)

// credentials lists what admins see of remote workers; nil for everybody else.
func (p *Pages) credentials(c *fiber.Ctx, page views.Page) (*views.CredentialList, error) {
	if !actor(c).IsAdmin() {
		return nil, nil
	}
	list, err := p.Store.Credentials(c.UserContext())
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
func (p *Pages) workerCreate(c *fiber.Ctx) error {
	if _, err := requireUser(c); err != nil {
		return err
	}
	names := strings.FieldsFunc(c.FormValue("devices"), func(r rune) bool { return r == ',' || r == ' ' })
	secret, cred, err := p.Store.CreateCredential(c.UserContext(), actor(c), strings.TrimSpace(c.FormValue("name")), names)
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
func (p *Pages) workerRevoke(c *fiber.Ctx) error {
	if _, err := requireUser(c); err != nil {
		return err
	}
	name := c.Params("name")
	if err := p.Store.RevokeCredential(c.UserContext(), actor(c), name); err != nil {
		return err
	}
	p.Dispatcher.Kick(name)
	return redirect(c, "/devices?done=revoked#credentials")
}

// workerForget takes a worker that is gone off the list.
func (p *Pages) workerForget(c *fiber.Ctx) error {
	if _, err := requireUser(c); err != nil {
		return err
	}
	if err := p.Store.ForgetWorker(c.UserContext(), actor(c), c.Params("name")); err != nil {
		return err
	}
	return redirect(c, "/devices")
}

// devicePause holds back the queue of a device.
func (p *Pages) devicePause(c *fiber.Ctx) error { return p.changeDevice(c, p.Store.PauseDevice) }

// deviceResume lets the queue of a device go on.
func (p *Pages) deviceResume(c *fiber.Ctx) error { return p.changeDevice(c, p.Store.ResumeDevice) }

func (p *Pages) changeDevice(c *fiber.Ctx, change func(ctx context.Context, actor models.User, device string) error) error {
	if _, err := requireUser(c); err != nil {
		return err
	}
	if err := change(c.UserContext(), actor(c), c.Params("device")); err != nil {
		return err
	}
	p.Dispatcher.Wake()
	p.Hub.QueueChanged()
	return redirect(c, "/devices")
}
