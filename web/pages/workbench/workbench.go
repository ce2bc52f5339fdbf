package workbench

import (
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"warpboard/evaluator/job"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/submissions"
	"warpboard/views"
	"warpboard/web/site"
	"warpboard/web/site/runs"
)

const (
	ownSubmissions = 20 // shown beside the editor
	boardLeaders   = 10 // of each board
)

// Workbench has the handlers of the workbench.
type Workbench struct {
	site *site.Site
	runs *runs.Runs
	code *views.Highlighter
}

// New returns the handlers of the workbench.
func New(site *site.Site, runs *runs.Runs, code *views.Highlighter) *Workbench {
	return &Workbench{site: site, runs: runs, code: code}
}

// Solve shows the workbench of a task. ?from= begins with the text of a submission, ?run= shows one below the editor.
func (w *Workbench) Solve(c *fiber.Ctx) error {
	task, err := w.runs.VisibleTask(c.UserContext(), site.Actor(c), c.Params("slug"))
	if err != nil {
		return err
	}
	return w.show(c, task, fiber.StatusOK, views.SubmitForm{Mode: string(job.ModeTest)})
}

// show answers with the page; form holds what a refused submission had chosen.
func (w *Workbench) show(c *fiber.Ctx, task catalog.Task, status int, form views.SubmitForm) error {
	bundle, err := w.site.Store.Catalog.CurrentBundle(c.UserContext(), task)
	if err != nil {
		return err
	}
	page := views.WorkbenchPage{
		Page: w.site.Page(c, "Solve "+task.Title, "tasks"), Task: site.TaskRef(task), Deadline: w.site.DeadlineOf(task), Devices: task.Devices, Limits: task.Limits,
		Templates: slices.Sorted(maps.Keys(bundle.Definition.Templates)), Form: form,
	}
	page.Live, page.Charts, page.Wide, page.Full = true, true, true, true
	if page.Description, err = w.code.Description(bundle.Definition.Description); err != nil {
		return err
	}
	page.References = slices.DeleteFunc(runs.TaskSources(w.code, bundle), func(f views.SourceFile) bool { return !strings.HasPrefix(path.Base(f.Name), "reference") })
	if err := w.runs.FillForm(c, page.Page, task, bundle, &page.Form); err != nil {
		return err
	}
	if page.Shown, err = w.shown(c, task); err != nil {
		return err
	}
	if user := site.Viewer(c); user != nil {
		page.Form.Versions = views.TaskPartURL(task.Slug, "solve/runs")
		budget, err := w.site.Store.Budgets.BudgetOf(c.UserContext(), *user)
		if err != nil {
			return err
		}
		page.Budget = budget
	}
	return w.site.Render(c, status, views.Workbench(page))
}

