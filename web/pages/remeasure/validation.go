package remeasure

import (
	"strings"

	"github.com/gofiber/fiber/v2"

	"warpboard/evaluator/job"
	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/validations"
	"warpboard/models/work"
	"warpboard/views"
	"warpboard/web/site"
)

// shownOutput is how much of a script's output its row shows, in bytes: the end.
const shownOutput = 1000

// validatedTask reads the task in the address, if the viewer may have its script run.
func (r *Remeasure) validatedTask(c *fiber.Ctx) (catalog.Task, error) {
	task, err := r.runs.VisibleTask(c.UserContext(), site.Actor(c), c.Params("slug"))
	if err != nil {
		return task, err
	}
	return task, site.Actor(c).Check(accounts.Validate, accounts.Of{AuthorID: task.OwnerID})
}

// Validation shows what the task's script said.
func (r *Remeasure) Validation(c *fiber.Ctx) error {
	task, err := r.validatedTask(c)
	if err != nil {
		return err
	}
	page, err := r.validationPage(c, task)
	if err != nil {
		return err
	}
	return r.site.Render(c, fiber.StatusOK, views.Validation(page))
}

func (r *Remeasure) validationPage(c *fiber.Ctx, task catalog.Task) (page views.ValidationPage, err error) {
	version, err := r.site.Store.Catalog.Version(c.UserContext(), task.VersionID)
	if err != nil {
		return page, err
	}
	page = views.ValidationPage{Page: r.site.Page(c, "Validate "+task.Title, "tasks"), Task: site.TaskRef(task),
		Script: version.Definition.Validation, Deadline: r.site.DeadlineOf(task)}
	rows, err := r.site.Store.Validations.OfVersion(c.UserContext(), task.VersionID)
	if err != nil || len(rows) == 0 {
		return page, err
	}
	ids := make([]int64, len(rows))
	for i, row := range rows {
		ids[i] = row.ByRun
	}
	stages, err := r.site.Store.Work.StagesOf(c.UserContext(), ids...)
	for _, row := range rows {
		if n := len(page.Boards); n == 0 || page.Boards[n-1].Device != row.Device {
			page.Boards = append(page.Boards, views.ValidatedBoard{Device: row.Device})
		}
		b := &page.Boards[len(page.Boards)-1]
		b.Rows = append(b.Rows, views.ValidatedRow{Row: row})
		if row.Answer == validations.None {
			b.Rows[len(b.Rows)-1].Output = outputOf(stages[row.ByRun])
		}
	}
	return page, err
}

// outputOf is the end of what a script printed that gave no answer.
func outputOf(stages []work.Stage) (output string) {
	for _, stage := range stages {
		if text := stage.Result.Stdout + stage.Result.Stderr; stage.Stage == job.StageValidate {
			output = strings.ToValidUTF8(text[max(0, len(text)-shownOutput):], "")
		}
	}
	return output
}

// Validate has the script run. A refusal comes back with the page.
func (r *Remeasure) Validate(c *fiber.Ctx) error {
	task, err := r.validatedTask(c)
	if err != nil {
		return err
	}
	if _, err = r.runs.Validate(c.UserContext(), site.Actor(c), task); err == nil {
		return site.Redirect(c, views.TaskPartURL(task.Slug, "validation")+"?done=queued")
	}
	if db.KindOf(err) != db.Conflict {
		return err
	}
	page, pageErr := r.validationPage(c, task)
	if pageErr != nil {
		return pageErr
	}
	refused := site.FailureOf(err)
	page.Problem = refused.Message
	return r.site.Render(c, refused.Status, views.Validation(page))
}
