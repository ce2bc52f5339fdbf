package pages

import (
	"context"
	"fmt"

	"github.com/gofiber/fiber/v2"

	"warpboard/models"
	"warpboard/web/site"
	"warpboard/web/stream"
	"warpboard/web/wire"
)

// BoardEvents tells open boards their new change number; the page then asks for the table again.
func (p *Pages) BoardEvents(c *fiber.Ctx) error {
	versionID, err := site.IDParam(c, "version")
	if err != nil {
		return err
	}
	device, last := c.Params("device"), stream.LastSeen(c)
	if err := p.mayWatchBoard(c, versionID, device); err != nil {
		return err
	}
	send := func(out *wire.Writer, change int64) error {
		if change <= last {
			return nil
		}
		last = change
		_, err := out.Write(stream.Frame(change, "board", fmt.Append(nil, change)))
		return err
	}
	return p.Stream(c, stream.Source{
		Topic: site.BoardTopic(versionID, device),
		Backlog: func(ctx context.Context, out *wire.Writer) error {
			change, err := p.Store.BoardChangeNumber(ctx, versionID, device)
			if err != nil {
				return err
			}
			return send(out, change)
		},
		Live: func(_ context.Context, m stream.Message, out *wire.Writer) error { return send(out, m.Change) },
	})
}

func (p *Pages) mayWatchBoard(c *fiber.Ctx, versionID int64, device string) error {
	version, err := p.Store.Version(c.UserContext(), versionID)
	if err != nil {
		return err
	}
	task, err := p.Store.TaskByID(c.UserContext(), version.TaskID)
	if err == nil && !task.VisibleTo(site.Actor(c)) {
		err = models.Errorf(models.NotFound, "There is no version %d.", versionID)
	}
	if err != nil {
		return err
	}
	_, err = p.BoardChange(c.UserContext(), task, versionID, device)
	return err
}

// DeviceEvents tells pages with the queue that it changed. A page may have missed a change while it
// was loading, so each connection begins with one.
func (p *Pages) DeviceEvents(c *fiber.Ctx) error {
	changed := func(out *wire.Writer) error {
		_, err := out.Write(stream.Frame(0, "queue", nil))
		return err
	}
	return p.Stream(c, stream.Source{
		Topic:   site.QueueTopic(),
		Backlog: func(_ context.Context, out *wire.Writer) error { return changed(out) },
		Live:    func(_ context.Context, _ stream.Message, out *wire.Writer) error { return changed(out) },
	})
}
