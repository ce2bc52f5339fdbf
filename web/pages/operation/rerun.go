package operation

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/review"
	"warpboard/models/work"
	"warpboard/views"
	"warpboard/web/site"
)

// taskOfPath reads the task of the path, if the viewer may measure it again.
func (p *Operation) taskOfPath(c *fiber.Ctx) (catalog.Task, error) {
	task, err := p.runs.VisibleTask(c.UserContext(), site.Actor(c), c.Params("slug"))
	if err != nil {
		return task, err
	}
	return task, site.Actor(c).CheckPermission(accounts.RerunTask, accounts.OwnerIDs{AuthorID: task.OwnerID})
}

// ShowRerun shows the results of measuring a task's runs again, and how they would change its boards.
func (p *Operation) ShowRerun(c *fiber.Ctx) error {
	task, err := p.taskOfPath(c)
	if err != nil {
		return err
	}
	page, err := p.rerunPage(c, task)
	if err != nil {
		return err
	}
	return p.site.Render(c, fiber.StatusOK, views.Rerun(page))
}

func (p *Operation) rerunPage(c *fiber.Ctx, task catalog.Task) (views.RerunPage, error) {
	page := views.RerunPage{Page: p.site.Page(c, "Rejudge "+task.Title, "tasks"), Task: site.TaskLink(task)}
	last, err := p.site.Store.Reruns(c.UserContext(), site.Actor(c), task.VersionID, "", 1)
	for _, o := range last {
		page.LastOrder = &o.RerunOrder
		for _, x := range o.Runs {
			if x.EndedAt == nil {
				page.WaitingRuns++
			}
		}
		page.Boards = groupByBoard(o.Runs)
	}
	return page, err
}

// RerunBegin queues reruns of the runs on a task's boards.
func (p *Operation) RerunBegin(c *fiber.Ctx) error {
	return p.changeRerun(c, "queued", func(ctx context.Context, actor accounts.User, task catalog.Task) error {
		_, err := p.site.Store.BeginRerun(ctx, actor, task.ID, c.FormValue("reason"))
		p.site.Dispatcher.Wake()
		p.site.Hub.QueueChanged()
		return err
	})
}

// RerunApply replaces the scores by those of the reruns.
func (p *Operation) RerunApply(c *fiber.Ctx) error {
	return p.changeRerun(c, "applied", func(ctx context.Context, actor accounts.User, task catalog.Task) error {
		changes, err := p.site.Store.ApplyRerun(ctx, actor, task.ID)
		for _, b := range changes {
			p.site.Hub.BoardChanged(b.VersionID, b.Device, b.ChangeNumber)
		}
		return err
	})
}

// RerunCancel ends the reruns of a task without changing scores.
func (p *Operation) RerunCancel(c *fiber.Ctx) error {
	return p.changeRerun(c, "cancelled", func(ctx context.Context, actor accounts.User, task catalog.Task) error {
		return p.site.Dispatcher.CancelRerun(ctx, actor, task.ID)
	})
}

// changeRerun calls do for the task of the path and redirects with the notice done. It shows an error on the page.
func (p *Operation) changeRerun(
	c *fiber.Ctx, done string, do func(context.Context, accounts.User, catalog.Task) error,
) error {
	task, err := p.taskOfPath(c)
	if err != nil {
		return err
	}
	err = do(c.UserContext(), site.Actor(c), task)
	if err == nil {
		return c.Redirect(string(views.TaskPartURL(task.Slug, "rejudge"))+"?done="+done, fiber.StatusSeeOther)
	}
	if kind := db.KindOf(err); kind != db.Invalid && kind != db.Conflict {
		return err
	}
	page, pageErr := p.rerunPage(c, task)
	if pageErr != nil {
		return pageErr
	}
	refused := site.FailureFromError(err)
	page.RefusalReason, page.FormText = refused.Message, c.FormValue("reason")
	return p.site.Render(c, refused.Status, views.Rerun(page))
}

// groupByBoard groups reruns by board, with the ranks before and after.
func groupByBoard(rows []models.Rerun) (boards []views.RerunBoard) {
	for _, x := range rows {
		if n := len(boards); n == 0 || boards[n-1].Device != x.Device {
			boards = append(boards, views.RerunBoard{Device: x.Device})
		}
		b := &boards[len(boards)-1]
		b.Rows = append(b.Rows, views.RerunRow{Rerun: x, OldPlace: len(b.Rows) + 1})
	}
	for _, b := range boards {
		addRanksAfterRerun(b.Rows)
	}
	return boards
}

