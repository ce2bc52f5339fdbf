package web

import (
	"fmt"

	"github.com/gofiber/fiber/v2"

	"warpboard/web/client"
)

const apiBoardPage = 100 // entries on one page of the API's board

// API is the versioned JSON API.
type API struct {
	*Site
	runs  *Runs
	evals *Evaluations
}

// NewAPI returns the API over runs and evaluations.
func NewAPI(runs *Runs, evals *Evaluations) *API {
	return &API{Site: runs.Site, runs: runs, evals: evals}
}

func (a *API) tasks(c *fiber.Ctx) error {
	list, err := a.Store.TaskSummaries(c.UserContext(), actor(c))
	if err != nil {
		return err
	}
	answer := make([]client.TaskSummary, len(list))
	for i, t := range list {
		answer[i] = client.TaskSummary{Slug: t.Slug, Title: t.Title, Lang: t.Lang, Devices: t.Devices, Deadline: t.Deadline}
	}
	return c.JSON(fiber.Map{"tasks": answer})
}

func (a *API) task(c *fiber.Ctx) error {
	task, err := a.runs.visibleTask(c.UserContext(), actor(c), c.Params("slug"))
	if err != nil {
		return err
	}
	version, err := a.Store.Version(c.UserContext(), task.VersionID)
	if err != nil {
		return err
	}
	bundle, err := a.Store.Bundle(c.UserContext(), version.ID)
	if err != nil {
		return err
	}
	return c.JSON(taskAnswer(task, version, bundle))
}

func (a *API) me(c *fiber.Ctx) error {
	user, err := requireUser(c)
	if err != nil {
		return err
	}
	return c.JSON(client.User{ID: user.ID, Name: user.Name, Role: string(user.Role)})
}

func (a *API) devices(c *fiber.Ctx) error {
	devices, err := a.runs.deviceList(c.UserContext())
	if err != nil {
		return err
	}
	return c.JSON(fiber.Map{"devices": devices})
}

// board answers with one page of a board; its ETag is exact, because every visible change has a number.
func (a *API) board(c *fiber.Ctx) error {
	task, version, err := a.runs.boardOf(c)
	if err != nil {
		return err
	}
	device, page := c.Params("device"), max(c.QueryInt("page", 1), 1)
	change, err := a.runs.boardChange(c.UserContext(), task, version.ID, device)
	if err != nil {
		return err
	}
	if unchanged(c, fmt.Sprintf("api-%d-%s-%d-%d", version.ID, device, page, change)) {
		return c.SendStatus(fiber.StatusNotModified)
	}
	board, err := a.Store.Board(c.UserContext(), version.ID, device, (page-1)*apiBoardPage, apiBoardPage)
	if err != nil {
		return err
	}
	return c.JSON(boardAnswer(task, version, board, page))
}
