package api

import (
	"fmt"

	"github.com/gofiber/fiber/v2"

	"warpboard/clients/go"
	"warpboard/models/boards"
	"warpboard/models/fleet"
	"warpboard/web/site"
	"warpboard/web/site/evaluations"
	"warpboard/web/site/runs"
)

const boardPageSize = 100 // entries on one page of the API's board

// API is the versioned JSON API.
type API struct {
	site        *site.Site
	runs        *runs.Runs
	evaluations *evaluations.Evaluations
}

// New returns the JSON API, which submits runs and evaluations through runs and evals.
func New(site *site.Site, runs *runs.Runs, evals *evaluations.Evaluations) *API {
	return &API{site: site, runs: runs, evaluations: evals}
}

// Tasks lists the tasks that the sender may see.
func (a *API) Tasks(c *fiber.Ctx) error {
	list, err := a.site.Store.TaskList(c.UserContext(), site.Actor(c))
	if err != nil {
		return err
	}
	answer := make([]client.TaskSummary, len(list))
	for i, t := range list {
		answer[i] = client.TaskSummary{
			Slug: t.Slug, Title: t.Title, Lang: t.Lang, Tags: t.Tags, Problem: t.ProblemName,
			Devices: site.NonNilSlice(t.Devices), Deadline: t.Deadline,
		}
	}
	return c.JSON(fiber.Map{"tasks": answer})
}

// Task responds with the current version of a task.
func (a *API) Task(c *fiber.Ctx) error {
	task, err := a.runs.VisibleTask(c.UserContext(), site.Actor(c), c.Params("slug"))
	if err != nil {
		return err
	}
	version, err := a.site.Store.Catalog.Version(c.UserContext(), task.VersionID)
	if err != nil {
		return err
	}
	bundle, err := a.site.Store.Catalog.Bundle(c.UserContext(), version.ID)
	if err != nil {
		return err
	}
	spent, err := a.site.Store.Quotas.UsesOfTask(c.UserContext(), site.Actor(c), task.ID, task.Limits)
	if err != nil {
		return err
	}
	return c.JSON(taskAnswer(task, version, bundle, spent))
}

// Me responds with the owner of the token.
func (a *API) Me(c *fiber.Ctx) error {
	user := site.Actor(c)
	budget, err := a.site.Store.Quotas.BudgetOf(c.UserContext(), user)
	if err != nil {
		return err
	}
	me := client.User{ID: user.ID, Name: user.Name, Role: string(user.Role)}
	if budget.SecondsPerDay > 0 {
		me.Budget = &client.Budget{
			Seconds:     budget.SecondsPerDay,
			UsedSeconds: budget.UsedToday.Seconds(),
			LeftSeconds: budget.RemainingTime().Seconds(),
			RenewsAt:    budget.RenewsAt,
		}
	}
	if team := budget.Team; team.SecondsPerDay > 0 {
		me.TeamBudget = &client.TeamBudget{
			Team: team.Name, Members: team.MemberCount, Seconds: team.SecondsPerDay, UsedSeconds: team.UsedToday.Seconds(),
			LeftSeconds: team.RemainingTime().Seconds(), RenewsAt: budget.RenewsAt,
		}
	}
	return c.JSON(me)
}

// Devices lists the devices with their slots and queues.
func (a *API) Devices(c *fiber.Ctx) error {
	devices, err := a.runs.DeviceListFor(c.UserContext(), site.Actor(c))
	if err != nil {
		return err
	}
	if c.QueryBool("packages") {
		workers, err := a.site.Store.Fleet.Workers(c.UserContext())
		if err != nil {
			return err
		}
		for i, d := range devices {
			devices[i].Packages = fleet.PackagesForDevice(workers, d.Device, a.site.Now())
		}
	}
	return c.JSON(fiber.Map{"devices": devices})
}

// Board responds with one page of a board. The ETag consists of the board's change number, the page, and the program's
// version, because another version may respond in another form.
func (a *API) Board(c *fiber.Ctx) error {
	task, version, err := a.runs.BoardOf(c)
	if err != nil {
		return err
	}
	device, page := c.Params("device"), site.PageNumber(c, "page")
	change, err := a.runs.BoardChangeNumber(c.UserContext(), task, version.ID, device)
	if err != nil {
		return runs.RedirectToBoardOfDevice(c, task, false, err)
	}
	if runs.ClientHasVersion(c, site.DeriveToken(fmt.Sprint("api", a.site.Settings.Version, version.ID, device, page, change))) {
		return c.SendStatus(fiber.StatusNotModified)
	}
	board, err := a.site.Store.Boards.Board(c.UserContext(), version.ID, device, boards.BoardPartQuery{
		Offset: (page - 1) * boardPageSize,
		Limit:  boardPageSize,
	})
	if err != nil {
		return err
	}
	return c.JSON(boardAnswer(task, version, board, page))
}
