package popcorn

import (
	"fmt"
	"strconv"

	"warpboard/evaluator/job"
	"warpboard/models/submissions"
	"warpboard/models/work"
)

// attemptStages has the stages of one attempt. If the build failed, it has no other stage.
type attemptStages []job.StageResult

// stageName returns KernelBot's name of a stage.
func stageName(stage job.Stage) string {
	if stage == job.StageRanked || stage == job.StageSecret {
		return "leaderboard"
	}
	return string(stage)
}

// firstStage returns the stage that KernelBot reports for a failed build in a mode.
func firstStage(mode job.Mode) job.Stage {
	switch work.WorkerMode(mode) {
	case job.ModeBenchmark:
		return job.StageBenchmark
	case job.ModeProfile:
		return job.StageProfile
	case job.ModeSanitize:
		return job.StageSanitize
	}
	return job.StageTest
}

// buildStage returns the build stage; nil if there is none.
func (s attemptStages) buildStage() *job.StageResult {
	for i := range s {
		if s[i].Stage == job.StageBuild {
			return &s[i]
		}
	}
	return nil
}

// ranStages returns the stages in which the program ran. If the build failed, it returns the build in place of the
// mode's first stage.
func (s attemptStages) ranStages(mode job.Mode) (ranStages []job.StageResult) {
	for _, r := range s {
		if r.Stage != job.StageBuild {
			ranStages = append(ranStages, r)
		}
	}
	if b := s.buildStage(); b != nil && b.Status != job.StatusPass && len(ranStages) == 0 {
		failed := *b
		failed.Stage = firstStage(mode)
		ranStages = append(ranStages, failed)
	}
	return ranStages
}

// stageRows converts a run to KernelBot's format: one row for each stage.
func (e runWithResults) stageRows() (list []leaderboardRow) {
	for _, r := range e.stages.ranStages(e.Mode) {
		one := leaderboardRow{StartTime: r.StartedAt, EndTime: r.EndedAt, Mode: stageName(r.Stage), Secret: r.Stage == job.StageSecret,
			Runner: e.Device, Passed: r.Status == job.StatusPass, Result: stageLines(r)}
		if r.Stage == job.StageRanked {
			one.Score = optionalSeconds(e.ScoreNS)
		}
		list = append(list, one)
	}
	return list
}

// stageLines converts the result of a stage to the key-value lines of KernelBot's result pipe. Times are in
// nanoseconds.
func stageLines(r job.StageResult) map[string]string {
	lines := map[string]string{"check": verdictText(r.Status == job.StatusPass)}
	kind := "benchmark"
	if r.Stage == job.StageTest || r.Stage == job.StageSanitize {
		kind = "test"
	}
	if r.Stage == job.StageSecret {
		return lines
	}
	lines[kind+"-count"] = strconv.Itoa(len(r.Cases))
	for i, c := range r.Cases {
		addCase(lines, fmt.Sprintf("%s.%d.", kind, i), c)
	}
	if r.Failure != nil {
		lines["error"] = r.Failure.Reason
	}
	return lines
}

func verdictText(passed bool) string {
	if passed {
		return "pass"
	}
	return "fail"
}

func addCase(lines map[string]string, key string, c job.CaseResult) {
	passed := c.Status == job.StatusPass
	lines[key+"spec"], lines[key+"status"] = c.SpecLine, verdictText(passed)
	switch {
	case c.Message != "" && passed:
		lines[key+"message"] = c.Message
	case !passed:
		lines[key+"error"] = c.Message
	}
	if c.Runs == 0 {
		return
	}
	lines[key+"runs"] = strconv.Itoa(c.Runs)
	for name, ns := range map[string]float64{"mean": c.Mean, "std": c.StandardDeviation, "err": c.StandardError, "best": c.Best, "worst": c.Worst} {
		lines[key+name] = strconv.FormatFloat(ns, 'f', -1, 64)
	}
}

// jobStatusOf returns the state of a submission, and the reason if it did not succeed. For a failed job popcorn-cli
// prints only this reason.
func (p *Popcorn) jobStatusOf(sub submissions.Submission, list []work.Run) jobStatus {
	state := jobStatus{Status: "succeeded"}
	if !haveAllEnded(list) {
		state.Status = "pending"
		for _, run := range list {
			if run.State != work.StateQueued {
				state.Status = "running"
			}
		}
		return state
	}
	for _, run := range list {
		if word, why := failureStatus(run); word != "" {
			why = fmt.Sprintf("%s %s", withoutControls(why), p.submissionURL(sub))
			return jobStatus{word, &why}
		}
	}
	return state
}

// failureStatus returns the status word and the reason of a failed run; both are empty for a run that passed.
func failureStatus(run work.Run) (word, why string) {
	switch {
	case run.DisqualifiedAt != nil:
		return "hacked", "The run was disqualified: " + run.DisqualifiedReason
	case run.State == work.StateCancelled:
		return "failed", "The run was cancelled."
	case run.State != work.StateFailed:
		return "", ""
	case run.Failure == nil:
		return "failed", "The run failed."
	case run.Failure.Limit == "wall" && !run.Failure.IsInfrastructureError:
		return "timed_out", run.Failure.Reason
	}
	return "failed", run.Failure.Reason
}

// submissionURL returns the URL of a submission's page.
func (p *Popcorn) submissionURL(sub submissions.Submission) string {
	return fmt.Sprintf("%s/submissions/%d", p.site.Settings.BaseURL, sub.ID)
}
