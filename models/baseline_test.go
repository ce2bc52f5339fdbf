package models_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/boards"
	"warpboard/models/catalog"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

func TestTheSiteRunsBaselinesOnceAndLast(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := newWorld(t, s), t.Context()
		if n := modelstest.Got[int](t)(s.StartBaselines(ctx, w.Task.ID)); n != 0 {
			t.Errorf("%d baselines of a task without any", n)
		}
		bundle := modelstest.Bundle("add")
		bundle.Definition.Baselines = map[string]string{"naive": "slow.cpp", "library": "fast.cpp"}
		bundle.Files["slow.cpp"], bundle.Files["fast.cpp"] = []byte("slow"), []byte("fast")
		version, change, err := s.Catalog.Publish(ctx, w.Admin, w.Task.ID, bundle, nil)
		if err != nil || change != catalog.ChangeTexts {
			t.Fatalf("new baselines change %s: %v", change, err)
		}
		if n := modelstest.Got[int](t)(s.StartBaselines(ctx, w.Task.ID)); n != 0 {
			t.Errorf("%d runs wait for devices that no worker has had", n)
		}
		for _, device := range w.Task.Devices { // the first worker with a device starts the baselines of that device
			slot := job.Slot{Device: device, Machine: job.Machine{Driver: "570"}}
			modelstest.Check(t, modelstest.Third(s.RecordSlots(ctx, job.Heartbeat{
				Worker:          "w1",
				WorkerStartedAt: time.Now(),
				Slots:           []job.Slot{slot},
			})))
		}
		if n := len(modelstest.Got[[]work.QueuedWork](t)(s.Work.WaitingQueue(ctx))); n != 2*len(w.Task.Devices) {
			t.Errorf("%d runs wait, want %d", n, 2*len(w.Task.Devices))
		}
		if n := modelstest.Got[int](t)(s.StartBaselines(ctx, w.Task.ID)); n != 0 {
			t.Errorf("%d runs are queued once more", n)
		}
		anns := w.Submit(t, s, w.Ann)
		next := modelstest.Got[[]work.QueuedWork](t)(s.Work.NextWork(ctx, "CPU", 3, anns.QueuedAt))
		if len(next) != 3 || next[0].RunID != anns.ID || next[1].Priority != work.PriorityBaseline {
			t.Fatalf("the queue is %+v", next)
		}
		before := modelstest.Got[int64](t)(s.Boards.ChangeNumber(ctx, version.ID, "CPU"))
		for i, q := range next[1:] {
			out := modelstest.Finish(t, s, modelstest.Got[work.Run](t)(s.Work.Run(ctx, q.RunID)), float64(200-100*i))
			if out.ChangedBoard == nil || out.ChangedBoard.ChangeNumber != before+int64(i)+1 {
				t.Errorf("the board is told %+v", out.ChangedBoard)
			}
		}
		var measured []string
		for _, b := range modelstest.Got[[]boards.MeasuredBaseline](t)(s.Boards.Baselines(ctx, []int64{version.ID}, "CPU")) {
			measured = append(measured, fmt.Sprintf("%s %g", b.Name, b.ScoreNS))
		}
		// fastest first, although the baselines were queued by name
		if diff := cmp.Diff([]string{"naive 100", "library 200"}, measured); diff != "" {
			t.Errorf("baselines:\n%s", diff)
		}
		if places := w.Standings(t, s, 0, 10); len(places) != 0 {
			t.Errorf("baselines stand on the board: %v", places)
		}
		testDisturbedBaseline(t, s, w.Task)
		bundle.Files["fast.cpp"] = []byte("faster")
		if _, _, err := s.Catalog.Publish(ctx, w.Admin, w.Task.ID, bundle, nil); err != nil {
			t.Fatal(err)
		}
		if n := modelstest.Got[int](t)(s.StartBaselines(ctx, w.Task.ID)); n != len(w.Task.Devices) {
			t.Errorf("a changed baseline queues %d runs", n)
		}
		waiting := len(modelstest.Got[[]work.QueuedWork](t)(s.Work.WaitingQueue(ctx)))
		for range 2 { // new software: the baseline measured with the older software runs again, but only once
			slot := job.Slot{Device: "CPU", Machine: job.Machine{Driver: "580"}}
			modelstest.Check(t, modelstest.Third(s.RecordSlots(ctx, job.Heartbeat{
				Worker:          "w1",
				WorkerStartedAt: time.Now(),
				Slots:           []job.Slot{slot},
			})))
			if n := len(modelstest.Got[[]work.QueuedWork](t)(s.Work.WaitingQueue(ctx))) - waiting; n != 1 {
				t.Errorf("new software queues %d baselines, want the one that was measured before", n)
			}
		}
		if list := modelstest.Got[[]boards.MeasuredBaseline](t)(s.Boards.Baselines(ctx, []int64{version.ID}, "CPU")); len(list) != 0 {
			t.Errorf("beside newer scores stand %+v", list)
		}
	})
}

// testDisturbedBaseline checks that the baseline naive is not shown after a disturbed run, and runs again.
func testDisturbedBaseline(t *testing.T, s *models.Store, task catalog.Task) {
	t.Helper()
	ctx := t.Context()
	shown := func() (names []string) {
		for _, b := range modelstest.Got[[]boards.MeasuredBaseline](t)(s.Boards.Baselines(ctx, []int64{task.VersionID}, "CPU")) {
			names = append(names, b.Name)
		}
		return names
	}
	const naive = "select run_id from baselines where name = 'naive' and device = 'CPU'"
	_, err := s.SQL().ExecContext(ctx, "update runs set disturbed = 'load average of 9.0 on 2 processors' where id = ("+naive+")")
	modelstest.Check(t, err)
	if diff := cmp.Diff([]string{"library"}, shown()); diff != "" {
		t.Errorf("beside a disturbed baseline (-want +got):\n%s", diff)
	}
	waiting := func() []work.QueuedWork {
		list := modelstest.Got[[]work.QueuedWork](t)(s.Work.NextWork(ctx, "CPU", 10, time.Now()))
		return slices.DeleteFunc(list, func(q work.QueuedWork) bool { return q.Priority != work.PriorityBaseline })
	}
	modelstest.Check(t, s.DeleteExpired(ctx, time.Now()))
	if n := len(waiting()); n != 0 {
		t.Errorf("at once, %d runs wait", n)
	}
	for range 2 {
		modelstest.Check(t, s.DeleteExpired(ctx, time.Now().Add(7*time.Hour)))
	}
	list := waiting()
	if len(list) != 1 {
		t.Fatalf("later, %d runs wait", len(list))
	}
	modelstest.Finish(t, s, modelstest.Got[work.Run](t)(s.Work.Run(ctx, list[0].RunID)), 100)
	if diff := cmp.Diff([]string{"naive", "library"}, shown()); diff != "" {
		t.Errorf("after the repetition (-want +got):\n%s", diff)
	}
}
