package api

import (
	"fmt"

	"warpboard/clients/go"
	"warpboard/evaluator/job"
	"warpboard/models/boards"
	"warpboard/models/catalog"
	"warpboard/models/quota"
	"warpboard/models/work"
	"warpboard/tasks"
	"warpboard/views"
	"warpboard/web/site"
	"warpboard/web/site/runs"
)

func taskAnswer(
	task catalog.Task, version catalog.TaskVersion, bundle *tasks.Bundle, spent []quota.LimitUse,
) client.Task {
	d := version.Definition
	answer := client.Task{
		TaskSummary: client.TaskSummary{Slug: task.Slug, Title: task.Title,
			Lang: d.Lang, Tags: d.Tags, Problem: d.ProblemGroup, Devices: site.NonNilSlice(task.Devices), Deadline: task.Deadline},
		Version: version.Number, Description: d.Description, RankingBy: d.RankingBy, Tests: site.NonNilSlice(d.Tests), Benchmarks: site.NonNilSlice(d.Benchmarks),
		TimeoutsNS: map[job.Stage]int64{
			job.StageTest:      int64(d.Timeouts.Test),
			job.StageBenchmark: int64(d.Timeouts.Benchmark),
			job.StageRanked:    int64(d.Timeouts.Ranked),
		},
		Templates: map[string]client.SourceFile{}, SubmissionFiles: d.SubmissionFiles, Require: d.RequiredPackages, SanitizeFirst: d.RequiresCleanSanitizerRun,
	}
	if d.RefuseLibraryKernels {
		answer.Library = "refuse"
	}
	for label, path := range d.Templates {
		answer.Templates[label] = client.SourceFile{Name: path, Text: string(bundle.Files[path])}
	}
	for _, s := range spent {
		limit := client.TaskLimit{
			Mode:        job.Mode(s.Mode),
			Period:      string(s.Period),
			Submissions: s.MaxSubmissions,
			GPUSeconds:  s.MaxGPUSeconds,
		}
		limit.LeftSubmissions, limit.LeftGPUSeconds = s.Remaining()
		if !s.AvailableAgainAt.IsZero() {
			limit.FreeAt = &s.AvailableAgainAt
		}
		answer.Limits = append(answer.Limits, limit)
	}
	return answer
}

func boardAnswer(task catalog.Task, version catalog.TaskVersion, board boards.BoardPart, page int) client.Board {
	answer := client.Board{Task: task.Slug, Version: version.Number, Device: board.Device,
		Change: board.ChangeNumber, Epoch: board.Software.String(), Total: int(board.PeopleCount), Page: page, Entries: []client.Entry{}}
	for _, st := range board.Standings {
		answer.Entries = append(answer.Entries, client.Entry{
			Rank: st.Rank, Tied: st.Tied, OlderSoftware: st.HasOlderEpoch(board.Board), AwaitsConfirmation: st.RunID == board.RunBeingConfirmed, User: client.User{ID: st.UserID, Name: st.UserName}, SubmissionID: st.SubmissionID,
			ScoreNS: st.ScoreNS, StdNS: st.DeviationNS, ErrNS: st.StandardErrorNS, Interval: intervalAnswer(st.Interval), Numerics: client.Numerics(st.NumericalErrors), MemoryPeak: st.PeakMemoryBytes, PooledRuns: st.PooledRunCount, DisturbanceReason: st.DisturbedReason, ContradictedByProfile: st.ContradictedByProfile, RooflineShare: st.RooflineShare, Clock: st.ClockName, AchievedAt: st.AchievedAt,
			Validation: validationAnswer(st.ValidationResult),
		})
	}
	return answer
}

func validationAnswer(v boards.ValidationResult) *client.Validation {
	if v.AskedAt == nil {
		return nil
	}
	return &client.Validation{
		Answer:        v.Answer,
		Message:       v.Message,
		ScriptVersion: v.ScriptVersion,
		AskedAt:       *v.AskedAt,
		AskedBy:       v.RequesterName,
	}
}

