package api

import (
	"github.com/gofiber/fiber/v2"

	"warpboard/clients/go"
	"warpboard/views"
	"warpboard/web/site"
)

// LeaveTask ends the sender's membership of a task.
func (a *API) LeaveTask(c *fiber.Ctx) error {
	task, err := a.runs.VisibleTask(c.UserContext(), site.Actor(c), c.Params("slug"))
	if err == nil {
		err = a.site.Store.Members.Leave(c.UserContext(), site.Actor(c), task)
	}
	if err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

// JoinTask makes the sender a member of the invite code's task.
func (a *API) JoinTask(c *fiber.Ctx) error {
	var in client.InviteCode
	if err := readJSON(c, &in); err != nil {
		return err
	}
	task, err := a.site.JoinTask(c, in.Code)
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.JSON(client.Joined{
		Task:    task.Slug,
		Title:   task.Title,
		Devices: site.NonNilSlice(task.Devices),
		URL:     a.site.Settings.BaseURL + string(views.TaskURL(task.Slug)),
	})
}
