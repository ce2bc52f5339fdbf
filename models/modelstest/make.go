package modelstest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/submissions"
	"warpboard/models/work"
	"warpboard/tasks"
)

// Person creates a person with a role.
func Person(t testing.TB, s *models.Store, name string, role accounts.Role) accounts.User {
	t.Helper()
	u, err := s.Accounts.SignIn(t.Context(),
		accounts.ProviderSignIn{Provider: "test", Subject: name, Name: name, IsAdmin: role == accounts.RoleAdmin})
	if err == nil && role == accounts.RoleCreator {
		boss := accounts.User{ID: -1, Name: "test", Role: accounts.RoleAdmin}
		if err = s.Accounts.SetRole(t.Context(), boss, u.ID, role); err == nil {
			u, err = s.Accounts.User(t.Context(), u.ID)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// RecordHeartbeat stores a heartbeat that keeps its worker live for the whole test instead of fleet.WorkerTimeout.
func RecordHeartbeat(t testing.TB, s *models.Store, beat job.Heartbeat) {
	t.Helper()
	err := s.Fleet.SaveHeartbeat(t.Context(), beat)
	if err == nil {
		later := time.Now().Add(time.Hour).UTC().Format("2006-01-02 15:04:05+00:00")
		_, err = s.SQL().ExecContext(t.Context(), "update workers set seen_at = $1 where name = $2", later, beat.Worker)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Bundle returns a small C++ task.
func Bundle(name string) *tasks.Bundle {
	return &tasks.Bundle{
		Name: name,
		Definition: tasks.Definition{
			Protocol: tasks.ProtocolEval, Lang: tasks.LangCPP, Title: strings.ToUpper(name[:1]) + name[1:],
			Description: "Add *two* vectors.",
			Files: []tasks.File{
				{Name: "submission.cpp", Source: tasks.SubmissionSource}, {Name: "task.h", Source: "task.h"},
				{Name: "reference.h", Source: "reference.h"},
			},
			Config:     tasks.BuildConfig{Sources: []string{"submission.cpp"}},
			Tests:      []tasks.Case{{{Name: "size", Value: "8"}, {Name: "seed", Value: "1"}}},
			Benchmarks: []tasks.Case{{{Name: "size", Value: "1024"}, {Name: "seed", Value: "2"}}},
			Timeouts:   tasks.Timeouts{Test: time.Minute, Benchmark: time.Minute, Ranked: time.Minute},
			RankingBy:  tasks.RankLastCase,
		},
		Files: map[string][]byte{"task.h": []byte("#pragma once\n"), "reference.h": []byte("// reference\n")},
	}
}

// Task creates a public task from Bundle for some devices.
func Task(t testing.TB, s *models.Store, owner accounts.User, name string, devices ...string) catalog.Task {
	t.Helper()
	task, err := s.Catalog.CreateTask(t.Context(), owner, catalog.NewTask{
		TaskSettings: catalog.TaskSettings{Devices: devices}, Bundle: Bundle(name),
	})
	if err != nil {
		t.Fatal(err)
	}
	return task
}

// Close sets the deadline of a task to a minute ago.
func Close(t testing.TB, s *models.Store, owner accounts.User, task catalog.Task) catalog.Task {
	t.Helper()
	in, past := task.Settings(), time.Now().Add(-time.Minute)
	in.Deadline = &past
	task, err := s.Catalog.UpdateTask(t.Context(), owner, task.ID, in)
	if err != nil {
		t.Fatal(err)
	}
	return task
}

// Validated returns a closed task with a validation script and one entry of each person on the CPU.
func Validated(t testing.TB, s *models.Store, owner accounts.User, people ...accounts.User) catalog.Task {
	t.Helper()
	b := Bundle("tried")
	b.Definition.Lang, b.Definition.Validation = tasks.LangPython, &tasks.ValidationScript{Version: "v1",
		Script: "use.py"}
	b.Files["use.py"] = []byte("print('applies')\n")
	task, err := s.Catalog.CreateTask(t.Context(), owner,
		catalog.NewTask{TaskSettings: catalog.TaskSettings{Devices: []string{"CPU"}}, Bundle: b})
	if err != nil {
		t.Fatal(err)
	}
	for i, person := range people {
		Finish(t, s, Submit(t, s, person, task)[0], 1e4*float64(i+1))
	}
	return Close(t, s, owner, task)
}

// Submit creates a ranked submission of a new source for all devices of a task, and returns its runs.
func Submit(t testing.TB, s *models.Store, user accounts.User, task catalog.Task) []work.Run {
	t.Helper()
	return SubmitSource(t, s, user, task, fmt.Sprintf("int main%d;", rand.Uint64()))
}

// SubmitSource creates a ranked submission of a given source for all devices of a task, and returns its runs.
func SubmitSource(t testing.TB, s *models.Store, user accounts.User, task catalog.Task, source string) []work.Run {
	t.Helper()
	_, runs, err := s.Submissions.Submit(t.Context(), submissions.NewSubmission{
		User: user, TaskID: task.ID, Devices: task.Devices, Mode: job.ModeRanked, Source: []byte(source), Via: "test",
	})
	if err != nil {
		t.Fatal(err)
	}
	return runs
}

// Finish ends a queued run with a score, as a worker and the dispatcher do.
func Finish(t testing.TB, s *models.Store, run work.Run, scoreNS float64) work.Effect {
	t.Helper()
	attempt, err := s.Work.StartAttempt(t.Context(), run.WorkRef())
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.Work.RecordResult(t.Context(), Result(attempt, scoreNS),
		work.ResultFindings{Score: &work.Score{NS: scoreNS, DeviationNS: scoreNS / 50, StandardErrorNS: scoreNS / 500}})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Judge sets the clocks of a result's timed cases: wall is the judge's clock, event the runner's. Results of a harness
// with one process have none.
func Judge(r job.Result, event, wallTime float64) job.Result {
	for i, stage := range r.Stages {
		if stage.Stage != job.StageBenchmark && stage.Stage != job.StageRanked {
			continue
		}
		r.Stages[i].Cases = slices.Clone(stage.Cases)
		for k := range r.Stages[i].Cases {
			c := &r.Stages[i].Cases[k]
			c.ClockTimes = job.ClockTimes{CountedClock: job.ClockEvent, EventTime: event, WallTime: wallTime, SnapshotTime: wallTime, WallTolerance: 10_000,
				EmptyCallTime: 154_000}
			if wallTime-10_000 > event {
				c.ClockTimes.CountedClock = job.ClockWall
			}
			c.Median = c.Mean
		}
	}
	return r
}

// Result returns the result of an attempt whose stages all passed.
func Result(attempt work.Attempt, scoreNS float64) job.Result {
	cases := []job.CaseResult{{SpecLine: "size: 1024; seed: 2", Status: job.StatusPass, Runs: 100, Mean: scoreNS,
		StandardDeviation: scoreNS / 50, StandardError: scoreNS / 500}}
	at := time.Now().UTC()
	stage := func(name job.Stage, cases []job.CaseResult) job.StageResult {
		return job.StageResult{Stage: name, Status: job.StatusPass, StartedAt: at, EndedAt: at, Cases: cases}
	}
	return job.Result{
		RunID: attempt.RunID, AttemptID: attempt.ID, AttemptSecret: attempt.Secret, Outcome: job.OutcomePassed,
		Stages: []job.StageResult{
			stage(job.StageBuild, nil), stage(job.StageTest,
				[]job.CaseResult{{SpecLine: "size: 8; seed: 1", Status: job.StatusPass}}),
			stage(job.StageBenchmark, cases), stage(job.StageRanked, cases),
		},
		ScoreNS: &scoreNS, HarnessName: "warpboard/cpp",
		Machine: job.Machine{Worker: "w1", Device: "CPU", SandboxName: "bubblewrap"},
		WallNS:  2e9, ProgramNS: 1e9,
	}
}

// Evaluated returns the result of an attempt at an evaluation, with the given report.
func Evaluated(attempt work.Attempt, report string) job.Result {
	return job.Result{
		EvaluationID: attempt.EvaluationID, AttemptID: attempt.ID, AttemptSecret: attempt.Secret, Outcome: job.OutcomePassed,
		Evaluation: json.RawMessage(report), Machine: job.Machine{Worker: "w1"},
	}
}

// Completed returns the findings of package scores for a completed evaluation.
func Completed(samples ...work.CounterSample) work.ResultFindings {
	return work.ResultFindings{Evaluation: work.EvaluationCompleted, CounterSamples: samples}
}

// EventMaker creates the events of one attempt.
type EventMaker struct {
	Attempt work.Attempt
	seq     int
}

// Event returns the next event, as worker w1 sends it.
func (t *EventMaker) Event(e job.Event) job.Event {
	t.seq++
	e.RunID, e.AttemptID, e.AttemptSecret, e.Number = t.Attempt.RunID, t.Attempt.ID, t.Attempt.Secret, t.seq
	e.Time, e.Worker = time.Now().UTC(), "w1"
	return e
}

// ProfileRun returns the run that profiled a run.
func ProfileRun(t testing.TB, s *models.Store, run work.Run) work.Run {
	t.Helper()
	of := Got[map[int64]work.Run](t)(s.Work.ProfileRuns(t.Context(), run))
	if of[run.ID].ID == 0 {
		t.Fatalf("run %d was not profiled", run.ID)
	}
	return of[run.ID]
}

// TaskSummaries returns the tasks that a viewer sees, with the leading entries of their boards.
func TaskSummaries(t testing.TB, s *models.Store, viewer accounts.User) []models.TaskSummary {
	t.Helper()
	list := Got[[]models.TaskSummary](t)(s.TaskList(t.Context(), viewer))
	Check(t, s.AddBoardSummaries(t.Context(), viewer, list))
	return list
}
