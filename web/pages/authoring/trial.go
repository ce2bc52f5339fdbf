package authoring

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"warpboard/evaluator/job"
	"warpboard/internal/requirement"
	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/fleet"
	"warpboard/models/submissions"
	"warpboard/models/work"
	"warpboard/tasks"
	"warpboard/tasks/mutants"
	"warpboard/views"
	"warpboard/web/site"
	"warpboard/web/site/runs"
)

// trialSubmission is a submission in the trial of a task: its template, its reference, one of its solutions, or a
// mutant of a correct solution.
type trialSubmission struct {
	tasks.Solution
	isMadeBySite, isStarter bool
}

// key identifies a submission of a trial by source and mode. The trial therefore stores no IDs.
func (a trialSubmission) key(mode job.Mode) string {
	return string(mode) + " " + db.Hash(a.Submission().Pack())
}

// trialSubmissions lists the submissions of a task's trial.
func trialSubmissions(b *tasks.Bundle) (list []trialSubmission) {
	if text := runs.FirstTemplate("", b); text != "" {
		list = append(list, trialSubmission{Solution: tasks.Solution{Name: "the starter", Source: []byte(text)},
			isStarter: true})
	}
	if reference, ok := b.ReferenceSolution(); ok {
		list = append(list, trialSubmission{Solution: reference})
	}
	authors := b.Solutions()
	for _, s := range authors {
		list = append(list, trialSubmission{Solution: s})
	}
	if len(authors) == 0 || !authors[0].ShouldPass {
		return list
	}
	for _, m := range mutants.MutantsOf(b.Definition, authors[0].Source) {
		list = append(list, trialSubmission{
			Solution:     tasks.Solution{Name: m.Name, Source: m.Source, Files: authors[0].Files},
			isMadeBySite: true,
		})
	}
	return list
}

// trialRuns lists the runs of a version's trial without duplicates: a test of every submission, then benchmarks of the
// correct ones.
func trialRuns(b *tasks.Bundle, version int64) (list []submissions.NewSubmission) {
	known := map[string]bool{}
	attempts := trialSubmissions(b)
	for _, mode := range []job.Mode{job.ModeTest, job.ModeBenchmark} {
		for _, a := range attempts {
			key := a.key(mode)
			if known[key] || mode == job.ModeBenchmark && !a.runsBenchmarks(b) {
				continue
			}
			known[key] = true
			list = append(list, submissions.NewSubmission{
				VersionID:       version,
				Mode:            mode,
				Source:          a.Source,
				AdditionalFiles: a.Files,
				Via:             submissions.ViaTrial,
			})
		}
	}
	return list
}

// runsBenchmarks reports whether the trial also runs the benchmarks with a submission. Wrong solutions must fail the
// tests instead.
func (a trialSubmission) runsBenchmarks(b *tasks.Bundle) bool {
	return a.ShouldPass && len(b.Definition.Benchmarks) > 0
}

// startTrial submits all submissions of the trial to one device that a connected worker has, and redirects to the page
// with the verdicts.
func (p *Authoring) startTrial(
	c *fiber.Ctx, author accounts.User, task catalog.Task, version int64, b *tasks.Bundle,
) error {
	ctx, to := c.UserContext(), views.TaskPartURL(task.Slug, "trial")
	device, err := p.deviceWithWorker(ctx, task, b.Definition.RequiredPackages)
	if err != nil {
		return err
	}
	if device == "" {
		return site.Redirect(c, to)
	}
	for _, in := range trialRuns(b, version) {
		in.TaskSlug, in.Devices = task.Slug, []string{device}
		_, _, err := p.runs.Submit(ctx, author, in)
		if err == nil {
			continue
		}
		if _, err := authorMistakes(err); err != nil {
			return err
		}
		// for example a submission limit; the author can try the rest later
		return site.Redirect(c, to+"?done=tried-some")
	}
	return site.Redirect(c, to)
}

// deviceWithWorker returns the first device of a task that a connected worker has, preferably one with the required
// packages, or "".
func (p *Authoring) deviceWithWorker(ctx context.Context, task catalog.Task, require requirement.List) (string, error) {
	choices, err := p.runs.DeviceChoices(ctx, task.Devices, nil)
	at := slices.IndexFunc(choices, func(d views.DeviceChoice) bool { return !d.Offline })
	if err != nil || at < 0 {
		return "", err
	}
	for _, d := range choices {
		lack, err := p.site.Store.Fleet.MissingWorkerText(ctx, d.Device, require.String(), p.site.Now())
		if err != nil || lack == "" && !d.Offline {
			return d.Device, err
		}
	}
	return choices[at].Device, nil
}

