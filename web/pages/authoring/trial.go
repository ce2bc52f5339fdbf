package authoring

import (
	"context"
	"fmt"
	"regexp"
	"slices"

	"github.com/gofiber/fiber/v2"

	"warpboard/evaluator/job"
	"warpboard/evaluator/trial"
	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/submissions"
	"warpboard/models/work"
	"warpboard/tasks"
	"warpboard/tasks/mutants"
	"warpboard/views"
	"warpboard/web/site"
	"warpboard/web/site/runs"
)

// attempt is a submission that a task is tried by: a solution of its author, or one made of a right one.
type attempt struct {
	tasks.Solution
	made bool
}

// attemptsAt lists the solutions that try a task. A solution is identified by its text, so that a trial stores nothing else.
func attemptsAt(b *tasks.Bundle) (list []attempt) {
	for _, s := range b.Solutions() {
		list = append(list, attempt{Solution: s})
	}
	if len(list) == 0 || !list[0].Correct {
		return list
	}
	for _, m := range mutants.Of(b.Definition, list[0].Source) {
		list = append(list, attempt{tasks.Solution{Name: m.Name, Source: m.Source, Files: list[0].Files}, true})
	}
	return list
}

// startTrial submits all attempts to one device that a worker serves, and leads to the page with the verdicts.
func (p *Authoring) startTrial(c *fiber.Ctx, author accounts.User, task catalog.Task, b *tasks.Bundle) error {
	ctx, to := c.UserContext(), views.TaskPartURL(task.Slug, "trial")
	choices, err := p.runs.DeviceChoices(ctx, task.Devices, nil)
	if err != nil {
		return err
	}
	served := slices.IndexFunc(choices, func(d views.DeviceChoice) bool { return !d.Offline })
	if served < 0 {
		return site.Redirect(c, to+"?done=untried")
	}
	for _, a := range attemptsAt(b) {
		_, _, err := p.runs.Submit(ctx, author, submissions.NewSubmission{Task: task.Slug, Devices: []string{choices[served].Device}, Mode: job.ModeTest, Source: a.Source, Files: a.Files, Via: submissions.ViaTrial})
		if err == nil {
			continue
		}
		if _, err := refusal(err); err != nil {
			return err
		}
		return site.Redirect(c, to+"?done=tried-some") // a limit: the rest is tried again later
	}
	return site.Redirect(c, to)
}

// mostTried bounds what is read of a trial; no task has so many solutions.
const mostTried = 200

// Trial shows the verdicts on a task's solutions before it is published.
func (p *Authoring) Trial(c *fiber.Ctx) error {
	task, b, err := p.editableBundle(c)
	if err != nil {
		return err
	}
	rows, err := p.verdicts(c.UserContext(), site.Actor(c), task, b)
	if err != nil {
		return err
	}
	page := views.TrialPage{Page: p.site.Page(c, "Try "+task.Title, "tasks"), Task: site.TaskRef(task), Hidden: task.Visibility == catalog.Hidden, Rows: rows}
	page.Live = page.Waiting() > 0
	if site.IsFragment(c) {
		c.Vary("HX-Request")
		return p.site.Render(c, fiber.StatusOK, views.TrialTable(page))
	}
	return p.site.Render(c, fiber.StatusOK, views.Trial(page))
}

// TryAgain submits all attempts once more.
func (p *Authoring) TryAgain(c *fiber.Ctx) error {
	task, b, err := p.editableBundle(c)
	if err != nil {
		return err
	}
	return p.startTrial(c, site.Actor(c), task, b)
}

// PublishTried shows a hidden task to everyone, and has the site measure what came with it to compare with.
func (p *Authoring) PublishTried(c *fiber.Ctx) error {
	task, err := p.editableTask(c)
	if err != nil {
		return err
	}
	if task.Visibility != catalog.Hidden { // it is published: an old page must not open a members' board
		return site.Redirect(c, views.TaskURL(task.Slug))
	}
	settings := task.Settings()
	settings.Visibility = catalog.Public
	_, err = p.runs.UpdateTask(c.UserContext(), site.Actor(c), task.ID, settings)
	if err != nil {
		return err
	}
	return site.Redirect(c, views.TaskURL(task.Slug)+"?done=published")
}

// verdicts judges the results of a trial of the task's current version so far.
func (p *Authoring) verdicts(ctx context.Context, viewer accounts.User, task catalog.Task, b *tasks.Bundle) ([]views.TrialRow, error) {
	list, err := p.site.Store.Submissions.Submissions(ctx, viewer, submissions.SubmissionFilter{VersionID: task.VersionID, Via: submissions.ViaTrial, Limit: mostTried})
	if err != nil {
		return nil, err
	}
	newest, ids := map[string]work.Run{}, []int64{}
	for _, sub := range slices.Backward(list) {
		for _, run := range sub.Runs {
			newest[sub.SourceHash], ids = run, append(ids, run.ID)
		}
	}
	stages, err := p.site.Store.Work.StagesOf(ctx, ids...)
	if err != nil {
		return nil, err
	}
	var rows []views.TrialRow
	works := false
	for _, a := range attemptsAt(b) {
		run, tried := newest[db.Hash(a.Submission().Pack())]
		row := views.TrialRow{Name: a.Name, Correct: a.Correct, Made: a.made, Tried: tried, SubmissionID: run.SubmissionID, State: string(run.State)}
		if row.Ended = tried && run.State.Final(); row.Ended {
			row.Trial = trial.Ended{Correct: a.Correct, Outcome: outcomeOf(run), Stages: runs.StagesOfAttempt(run, stages[run.ID])}
			works = works || row.Trial.Works()
			row.Lacks = lacks(row.Trial.TaskFault(), b.Definition.Tests)
		}
		if run.Failure != nil {
			row.Reason = run.Failure.Reason
		}
		rows = append(rows, row)
	}
	for i := range rows {
		rows[i].Works = works
	}
	return rows, nil
}

var (
	// lackingCase is how Warpboard's harness for C++ says that a case lacks an argument, lackingCall how Python does.
	lackingCase = regexp.MustCompile(`case '(.*)' has no argument '(\w+)'`)
	lackingCall = regexp.MustCompile(`in case (\d+) .*missing 1 required \S+ argument: '(\w+)'`)
)

// lacks says which argument a case does not have, if a stage failed for that.
func lacks(failed *job.StageResult, cases []tasks.Case) string {
	if failed == nil {
		return ""
	}
	if m := lackingCall.FindStringSubmatch(failed.Failure.Reason); m != nil {
		return fmt.Sprintf("case %s lacks `%s`", m[1], m[2])
	}
	m := lackingCase.FindStringSubmatch(failed.Stderr)
	if m == nil {
		return ""
	}
	if at := slices.IndexFunc(cases, func(c tasks.Case) bool { return c.String() == m[1] }); at >= 0 {
		return fmt.Sprintf("case %d lacks `%s`", at, m[2])
	}
	return fmt.Sprintf("a case lacks `%s`", m[2])
}

func outcomeOf(run work.Run) job.Outcome {
	switch {
	case run.State == work.StateDone:
		return job.OutcomeDone
	case run.State == work.StateFailed && !run.Infrastructure:
		return job.OutcomeFailed
	}
	return job.OutcomeCancelled
}