// shown is the submission that the page opens with; nil if none is named, or it belongs to another task.
func (w *Workbench) shown(c *fiber.Ctx, task catalog.Task) (*views.WorkbenchRun, error) {
	id := c.QueryInt("run", c.QueryInt("from"))
	if id <= 0 {
		return nil, nil
	}
	seen, err := w.runs.SubmissionByID(c, int64(id))
	if db.KindOf(err) == db.NotFound || err == nil && seen.Task.ID != task.ID {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	run, err := w.benchRun(c, seen)
	return &run, err
}

func (w *Workbench) benchRun(c *fiber.Ctx, seen runs.Access) (views.WorkbenchRun, error) {
	live, err := w.runs.LiveRunsOf(c, seen)
	return views.WorkbenchRun{LiveRuns: live, CSRF: w.site.Page(c, "", "").CSRF, ID: seen.Sub.ID, Mode: string(seen.Sub.Mode)}, err
}

// Submit takes what was written. The workbench's script is answered with the run, others are led to its page.
func (w *Workbench) Submit(c *fiber.Ctx) error {
	user := site.Actor(c)
	in, err := w.runs.ReadForm(c)
	if err != nil {
		return w.refuse(c, in, err)
	}
	sub, _, err := w.runs.Submit(c.UserContext(), user, in)
	if err != nil {
		return w.refuse(c, in, err)
	}
	if !site.IsFragment(c) {
		return site.Redirect(c, views.SubmissionURL(sub.ID))
	}
	seen, err := w.runs.SubmissionByID(c, sub.ID)
	if err != nil {
		return err
	}
	run, err := w.benchRun(c, seen)
	if err != nil {
		return err
	}
	return w.site.Render(c, fiber.StatusCreated, views.BenchRun(run))
}

// refuse says why nothing runs. Without the script the page comes back, with what was typed: it is nowhere else.
func (w *Workbench) refuse(c *fiber.Ctx, in submissions.NewSubmission, why error) error {
	refused := site.FailureOf(why)
	if refused.Status == fiber.StatusInternalServerError {
		return why
	}
	if refused.RetryAfter > 0 {
		c.Set(fiber.HeaderRetryAfter, strconv.Itoa(int(refused.RetryAfter.Seconds())))
	}
	if site.IsFragment(c) {
		return w.site.Render(c, refused.Status, views.Refused(refused.Message))
	}
	task, err := w.runs.VisibleTask(c.UserContext(), site.Actor(c), in.Task)
	if err != nil {
		return why
	}
	return w.show(c, task, refused.Status, runs.Refused(in, refused.Message))
}

// Mine answers the workbench with the viewer's own submissions to its task.
func (w *Workbench) Mine(c *fiber.Ctx) error {
	task, err := w.part(c)
	if err != nil || task.ID == 0 {
		return err
	}
	user, err := site.RequireUser(c)
	if err != nil {
		return err
	}
	rows, err := w.runs.SubmissionRows(c.UserContext(), *user, submissions.SubmissionFilter{UserID: user.ID, TaskID: task.ID, Limit: ownSubmissions})
	if err != nil {
		return err
	}
	times, err := w.runs.BenchmarkTimes(c.UserContext(), rows)
	if err != nil {
		return err
	}
	return w.site.Render(c, fiber.StatusOK, views.BenchMine(task.Slug, rows, times))
}

// Boards answers the workbench with the heads of its task's boards.
func (w *Workbench) Boards(c *fiber.Ctx) error {
	task, err := w.part(c)
	if err != nil || task.ID == 0 {
		return err
	}
	boards, err := w.runs.BoardTops(c.UserContext(), task, boardLeaders)
	if err != nil {
		return err
	}
	return w.site.Render(c, fiber.StatusOK, views.BenchBoards(task.Slug, boards, site.Actor(c).ID))
}

// Devices answers the workbench with how the devices of its task stand now.
func (w *Workbench) Devices(c *fiber.Ctx) error {
	task, err := w.part(c)
	if err != nil || task.ID == 0 {
		return err
	}
	choices, err := w.runs.DeviceChoices(c.UserContext(), task.Devices, nil)
	if err != nil {
		return err
	}
	return w.site.Render(c, fiber.StatusOK, views.BenchDevices(task.Slug, choices))
}

// Limits answers the workbench with what the viewer has left of its task's limits.
func (w *Workbench) Limits(c *fiber.Ctx) error {
	task, err := w.part(c)
	if err != nil || task.ID == 0 {
		return err
	}
	spent, err := w.site.Store.Budgets.OfTask(c.UserContext(), site.Actor(c), task)
	if err != nil {
		return err
	}
	return w.site.Render(c, fiber.StatusOK, views.BenchLimits(task.Limits, spent))
}

// part is the task of a part of the workbench. A request for it as a page is redirected to the whole: the task is then empty.
func (w *Workbench) part(c *fiber.Ctx) (catalog.Task, error) {
	c.Vary("HX-Request")
	if !site.IsFragment(c) {
		return catalog.Task{}, site.RedirectTo("/tasks/:slug/solve")(c)
	}
	return w.runs.VisibleTask(c.UserContext(), site.Actor(c), c.Params("slug"))
}