// missingPackagesText returns a description of the worker that the runs of a task wait for: one with the required
// packages, which no worker of the task's devices has ("a worker that has …"). It returns "" if a worker has them.
func (p *Authoring) missingPackagesText(
	ctx context.Context, task catalog.Task, require requirement.List,
) (lack string, err error) {
	for _, device := range slices.Backward(task.Devices) {
		if lack, err = p.site.Store.Fleet.MissingWorkerText(ctx, device, require.String(), p.site.Now()); err != nil || lack == "" {
			break
		}
	}
	return lack, err
}

// untriedReason returns the sentence that the page shows before the first trial.
func (p *Authoring) untriedReason(task catalog.Task) string {
	workers, known := p.site.Store.Fleet.RecentWorkers(p.site.Now())
	slots := fleet.CountAllSlots(workers, p.site.Now())
	if known && !slices.ContainsFunc(task.Devices, func(d string) bool { return slots[d].AcceptingJobs > 0 }) {
		return "Not tried: no worker serves a device of the task right now. Try it once one is online."
	}
	return "Not tried yet. “Try it” runs all solutions."
}

// maxTrialRuns limits the runs of a trial that are read. It exceeds the number of solutions that a task may have.
const maxTrialRuns = 200

// TrialPage shows whether the solutions of a task's newest files behaved as declared.
func (p *Authoring) TrialPage(c *fiber.Ctx) error {
	task, version, b, err := p.newestBundle(c)
	if err != nil {
		return err
	}
	rows, def, err := p.solutionVerdicts(c.UserContext(), site.Actor(c), version.ID, b)
	if err != nil {
		return err
	}
	page := views.TrialPage{Page: p.site.Page(c, "Try "+task.Title, "tasks"), Task: site.TaskLink(task), IsHiddenDraft: task.CurrentVisibility() == catalog.Hidden,
		UnpublishedChanges: !version.WasPublished(), OpensAt: runs.TimeOrZero(task.OpensAt), Tests: def.Tests, Benchmarks: def.Benchmarks, Rows: rows, Deadline: p.site.DeadlineOf(task)}
	if page.MissingPackages, err = p.missingPackagesText(c.UserContext(), task, b.Definition.RequiredPackages); err != nil {
		return err
	}
	if !page.HasRuns() {
		page.UntriedReason = p.untriedReason(task)
	}
	if page.IsHiddenDraft {
		if page.DescriptionCopied, err = isStarterText(b.Definition); err != nil {
			return err
		}
	}
	page.HasStream = page.WaitingRowCount() > 0
	if site.WantsFragment(c) {
		c.Vary("HX-Request")
		return p.site.Render(c, fiber.StatusOK, views.TrialTable(page))
	}
	return p.site.Render(c, fiber.StatusOK, views.Trial(page))
}

// TryTask submits the trial of a task's newest files.
func (p *Authoring) TryTask(c *fiber.Ctx) error {
	task, version, b, err := p.newestBundle(c)
	if err != nil {
		return err
	}
	return p.startTrial(c, site.Actor(c), task, version.ID, b)
}

// PublishTriedDraft publishes a draft with the visibility of the form (by default for everyone), and queues its
// baselines.
func (p *Authoring) PublishTriedDraft(c *fiber.Ctx) error {
	task, version, b, err := p.newestBundle(c)
	if err != nil {
		return err
	}
	if task.CurrentVisibility() != catalog.Hidden { // already published, and perhaps only for members
		return site.Redirect(c, views.TaskURL(task.Slug))
	}
	settings := task.Settings()
	settings.Visibility = catalog.Visibility(cmp.Or(c.FormValue("visibility"), string(catalog.Public)))
	if version.WasPublished() {
		_, err = p.runs.UpdateTask(c.UserContext(), site.Actor(c), task.ID, settings)
	} else {
		_, _, err = p.runs.PublishTask(c.UserContext(), site.Actor(c), task.ID, b, &settings)
	}
	if err != nil {
		return err
	}
	return site.Redirect(c, views.TaskURL(task.Slug)+"?done=published-"+templ.SafeURL(settings.Visibility))
}

