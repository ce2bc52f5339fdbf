package moderation

import (
	"github.com/gofiber/fiber/v2"

	"warpboard/models/db"
	"warpboard/views"
	"warpboard/web/site"
)

// Silicon asks on which device the runs of an old device name were made.
func (m *Moderation) Silicon(c *fiber.Ctx) error {
	page, err := m.siliconPage(c)
	if err != nil {
		return err
	}
	return m.site.Render(c, fiber.StatusOK, views.Silicon(page))
}

func (m *Moderation) siliconPage(c *fiber.Ctx) (views.SiliconPage, error) {
	list, err := m.site.Store.Fleet.Unsorted(c.UserContext(), site.Actor(c))
	if err == nil {
		err = m.site.Store.Devices.NoteAsked(c.UserContext())
	}
	return views.SiliconPage{Page: m.site.Page(c, "GPU variants", "moderation"), Asked: list}, err
}

// AssignSilicon takes the answer. A refused one comes back with the form.
func (m *Moderation) AssignSilicon(c *fiber.Ctx) error {
	device, label := c.FormValue("device"), c.FormValue("label")
	err := m.site.Store.Fleet.AssignDevice(c.UserContext(), site.Actor(c), device, label)
	if err == nil {
		_, err = m.site.Store.Boards.RebuildIfAsked(c.UserContext())
	}
	switch {
	case err == nil:
		return c.Redirect("/silicon?done=saved", fiber.StatusSeeOther)
	case db.KindOf(err) != db.Invalid:
		return err
	}
	page, pageErr := m.siliconPage(c)
	if pageErr != nil {
		return pageErr
	}
	refused := site.FailureOf(err)
	page.Problem, page.Of, page.Typed = refused.Message, device, label
	return m.site.Render(c, refused.Status, views.Silicon(page))
}
