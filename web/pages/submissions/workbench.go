package submissions

import (
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"warpboard/evaluator/job"
	"warpboard/evaluator/kernelrun"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/submissions"
	"warpboard/views"
	"warpboard/web/site"
	"warpboard/web/site/evaluations"
	"warpboard/web/site/runs"
)

const (
	maxShownSubmissions = 20 // submissions listed beside the editor
	leadersPerBoard     = 10 // entries shown of each board
)

// Workbench shows the workbench of a task. ?from=ID fills the editor with the source of a submission; ?run=ID shows a
// submission below the editor.
func (p *Submissions) Workbench(c *fiber.Ctx) error {
	task, err := p.runs.VisibleTask(c.UserContext(), site.Actor(c), c.Params("slug"))
	if err != nil {
		return err
	}
	return p.showWorkbench(c, task, fiber.StatusOK, views.SubmitForm{Mode: string(job.ModeTest)})
}

// showWorkbench renders the workbench. form has the input of a refused submission.
func (p *Submissions) showWorkbench(c *fiber.Ctx, task catalog.Task, status int, form views.SubmitForm) error {
	bundle, err := p.site.Store.Catalog.CurrentBundle(c.UserContext(), task)
	if err != nil {
		return err
	}
	page := views.WorkbenchPage{
		Page: p.site.Page(c, "Solve "+task.Title, "tasks"), Task: site.TaskLink(task), Deadline: p.site.DeadlineOf(task), Devices: task.Devices, Limits: task.Limits,
		Templates: slices.Sorted(maps.Keys(bundle.Definition.Templates)), Form: form,
	}
	page.HasStream, page.NeedsChartStyle, page.FullWidth, page.FullHeight = true, true, true, true
	if page.Description, err = p.highlighter.RenderDescription(bundle.Definition.Description); err != nil {
		return err
	}
	page.References = slices.DeleteFunc(runs.TaskSources(p.highlighter, bundle), func(f views.SourceFile) bool { return !strings.HasPrefix(path.Base(f.Name), "reference") })
	if err := p.runs.FillSubmitForm(c, page.Page, task, bundle, &page.Form); err != nil {
		return err
	}
	if page.Shown, err = p.shownRun(c, task); err != nil {
		return err
	}
	if user := site.Viewer(c); user != nil {
		page.Form.Versions = views.TaskPartURL(task.Slug, "solve/runs")
		budget, err := p.site.Store.Quotas.BudgetOf(c.UserContext(), *user)
		if err != nil {
			return err
		}
		page.Budget = budget
	}
	return p.site.Render(c, status, views.Workbench(page))
}