// solutionVerdicts returns the verdicts on a version's solutions so far, on the device of the newest run.
func (p *Authoring) solutionVerdicts(
	ctx context.Context, viewer accounts.User, version int64, b *tasks.Bundle,
) ([]views.TrialRow, tasks.Definition, error) {
	list, err := p.site.Store.Submissions.Submissions(ctx, viewer, submissions.SubmissionFilter{
		VersionID: version,
		Via:       submissions.ViaTrial,
		Limit:     maxTrialRuns,
	})
	if err != nil {
		return nil, b.Definition, err
	}
	def := b.Definition
	newest, ids := map[string]work.Run{}, []int64{}
	for _, sub := range slices.Backward(list) {
		for _, run := range sub.Runs {
			newest[string(sub.Mode)+" "+sub.SourceHash], ids = run, append(ids, run.ID)
			def = b.Definition.ForDevice(run.Device)
		}
	}
	stages, err := p.site.Store.Work.StagesOf(ctx, ids...)
	if err != nil {
		return nil, def, err
	}
	var rows []views.TrialRow
	works := false
	tried := func(a trialSubmission, mode job.Mode) views.TrialRun {
		run, ok := newest[a.key(mode)]
		if !ok {
			return views.TrialRun{}
		}
		return newTrialRun(run, stages[run.ID], a.ShouldPass)
	}
	for _, a := range trialSubmissions(b) {
		row := views.TrialRow{
			Name:              a.Name,
			IsCorrectSolution: a.ShouldPass,
			IsMadeBySite:      a.isMadeBySite,
			IsStarter:         a.isStarter,
			TrialRun:          tried(a, job.ModeTest),
		}
		faults := row.Trial.StageWithTaskFault()
		if a.runsBenchmarks(b) {
			timed := tried(a, job.ModeBenchmark)
			row.TimedRun = &timed
			faults = cmp.Or(faults, timed.Trial.StageWithTaskFault())
		}
		row.MissingArgument = missingArgument(faults, def)
		works = works || row.HasEnded && !a.isStarter && row.Trial.ShowsTaskWorks()
		rows = append(rows, row)
	}
	for i := range rows {
		rows[i].ProvesTaskWorks = works
	}
	return rows, def, nil
}

// newTrialRun describes a run of a solution and its progress.
func newTrialRun(run work.Run, stages []work.Stage, correct bool) views.TrialRun {
	out := views.TrialRun{
		WasTried:     true,
		HasEnded:     run.State.IsFinal(),
		SubmissionID: run.SubmissionID,
		State:        string(run.State),
	}
	if out.HasEnded {
		out.Trial = job.SolutionTrial{ShouldPass: correct, Outcome: runOutcome(run),
			Stages: runs.StagesOfAttempt(run, stages)}
	}
	if run.Failure != nil {
		out.Reason = run.Failure.Reason
	}
	return out
}

var (
	// missingArgumentPatternCPP matches the message of Warpboard's C++ harness about an argument that a case does not
	// have. missingArgumentPatternPy matches Python's message.
	missingArgumentPatternCPP = regexp.MustCompile(`case '(.*)' has no argument '(\w+)'`)
	missingArgumentPatternPy  = regexp.MustCompile(`in case (\d+) .*missing 1 required \S+ argument: '(\w+)'`)
)

// missingArgument returns the name of the missing argument if a stage failed because a case does not have an argument,
// or "".
func missingArgument(failed *job.StageResult, d tasks.Definition) string {
	if failed == nil {
		return ""
	}
	word, cases := "case", d.Tests
	if failed.Stage == job.StageBenchmark {
		word, cases = "benchmark", d.Benchmarks
	}
	if m := missingArgumentPatternPy.FindStringSubmatch(failed.Failure.Reason); m != nil {
		return fmt.Sprintf("%s %s lacks `%s`", word, m[1], m[2])
	}
	m := missingArgumentPatternCPP.FindStringSubmatch(failed.Stderr)
	if m == nil {
		return ""
	}
	if at := slices.IndexFunc(cases, func(c tasks.Case) bool { return c.String() == m[1] }); at >= 0 {
		return fmt.Sprintf("%s %d lacks `%s`", word, at, m[2])
	}
	return fmt.Sprintf("a %s lacks `%s`", word, m[2])
}

func runOutcome(run work.Run) job.Outcome {
	switch {
	case run.State == work.StateDone:
		return job.OutcomePassed
	case run.State == work.StateFailed && !run.InfrastructureError:
		return job.OutcomeFailed
	}
	return job.OutcomeCancelled
}
