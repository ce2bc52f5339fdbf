package api

import (
	"context"
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

func taskAnswer(task catalog.Task, version catalog.TaskVersion, bundle *tasks.Bundle, spent []quota.Spent) client.Task {
	d := version.Definition
	answer := client.Task{
		TaskSummary: client.TaskSummary{Slug: task.Slug, Title: task.Title,
			Lang: d.Lang, Tags: d.Tags, Problem: d.Problem, Devices: site.Listed(task.Devices), Deadline: task.Deadline},
		Version: version.Number, Description: d.Description, RankingBy: d.RankingBy, Tests: site.Listed(d.Tests), Benchmarks: site.Listed(d.Benchmarks),
		TimeoutsNS: map[job.Stage]int64{
			job.StageTest:      int64(d.Timeouts.Test),
			job.StageBenchmark: int64(d.Timeouts.Benchmark),
			job.StageRanked:    int64(d.Timeouts.Ranked),
		},
		Templates: map[string]client.SourceFile{}, SubmissionFiles: d.SubmissionFiles, SanitizeFirst: d.SanitizeFirst,
	}
	if d.RefuseLibrary {
		answer.Library = "refuse"
	}
	for label, path := range d.Templates {
		answer.Templates[label] = client.SourceFile{Name: path, Text: string(bundle.Files[path])}
	}
	for _, s := range spent {
		limit := client.TaskLimit{Mode: job.Mode(s.Mode), Per: string(s.Per), Submissions: s.Submissions, GPUSeconds: s.GPUSeconds}
		limit.LeftSubmissions, limit.LeftGPUSeconds = s.Left()
		if !s.Free.IsZero() {
			limit.Free = &s.Free
		}
		answer.Limits = append(answer.Limits, limit)
	}
	return answer
}

func boardAnswer(task catalog.Task, version catalog.TaskVersion, board boards.Page, page int) client.Board {
	answer := client.Board{Task: task.Slug, Version: version.Number, Device: board.Device,
		Change: board.Change, Epoch: board.Epoch.String(), Total: int(board.Size), Page: page, Entries: []client.Entry{}}
	for _, st := range board.Standings {
		answer.Entries = append(answer.Entries, client.Entry{
			Rank: st.Rank, Tied: st.Tied, Older: st.Older(board.Board), Confirming: st.RunID == board.Confirming, User: client.User{ID: st.UserID, Name: st.UserName}, SubmissionID: st.SubmissionID,
			ScoreNS: st.ScoreNS, StdNS: st.StdNS, ErrNS: st.ErrNS, Interval: intervalAnswer(st.Interval), Numerics: client.Numerics(st.Numerics), MemoryPeak: st.MemoryPeak, PooledRuns: st.Pooled, Disturbed: st.Disturbed, Contradicted: st.Contradicted, Roof: st.Roof, Clock: st.Clock, Achieved: st.AchievedAt,
			Validation: validationAnswer(st.Validated),
		})
	}
	return answer
}

func validationAnswer(v boards.Validated) *client.Validation {
	if v.AskedAt == nil {
		return nil
	}
	return &client.Validation{Answer: v.Answer, Message: v.Message, ScriptVersion: v.ScriptVersion, Asked: *v.AskedAt, AskedBy: v.AskedName}
}

func intervalAnswer(i boards.Interval) client.Interval {
	return client.Interval{IntervalLow: i.LowNS, IntervalHigh: i.HighNS, Processes: i.Processes, Noisy: i.Noisy}
}

// runAnswer converts a run with the stages of its last attempt.
func runAnswer(run work.Run, stages []work.Stage, position int) client.Run {
	answer := client.Run{
		ID: run.ID, Device: run.Device, State: string(run.State), Position: position, Attempts: run.Attempts,
		Queued: run.QueuedAt, Started: run.StartedAt, Ended: run.EndedAt,
		ScoreNS: run.ScoreNS, StdNS: run.StdNS, ErrNS: run.ErrNS, Interval: intervalAnswer(run.Interval), Numerics: client.Numerics(run.Numerics), MemoryPeak: run.MemoryPeak, PooledRuns: run.Pooled, Disturbed: run.Disturbed, Contradicted: run.Contradicted, Clock: run.Clock,
		Disqualified: run.DisqualifiedAt, DisqualifiedWhy: run.DisqualifiedWhy, HeldWhy: run.HeldWhy,
		Failure: run.Failure, Harness: run.Harness, Machine: run.Machine, Stages: []job.StageResult{},
	}
	if run.OnBoard != nil {
		answer.PoolRun = *run.OnBoard
	}
	for _, stage := range stages {
		if stage.AttemptID != stages[len(stages)-1].AttemptID {
			continue
		}
		answer.Stages = append(answer.Stages, stage.Result)
	}
	return answer
}

// hide removes the parts of a run that only readers of its source may see.
func hide(answer *client.Run, hidden runs.Redactor) {
	answer.Failure = hidden.Failure(answer.Failure)
	for i := range answer.Stages {
		hidden.Stage(&answer.Stages[i])
	}
}

// addProfile adds the URL of a run's profile, if it has one, and the kernels that ran in it.
func (a *API) addProfile(ctx context.Context, seen runs.RunAccess, answer *client.Run) error {
	if !seen.Run.State.Final() {
		return nil
	}
	profile, err := a.runs.ProfileOf(ctx, seen)
	if err != nil || profile.Run.ID == 0 || profile.Missing != "" {
		return err
	}
	answer.Profile = a.site.Settings.BaseURL + string(views.ProfileURL(seen.Run.SubmissionID, seen.Run.ID))
	answer.Kernels = job.KernelsOf(profile.Cases)
	if seen.Version.Definition.RefuseLibrary {
		answer.Libraries = job.LibrariesIn(answer.Kernels)
	}
	return nil
}

func eventAnswer(e work.RunEvent) client.Event {
	return client.Event{
		ID: e.ID, RunID: e.RunID, Device: e.Device, Type: string(e.Type), State: string(e.State), Time: e.CreatedAt,
		Detail: e.Event, Failure: e.Failure, ScoreNS: e.ScoreNS,
	}
}

// submissionAnswer reads a submission with everything that its reader, whose rights are given, may see.
func (a *API) submissionAnswer(ctx context.Context, id int64, seen runs.Access) (client.Submission, error) {
	sub, err := a.site.Store.Submissions.Submission(ctx, id)
	if err != nil {
		return client.Submission{}, err
	}
	task, err := a.site.Store.Catalog.TaskByID(ctx, sub.TaskID)
	if err != nil {
		return client.Submission{}, err
	}
	version, err := a.site.Store.Catalog.Version(ctx, sub.VersionID)
	if err != nil {
		return client.Submission{}, err
	}
	user, err := a.site.Store.Accounts.User(ctx, sub.UserID)
	if err != nil {
		return client.Submission{}, err
	}
	answer := client.Submission{
		ID: sub.ID, URL: fmt.Sprintf("%s/submissions/%d", a.site.Settings.BaseURL, sub.ID),
		Task: task.Slug, Version: version.Number, Mode: sub.Mode, FileName: sub.FileName,
		User: client.User{ID: user.ID, Name: user.Name}, Created: sub.CreatedAt, AddedWhy: sub.AddedWhy,
	}
	if !seen.MaySeeSource {
		answer.FileName = version.Definition.SubmissionName() // the author's name of the file may reveal its content
	}
	seen.Sub, seen.Task, seen.Version = sub, task, version
	answer.ProfileFilter = seen.ProfileFilter()
	answer.Runs, answer.Ended, err = a.runAnswers(ctx, seen)
	return answer, err
}

// runAnswers reads a submission's runs, and reports whether all have ended.
func (a *API) runAnswers(ctx context.Context, seen runs.Access) (answers []client.Run, ended bool, err error) {
	all, err := a.site.Store.Work.Runs(ctx, seen.Sub.ID)
	if err != nil {
		return nil, false, err
	}
	places, err := a.site.Store.Work.Places(ctx, seen.Sub.ID)
	if err != nil {
		return nil, false, err
	}
	answers, ended = []client.Run{}, true
	for _, run := range all {
		stages, err := a.site.Store.Work.Stages(ctx, run.ID)
		if err != nil {
			return nil, false, err
		}
		answer := runAnswer(run, stages, places[run.ID])
		if !seen.MaySeeSource {
			hide(&answer, runs.RedactorOf(seen.Version.Definition))
		}
		if err = a.addProfile(ctx, runs.RunAccess{Access: seen, Run: run}, &answer); err != nil {
			return nil, false, err
		}
		outcome, validated, err := a.runs.Outcome(ctx, runs.RunAccess{Access: seen, Run: run})
		if err != nil {
			return nil, false, err
		}
		answer.Outcome, answer.Validation = (*client.Outcome)(outcome), validationAnswer(validated)
		if answer.Position > 0 {
			wait, err := a.runs.ExpectedWait(ctx, run.Device, answer.Position)
			if err != nil {
				return nil, false, err
			}
			answer.ExpectedWait = int64(wait)
		}
		answers = append(answers, answer)
		ended = ended && run.State.Final()
	}
	return answers, ended, nil
}