// shownRun returns the submission that the workbench shows below the editor. It returns nil if the query has none, or
// one to another task.
func (p *Submissions) shownRun(c *fiber.Ctx, task catalog.Task) (*views.WorkbenchRun, error) {
	id := c.QueryInt("run", c.QueryInt("from"))
	if id <= 0 {
		return nil, nil
	}
	seen, err := p.runs.SubmissionByID(c.UserContext(), site.Actor(c), int64(id))
	if db.KindOf(err) == db.NotFound || err == nil && seen.Task.ID != task.ID {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	run, err := p.workbenchRun(c, seen)
	return &run, err
}

func (p *Submissions) workbenchRun(c *fiber.Ctx, seen runs.SubmissionAccess) (views.WorkbenchRun, error) {
	live, err := p.runs.LiveRunsOf(c, seen)
	return views.WorkbenchRun{LiveRuns: live, CSRF: p.site.Page(c, "", "").CSRF, ID: seen.Submission.ID, Mode: string(seen.Submission.Mode)}, err
}

// WorkbenchSubmit submits the source in the workbench. It responds with the run for the workbench's script, and with a
// redirect to the submission for browsers without JavaScript.
func (p *Submissions) WorkbenchSubmit(c *fiber.Ctx) error {
	user := site.Actor(c)
	in, err := p.runs.ReadForm(c)
	if err != nil {
		return p.refuseWorkbench(c, in, err)
	}
	if in.Mode == job.ModeCompile {
		return p.workbenchCompile(c, in)
	}
	sub, _, err := p.runs.Submit(c.UserContext(), user, in)
	if err != nil {
		return p.refuseWorkbench(c, in, err)
	}
	if !site.WantsFragment(c) {
		return site.Redirect(c, views.SubmissionURL(sub.ID))
	}
	seen, err := p.runs.SubmissionByID(c.UserContext(), site.Actor(c), sub.ID)
	if err != nil {
		return err
	}
	run, err := p.workbenchRun(c, seen)
	if err != nil {
		return err
	}
	return p.site.Render(c, fiber.StatusCreated, views.BenchRun(run))
}

// workbenchCompile compiles the source in the editor for the first selected device.
func (p *Submissions) workbenchCompile(c *fiber.Ctx, in submissions.NewSubmission) error {
	caller, err := p.evaluations.Caller(c)
	if err != nil {
		return err
	}
	request := kernelrun.Request{
		Kind:         kernelrun.KindCompile,
		TaskName:     in.TaskSlug,
		CustomKernel: kernelrun.KernelCode{Source: string(in.Source)},
		Timeout:      kernelrun.CompileTimeout,
	}
	if len(in.Devices) > 0 {
		request.GPUType = in.Devices[0]
	}
	if err = request.Check(p.evaluations.EvalLimits.RequestLimits); err != nil {
		return p.refuseWorkbench(c, in, evaluations.WithErrorCode(err))
	}
	e, err := p.evaluations.Compile(c.UserContext(), caller, request, in.AdditionalFiles)
	if err != nil {
		return p.refuseWorkbench(c, in, evaluations.WithErrorCode(err))
	}
	if !site.WantsFragment(c) {
		return site.Redirect(c, views.EvaluationURL(e.ID))
	}
	page := views.EvaluationPage{Page: p.site.Page(c, views.EvaluationTitle(e), "tasks"), Of: e, Mine: true}
	return p.site.Render(c, fiber.StatusCreated, views.BenchCompiled(page))
}

// refuseWorkbench responds with the reason for refusing a submission. For browsers without JavaScript it renders the
// workbench with the input, because nothing else stores it.
func (p *Submissions) refuseWorkbench(c *fiber.Ctx, in submissions.NewSubmission, why error) error {
	refused := site.FailureFromError(why)
	if refused.Status == fiber.StatusInternalServerError {
		return why
	}
	if refused.RetryAfter > 0 {
		c.Set(fiber.HeaderRetryAfter, strconv.Itoa(int(refused.RetryAfter.Seconds())))
	}
	if site.WantsFragment(c) {
		return p.site.Render(c, refused.Status, views.Refused(refused.Message))
	}
	task, err := p.runs.VisibleTask(c.UserContext(), site.Actor(c), in.TaskSlug)
	if err != nil {
		return why
	}
	return p.showWorkbench(c, task, refused.Status, runs.RefusedSubmitForm(in, refused.Message))
}

// WorkbenchRuns responds with the workbench's list of the viewer's own submissions to the task.
func (p *Submissions) WorkbenchRuns(c *fiber.Ctx) error {
	task, err := p.workbenchTask(c)
	if err != nil || task.ID == 0 {
		return err
	}
	user, err := site.RequireUser(c)
	if err != nil {
		return err
	}
	rows, err := p.runs.SubmissionRows(c.UserContext(), *user, submissions.SubmissionFilter{
		UserID: user.ID,
		TaskID: task.ID,
		Limit:  maxShownSubmissions,
	})
	if err != nil {
		return err
	}
	times, err := p.runs.BenchmarkTimes(c.UserContext(), rows)
	if err != nil {
		return err
	}
	return p.site.Render(c, fiber.StatusOK, views.BenchMine(task.Slug, rows, times))
}

// WorkbenchBoards responds with the workbench's summaries of the task's boards.
func (p *Submissions) WorkbenchBoards(c *fiber.Ctx) error {
	task, err := p.workbenchTask(c)
	if err != nil || task.ID == 0 {
		return err
	}
	boards, err := p.runs.BoardSummaries(c.UserContext(), task, leadersPerBoard)
	if err != nil {
		return err
	}
	return p.site.Render(c, fiber.StatusOK, views.BenchBoards(task.Slug, boards, site.Actor(c).ID))
}

// WorkbenchDevices responds with the workbench's list of the task's devices and their current state.
func (p *Submissions) WorkbenchDevices(c *fiber.Ctx) error {
	task, err := p.workbenchTask(c)
	if err != nil || task.ID == 0 {
		return err
	}
	choices, err := p.runs.DeviceChoices(c.UserContext(), task.Devices, nil)
	if err != nil {
		return err
	}
	return p.site.Render(c, fiber.StatusOK, views.BenchDevices(task.Slug, choices))
}

// WorkbenchLimits responds with the remaining number of submissions that the viewer may make to the task.
func (p *Submissions) WorkbenchLimits(c *fiber.Ctx) error {
	task, err := p.workbenchTask(c)
	if err != nil || task.ID == 0 {
		return err
	}
	spent, err := p.site.Store.Quotas.UsesOfTask(c.UserContext(), site.Actor(c), task.ID, task.Limits)
	if err != nil {
		return err
	}
	return p.site.Render(c, fiber.StatusOK, views.BenchLimits(task.Limits, spent))
}

// workbenchTask returns the task of a request for a part of the workbench. If a browser opens the URL as a page, it
// redirects to the workbench and returns the zero Task.
func (p *Submissions) workbenchTask(c *fiber.Ctx) (catalog.Task, error) {
	c.Vary("HX-Request")
	if !site.WantsFragment(c) {
		return catalog.Task{}, site.RedirectTo("/tasks/:slug/solve")(c)
	}
	return p.runs.VisibleTask(c.UserContext(), site.Actor(c), c.Params("slug"))
}
