package models_test

import (
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

// profiler stores a heartbeat of a worker that has a device, and can or cannot profile.
func profiler(t *testing.T, s *models.Store, device string, can bool) {
	t.Helper()
	modelstest.Check(t, s.Fleet.SaveHeartbeat(t.Context(),
		job.Heartbeat{Worker: "w1", Slots: []job.Slot{{Device: device, CanProfile: can}}}))
}

func TestAProfileWaitsForAllOtherRuns(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := newWorld(t, s), t.Context()
		profiler(t, s, "CPU", true)
		ranked := w.Submit(t, s, w.Ann)
		bens := w.Submit(t, s, w.Ben)
		recorded := modelstest.Finish(t, s, ranked, 100)
		if recorded.ChangedBoard == nil {
			t.Error("the board waits for the profile")
		}
		profile := modelstest.Got[work.SubmissionRuns](t)(s.Work.SubmissionRuns(ctx, ranked.SubmissionID)).Profiles[ranked.ID]
		if profile.Mode != job.ModeProfile || profile.State != work.StateQueued || profile.Device != "CPU" ||
			profile.UserID != w.Ann.ID {
			t.Fatalf("profile: %+v", profile)
		}
		if found := modelstest.ProfileRun(t, s, ranked); found.ID != profile.ID {
			t.Errorf("the profile of the run is %d", found.ID)
		}
		var notified []int64
		for _, e := range recorded.Events {
			notified = append(notified, e.RunID)
		}
		if diff := cmp.Diff([]int64{profile.ID, ranked.ID}, notified); diff != "" {
			t.Errorf("events:\n%s", diff)
		}
		if runs := modelstest.Got[[]work.Run](t)(s.Work.Runs(ctx, ranked.SubmissionID)); len(runs) != 1 ||
			runs[0].ID != ranked.ID {
			t.Errorf("runs that were asked for: %+v", runs)
		}
		anns := w.Submit(t, s, w.Ann)
		var order []int64
		for _, q := range modelstest.Got[[]work.QueuedWork](t)(s.Work.WaitingQueue(ctx)) {
			order = append(order, q.RunID)
		}
		if diff := cmp.Diff([]int64{bens.ID, anns.ID, profile.ID}, order); diff != "" {
			t.Errorf("queue:\n%s", diff)
		}
	})
}

func TestNoProfileIfImpossibleOrTurnedOff(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w := newWorld(t, s)
		unprofiled := modelstest.Bundle("secret")
		unprofiled.Definition.DisableProfile = true
		task, err := s.Catalog.CreateTask(t.Context(), w.Admin, catalog.NewTask{
			TaskSettings: catalog.TaskSettings{Devices: []string{"CPU"}}, Bundle: unprofiled})
		modelstest.Check(t, err)
		for name, c := range map[string]struct {
			task   catalog.Task
			device string
			can    bool
		}{
			"the task says no":             {task, "CPU", true},
			"the worker cannot":            {w.Task, "CPU", false},
			"the worker has other devices": {w.Task, "H200", true},
		} {
			profiler(t, s, c.device, c.can)
			run := modelstest.Submit(t, s, w.Ann, c.task)[0]
			modelstest.Finish(t, s, run, 100)
			if profiles := modelstest.Got[work.SubmissionRuns](t)(s.Work.SubmissionRuns(t.Context(),
				run.SubmissionID)).Profiles; len(profiles) > 0 {
				t.Errorf("%s, and yet %+v", name, profiles)
			}
		}
	})
}

func TestTheBoardChangesWhenAnEntryGetsItsProfile(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := newWorld(t, s), t.Context()
		profiler(t, s, "CPU", true)
		beaten, best := w.Score(t, s, w.Ann, 100), w.Score(t, s, w.Ann, 90)
		for _, ranked := range []work.Run{beaten, best} {
			before := modelstest.Got[int64](t)(s.Boards.ChangeNumber(ctx, w.Task.VersionID, "CPU"))
			out := modelstest.Finish(t, s, modelstest.ProfileRun(t, s, ranked), 1)
			after := modelstest.Got[int64](t)(s.Boards.ChangeNumber(ctx, w.Task.VersionID, "CPU"))
			if changed := after > before; changed != (ranked.ID == best.ID) || changed != (out.ChangedBoard != nil) {
				t.Errorf("run %d: board changed from %d to %d, told %+v", ranked.ID, before, after, out.ChangedBoard)
			}
		}
		other := w.Score(t, s, w.Ben, 95)
		head := modelstest.Got[boards.BoardHead](t)(s.Boards.ReadHead(ctx, w.Task.VersionID, "CPU"))
		profiled := map[int64]bool{}
		shown, _, err := s.Boards.ReadCachedPart(ctx, head,
			boards.BoardPartQuery{Limit: 10, CompareWithTime: time.Now()})
		modelstest.Check(t, err)
		for _, e := range shown.Standings {
			profiled[e.RunID] = e.HasProfile
		}
		if diff := cmp.Diff(map[int64]bool{best.ID: true, other.ID: false}, profiled); diff != "" {
			t.Errorf("profiled:\n%s", diff)
		}
	})
}

func TestAProfileThatFailsLeavesTheScoreAndTheBoard(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := newWorld(t, s), t.Context()
		profiler(t, s, "CPU", true)
		ranked := w.Submit(t, s, w.Ann)
		modelstest.Finish(t, s, ranked, 100)
		profile := modelstest.ProfileRun(t, s, ranked)
		attempt, err := s.Work.StartAttempt(ctx, profile.WorkRef())
		modelstest.Check(t, err)
		failed := modelstest.Result(attempt, 1)
		failed.Outcome, failed.Failure = job.OutcomeFailed, &job.Failure{Reason: "The driver refused."}
		modelstest.Check(t, modelstest.Second(s.Work.RecordResult(ctx, failed, work.ResultFindings{})))
		page := modelstest.Got[boards.BoardPart](t)(s.Boards.Board(ctx, w.Task.VersionID, "CPU", boards.BoardPartQuery{Limit: 10}))
		if len(page.Standings) != 1 || page.Standings[0].ScoreNS != 100 || page.Standings[0].RunID != ranked.ID {
			t.Errorf("board: %+v", page.Standings)
		}
		if run := modelstest.Got[work.Run](t)(s.Work.Run(ctx, ranked.ID)); run.State != work.StateDone {
			t.Errorf("the ranked run is %s", run.State)
		}
	})
}