// addRanksAfterRerun sets the ranks that the runs would have with their new scores. Runs that have not been measured
// again keep their old scores, and failed runs have no rank.
func addRanksAfterRerun(rows []views.RerunRow) {
	var order []*views.RerunRow
	for i := range rows {
		if rows[i].FailureReason() == "" {
			order = append(order, &rows[i])
		}
	}
	score := func(r *views.RerunRow) float64 { return *cmp.Or(r.ScoreNS, &r.ScoreBefore.ScoreNS) }
	slices.SortStableFunc(order, func(a, b *views.RerunRow) int { return cmp.Compare(score(a), score(b)) })
	for i, r := range order {
		r.NewPlace = i + 1
	}
}

// maxShownOutputBytes limits the output of a validation script that its row shows, in bytes. The end is shown.
const maxShownOutputBytes = 1000

// validatedTask reads the task of the path, if the viewer may run its validation script.
func (p *Operation) validatedTask(c *fiber.Ctx) (catalog.Task, error) {
	task, err := p.runs.VisibleTask(c.UserContext(), site.Actor(c), c.Params("slug"))
	if err != nil {
		return task, err
	}
	return task, site.Actor(c).CheckPermission(accounts.ValidateTask, accounts.OwnerIDs{AuthorID: task.OwnerID})
}

// ShowValidation shows the results of a task's validation script.
func (p *Operation) ShowValidation(c *fiber.Ctx) error {
	task, err := p.validatedTask(c)
	if err != nil {
		return err
	}
	page, err := p.validationPage(c, task)
	if err != nil {
		return err
	}
	return p.site.Render(c, fiber.StatusOK, views.Validation(page))
}

func (p *Operation) validationPage(c *fiber.Ctx, task catalog.Task) (page views.ValidationPage, err error) {
	version, err := p.site.Store.Catalog.Version(c.UserContext(), task.VersionID)
	if err != nil {
		return page, err
	}
	page = views.ValidationPage{Page: p.site.Page(c, "Validate "+task.Title, "tasks"), Task: site.TaskLink(task),
		Script: version.Definition.Validation, Deadline: p.site.DeadlineOf(task)}
	rows, err := p.site.Store.Validations.OfVersion(c.UserContext(), task.VersionID)
	if err != nil || len(rows) == 0 {
		return page, err
	}
	ids := make([]int64, len(rows))
	for i, row := range rows {
		ids[i] = row.ScriptRunID
	}
	stages, err := p.site.Store.Work.StagesOf(c.UserContext(), ids...)
	for _, row := range rows {
		if n := len(page.Boards); n == 0 || page.Boards[n-1].Device != row.Device {
			page.Boards = append(page.Boards, views.ValidatedBoard{Device: row.Device})
		}
		b := &page.Boards[len(page.Boards)-1]
		b.Rows = append(b.Rows, views.ValidatedRow{ValidationRow: row})
		if row.Answer == review.AnswerNone {
			b.Rows[len(b.Rows)-1].Output = validationOutputEnd(stages[row.ScriptRunID])
		}
	}
	return page, err
}

// validationOutputEnd returns the end of the output of a validation script that did not return an answer.
func validationOutputEnd(stages []work.Stage) (output string) {
	for _, stage := range stages {
		if text := stage.Result.Stdout + stage.Result.Stderr; stage.Stage == job.StageValidate {
			output = strings.ToValidUTF8(text[max(0, len(text)-maxShownOutputBytes):], "")
		}
	}
	return output
}

// RunValidation runs the validation script. It shows an error on the page.
func (p *Operation) RunValidation(c *fiber.Ctx) error {
	task, err := p.validatedTask(c)
	if err != nil {
		return err
	}
	if _, err = p.runs.Validate(c.UserContext(), site.Actor(c), task); err == nil {
		return site.Redirect(c, views.TaskPartURL(task.Slug, "validation")+"?done=queued")
	}
	if db.KindOf(err) != db.Conflict {
		return err
	}
	page, pageErr := p.validationPage(c, task)
	if pageErr != nil {
		return pageErr
	}
	refused := site.FailureFromError(err)
	page.Problem = refused.Message
	return p.site.Render(c, refused.Status, views.Validation(page))
}