func intervalAnswer(i boards.Interval) client.Interval {
	return client.Interval{IntervalLow: i.LowNS, IntervalHigh: i.HighNS, Processes: i.Processes, Noisy: i.Noisy}
}

// runAnswer converts a run without its stages.
func runAnswer(run work.Run) client.Run {
	answer := client.Run{
		ID: run.ID, Device: run.Device, State: string(run.State), Attempts: run.AttemptCount,
		QueuedAt: run.QueuedAt, StartedAt: run.StartedAt, EndedAt: run.EndedAt,
		ScoreNS: run.ScoreNS, StdNS: run.DeviationNS, ErrNS: run.StandardErrorNS, Interval: intervalAnswer(run.Interval), Numerics: client.Numerics(run.NumericalErrors), MemoryPeak: run.PeakMemoryBytes, PooledRuns: run.PooledRunCount, DisturbanceReason: run.DisturbedReason, ContradictedByProfile: run.ContradictedByProfile, Clock: run.ClockName,
		DisqualifiedAt: run.DisqualifiedAt, DisqualifiedReason: run.DisqualifiedReason, HoldReason: run.HeldReason,
		Failure: run.Failure, Harness: run.Harness, Machine: run.Machine, Stages: []job.StageResult{},
	}
	if run.RepresentativeRunID != nil {
		answer.PoolRepresentativeRun = *run.RepresentativeRunID
	}
	return answer
}

// fullRunAnswer converts a run with its stages, its position in the queue, the address of its profile (if it has one),
// and the kernels that the profile recorded.
func (a *API) fullRunAnswer(run runs.RunView) client.Run {
	answer := runAnswer(run.Run)
	answer.Stages, answer.QueuePosition, answer.ExpectedWaitSeconds = site.NonNilSlice(run.Stages), run.QueuePosition, int64(run.ExpectedWait)
	answer.WaitsFor = run.MissingWorkerText
	answer.Outcome, answer.Validation = (*client.Outcome)(run.Outcome), validationAnswer(run.ValidationResult)
	if p := run.Profile; run.Run.State.IsFinal() && p.Run.ID != 0 && p.NoProfileReason == "" {
		answer.Profile = a.site.Settings.BaseURL + string(views.ProfileURL(run.Run.SubmissionID, run.Run.ID))
		answer.Kernels = job.MergeKernels(p.Cases)
		if run.Version.Definition.RefuseLibraryKernels {
			answer.Libraries = job.LibrariesText(answer.Kernels)
		}
	}
	return answer
}

func eventAnswer(e work.RunEvent) client.Event {
	return client.Event{
		ID: e.ID, RunID: e.RunID, Device: e.Device, Type: string(e.Type), State: string(e.State), Time: e.CreatedAt,
		Detail: e.Event, Failure: e.Failure, ScoreNS: e.ScoreNS,
	}
}

// submissionAnswer converts a submission with its runs.
func (a *API) submissionAnswer(r runs.SubmissionView) client.Submission {
	answer := client.Submission{
		ID: r.Submission.ID, URL: fmt.Sprintf("%s/submissions/%d", a.site.Settings.BaseURL, r.Submission.ID),
		Task: r.Task.Slug, Version: r.Version.Number, Mode: r.Submission.Mode, FileName: r.Submission.FileName,
		User: client.User{ID: r.Owner.ID, Name: r.Owner.Name}, CreatedAt: r.Submission.CreatedAt, AddedReason: r.Submission.AdminAddedReason,
		ProfileFilter: r.ProfileFilter(), Runs: []client.Run{}, Ended: r.HasEnded,
	}
	if !r.MaySeeSource {
		answer.FileName = r.Version.Definition.SubmissionName() // the author's file name may reveal the content
	}
	for _, run := range r.Runs {
		answer.Runs = append(answer.Runs, a.fullRunAnswer(run))
	}
	return answer
}
