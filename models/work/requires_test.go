package work_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/evaluator/kernelrun"
	"warpboard/internal/requirement"
	"warpboard/models"
	"warpboard/models/catalog"
	"warpboard/models/fleet"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

// packed sends a heartbeat of a worker with one CPU slot and these packages.
func packed(t *testing.T, s *models.Store, name string, packages requirement.Packages) {
	t.Helper()
	modelstest.RecordHeartbeat(t, s, job.Heartbeat{Worker: name, WorkerStartedAt: time.Now(), Packages: packages,
		Slots: []job.Slot{{Device: "CPU", CanProfile: true}}})
}

// demanding returns a run that waits for a task that requires packages.
func demanding(t *testing.T, s *models.Store, w modelstest.World, require ...string) work.Run {
	t.Helper()
	b := modelstest.Bundle("demanding")
	b.Definition.RequiredPackages = require
	task, err := s.Catalog.CreateTask(t.Context(), w.Admin, catalog.NewTask{
		TaskSettings: catalog.TaskSettings{Devices: []string{"CPU"}},
		Bundle:       b,
	})
	modelstest.Check(t, err)
	return modelstest.Submit(t, s, w.Ann, task)[0]
}

// TestWorkGoesOnlyToAWorkerWithItsPackages checks that work without a suitable worker does not delay other work, even
// if more such work waits than StartNextAttempt reads at once.
func TestWorkGoesOnlyToAWorkerWithItsPackages(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w := modelstest.NewWorld(t, s)
		run := demanding(t, s, w, "nvidia-cutlass-dsl>=4")
		for i := range 20 {
			_, err := s.Work.SubmitEvaluation(t.Context(), work.NewEvaluation{User: w.Ann, Caller: string(rune('a' + i)), Device: "CPU",
				Kind: string(kernelrun.KindEvaluate), Request: []byte("{}"), Requires: "nvidia-cutlass-dsl>=4 torch",
				Limits: work.EvaluationLimits{MaxLive: 100, MaxPerHour: 1000}})
			modelstest.Check(t, err)
		}
		packed(t, s, "old", requirement.Packages{"nvidia-cutlass-dsl": "3.9", "torch": "2.9"})
		if a := next(t, s, job.WorkRequest{Worker: "old", Device: "CPU"}); a != nil {
			t.Fatalf("a worker without the package gets %+v", a)
		}
		if ready := modelstest.Got[[]work.ReadyDevice](t)(s.Work.ReadyDevices(t.Context(), time.Now())); len(ready) != 0 {
			t.Errorf("others would give way to work that cannot begin: %+v", ready)
		}
		want := "a worker that has nvidia-cutlass-dsl>=4; CPU's workers have nvidia-cutlass-dsl 3.9"
		if got := modelstest.Got[string](t)(s.Fleet.MissingWorkerText(t.Context(), "CPU", run.Requires, time.Now())); got != want {
			t.Errorf("it waits for %q", got)
		}
		plain := w.Submit(t, s, w.Ann)
		if a := next(t, s, job.WorkRequest{Worker: "old", Device: "CPU"}); a == nil || a.RunID != plain.ID {
			t.Errorf("a run that requires nothing waits: %+v", a)
		}
		packed(t, s, "new", requirement.Packages{"nvidia-cutlass-dsl": "4.1.0"})
		if ready := modelstest.Got[[]work.ReadyDevice](t)(s.Work.ReadyDevices(t.Context(), time.Now())); len(ready) != 1 || ready[0].PeoplesWorkCount != 1 {
			t.Errorf("ready: %+v", ready)
		}
		if a := next(t, s, job.WorkRequest{Worker: "new", Device: "CPU"}); a == nil || a.RunID != run.ID {
			t.Errorf("a worker with the package gets %+v", a)
		}
	})
}

// TestARerunAndAProfileRequireWhatTheRunDid checks that runs which follow a run require the same packages.
func TestARerunAndAProfileRequireWhatTheRunDid(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w := modelstest.NewWorld(t, s)
		run := demanding(t, s, w, "triton>=3.2")
		packed(t, s, "w1", nil)
		modelstest.Finish(t, s, run, 100)
		if profile := modelstest.ProfileRun(t, s, run); profile.Requires != "triton>=3.2" {
			t.Errorf("the profile requires %q", profile.Requires)
		}
	})
}

// TestPackagesStayUntilAHeartbeatHasOthers checks that a heartbeat without packages keeps the earlier ones, because a
// worker sends them only once.
func TestPackagesStayUntilAHeartbeatHasOthers(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		now := func(ctx context.Context) requirement.Packages {
			list := modelstest.Got[[]fleet.Worker](t)(s.Fleet.Workers(ctx))
			return list[0].Packages
		}
		for _, version := range []string{"2.8", "2.9"} {
			modelstest.Check(t, s.Fleet.SaveHeartbeat(t.Context(), job.Heartbeat{
				Worker:   "w1",
				Packages: requirement.Packages{"torch": version},
			}))
			if got := now(t.Context()); got["torch"] != version {
				t.Errorf("%v, want %s", got, version)
			}
		}
		modelstest.Check(t, s.Fleet.SaveHeartbeat(t.Context(), job.Heartbeat{Worker: "w1"}))
		if got := now(t.Context()); got["torch"] != "2.9" {
			t.Errorf("after a heartbeat without packages: %v", got)
		}
		modelstest.Check(t, s.Fleet.SaveHeartbeat(t.Context(), job.Heartbeat{
			Worker:   "w1",
			Packages: requirement.Packages{},
		}))
		if got := now(t.Context()); len(got) != 0 {
			t.Errorf("after the last one left: %v", got)
		}
	})
}

// TestRequirementsThatAWorkerLacksDelayNothingElse: 200 different ones.
func TestRequirementsThatAWorkerLacksDelayNothingElse(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w := modelstest.NewWorld(t, s)
		packed(t, s, "old", requirement.Packages{"numpy": "1.0"})
		for i := range 200 {
			modelstest.Got[work.Evaluation](t)(s.Work.SubmitEvaluation(t.Context(), work.NewEvaluation{
				Caller: "ann", Kind: "evaluate", Device: "CPU", Request: []byte("{}"), Requires: fmt.Sprintf("numpy>=1.5,!=0.%d", i)}))
		}
		run := w.Submit(t, s, w.Ann)
		if a := next(t, s, job.WorkRequest{Worker: "old", Device: "CPU"}); a == nil || a.RunID != run.ID {
			t.Errorf("the worker gets %+v, want run %d", a, run.ID)
		}
	})
}
