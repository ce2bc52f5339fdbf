package runs

import (
	"slices"
	"strings"
	"time"

	"warpboard/evaluator/harness"
	"warpboard/evaluator/job"
	"warpboard/models/boards"
	"warpboard/models/scores"
	"warpboard/models/work"
	"warpboard/tasks"
	"warpboard/views"
	"warpboard/views/charts"
)

// addStageClock adds the elapsed time, the time limit, and the running case to a card's running stage. The worker sets
// the limit of a build.
func (s *Runs) addStageClock(def tasks.Definition, card *views.RunCard) {
	limits := map[job.Stage]time.Duration{
		job.StageTest: def.Timeouts.Test, job.StageBenchmark: def.Timeouts.Benchmark, job.StageRanked: def.Timeouts.Ranked,
	}
	cases := casesByStage(def)
	for i, stage := range card.Stages {
		if !stage.IsRunning {
			continue
		}
		card.Stages[i].Elapsed, card.Stages[i].TimeLimit = max(s.site.Now().Sub(stage.Result.StartedAt), 0), limits[stage.Result.Stage]
		if stage.Result.Stage == job.StageRanked && !card.MeasuredByTaskProgram {
			card.Stages[i].MinProcesses = harness.MinProcesses
		}
		if next := len(stage.Result.Cases); next < len(cases[stage.Result.Stage]) && stage.TotalCases > 0 {
			card.Stages[i].CurrentCase = cases[stage.Result.Stage][next].String()
		}
	}
}

// casesByStage returns the cases of a task by stage.
func casesByStage(def tasks.Definition) map[job.Stage][]tasks.Case {
	return map[job.Stage][]tasks.Case{job.StageTest: def.Tests, job.StageBenchmark: def.Benchmarks, job.StageRanked: def.Benchmarks}
}

// StagesOfAttempt returns those stages that belong to the run's current or last attempt.
func StagesOfAttempt(run work.Run, stages []work.Stage) []job.StageResult {
	if len(stages) == 0 {
		return nil
	}
	attempt := run.AttemptID
	if attempt == "" && run.State.IsFinal() {
		attempt = stages[len(stages)-1].AttemptID
	}
	var results []job.StageResult
	for _, stage := range stages {
		if stage.AttemptID == attempt {
			results = append(results, stage.Result)
		}
	}
	return results
}

// plannedStages lists the stages that a run in a mode will have. Python has no build stage. With Warpboard's harness a
// ranked run has no benchmark stage.
func plannedStages(mode job.Mode, def tasks.Definition) []job.Stage {
	stages := map[job.Mode][]job.Stage{
		job.ModeTest:      {job.StageBuild, job.StageTest},
		job.ModeBenchmark: {job.StageBuild, job.StageBenchmark},
		job.ModeRanked:    {job.StageBuild, job.StageTest, job.StageRanked},
		job.ModeProfile:   {job.StageBuild, job.StageProfile},
		job.ModeSanitize:  {job.StageBuild, job.StageSanitize},
		job.ModeValidate:  {job.StageBuild, job.StageValidate},
	}[work.WorkerMode(mode)]
	if def.HasOwnHarness && work.WorkerMode(mode) == job.ModeRanked {
		stages = slices.Insert(stages, 2, job.StageBenchmark)
	}
	if def.Lang == tasks.LangPython && len(stages) > 0 {
		return stages[1:]
	}
	return stages
}

// mergeStages returns the ended stages, the running stage, and the planned ones that follow. A failed stage counts all
// its cases, including those that did not run.
func mergeStages(
	def tasks.Definition, mode job.Mode, ended []job.StageResult, now []views.StageView, over bool,
) []views.StageView {
	var all []views.StageView
	seen, cases, planned := map[job.Stage]bool{}, casesByStage(def), plannedStages(mode, def)
	for _, r := range ended {
		stage := views.StageView{Result: r, HasResult: true, Intervals: caseIntervals(r)}
		if r.Status != job.StatusPass {
			stage.TotalCases = len(cases[r.Stage])
		}
		all = append(all, stage)
		seen[r.Stage] = true
	}
	for _, stage := range now {
		if !seen[stage.Result.Stage] {
			all = append(all, stage)
			seen[stage.Result.Stage] = true
		}
	}
	for _, stage := range planned {
		if !seen[stage] {
			all = append(all, views.StageView{Result: job.StageResult{Stage: stage}, IsSkipped: over})
		}
	}
	return all
}

// caseIntervals returns the intervals of the case times of a stage; nil if they were not measured in several processes.
func caseIntervals(r job.StageResult) []boards.Interval {
	if len(r.Cases) == 0 || len(r.Cases[0].ProcessMedians) < 2 {
		return nil
	}
	intervals := make([]boards.Interval, len(r.Cases))
	for i, c := range r.Cases {
		intervals[i] = scores.CaseInterval(c)
	}
	return intervals
}

// TimelineOf returns the timeline chart of a run, and of the profile that the site added to it.
func TimelineOf(run work.Run, left StagesAndProfile) (vm charts.TimelineView) {
	vm.Spans = timeSpans(run, left.Stages, "")
	if p := left.Profile; p.Run.ID != 0 && p.Run.ID != run.ID {
		vm.Spans = append(vm.Spans, timeSpans(p.Run, p.Stages, "for the profile")...)
	}
	return vm
}

// timeSpans returns the time spans of a run: its wait, and the stages of its last attempt.
func timeSpans(run work.Run, stages []job.StageResult, note string) []charts.TimeSpan {
	if run.StartedAt == nil {
		return nil
	}
	spans := []charts.TimeSpan{{Name: "Queued", Start: run.QueuedAt, End: *run.StartedAt, Note: note}}
	for _, r := range stages {
		stage := views.StageView{Result: r}
		span := charts.TimeSpan{
			Name:   stage.Name(),
			Start:  r.StartedAt,
			End:    r.EndedAt,
			Status: string(r.Status),
			Note:   note,
		}
		if r.Status != job.StatusPass {
			span.EndingText = stage.EndingText()
		}
		if r.FromCache {
			span.Note = strings.TrimSuffix("from the cache, "+note, ", ")
		}
		spans = append(spans, span)
	}
	return spans
}

// StageOfScore returns the stage whose times a run's score is based on: the ranked stage, or else the benchmark.
func StageOfScore(stages []job.StageResult) job.StageResult {
	var found job.StageResult
	for _, r := range stages {
		if r.Stage == job.StageRanked || r.Stage == job.StageBenchmark {
			found = r
		}
	}
	return found
}
