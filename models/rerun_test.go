package models_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

// beat records a heartbeat of worker w1, whose CPU slot has the given driver version.
func beat(t *testing.T, s *models.Store, driver string) {
	t.Helper()
	h := job.Heartbeat{
		Worker:          "w1",
		WorkerStartedAt: time.Now(),
		Slots:           []job.Slot{{Device: "CPU", Machine: job.Machine{Driver: driver}}},
	}
	modelstest.Check(t, modelstest.Third(s.RecordSlots(t.Context(), h)))
}

// reruns lists the reruns that wait in the queue.
func reruns(t *testing.T, s *models.Store) (list []work.Run) {
	t.Helper()
	for _, q := range modelstest.Got[[]work.QueuedWork](t)(s.Work.WaitingQueue(t.Context())) {
		if q.Priority == work.PriorityRerun {
			list = append(list, modelstest.Got[work.Run](t)(s.Work.Run(t.Context(), q.RunID)))
		}
	}
	return list
}

// measureAgain ends a rerun with a score, or with the reason why it failed.
func measureAgain(t *testing.T, s *models.Store, run work.Run, ns float64, driver, failure string) {
	t.Helper()
	attempt := modelstest.Got[work.Attempt](t)(s.Work.StartAttempt(t.Context(), run.WorkRef()))
	result := modelstest.Result(attempt, ns)
	result.Machine.Driver = driver
	low, high := ns*0.999, ns*1.001
	score := &work.Score{NS: ns, Interval: boards.Interval{LowNS: &low, HighNS: &high, Processes: 5}}
	if failure != "" {
		result.Outcome, result.Failure, result.ScoreNS, score = job.OutcomeFailed, &job.Failure{Reason: failure}, nil, nil
		result.Stages = []job.StageResult{{Stage: job.StageTest, Status: job.StatusFail}}
	}
	modelstest.Check(t, modelstest.Second(s.Work.RecordResult(t.Context(), result, work.ResultFindings{Score: score})))
}

// TestNewSoftwareHasEveryEntryMeasuredAgain checks that new software queues a rerun of each entry once, after all work
// of people, and that each result counts at once.
func TestNewSoftwareHasEveryEntryMeasuredAgain(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := newWorld(t, s), t.Context()
		closed := modelstest.Task(t, s, w.Admin, "closed", "CPU")
		past := time.Now().Add(-time.Hour)
		beat(t, s, "570")
		var people []accounts.User
		for i := range 12 {
			people = append(people, modelstest.Person(t, s, fmt.Sprintf("p%02d", i), accounts.RoleUser))
			w.ScoreIn(t, s, people[i], 1000+100*float64(i), "570")
		}
		v := w
		v.Task = closed
		v.ScoreIn(t, s, w.Ann, 100, "570")
		modelstest.Check(t, modelstest.Second(s.Catalog.UpdateTask(ctx, w.Admin, closed.ID, catalog.TaskSettings{
			Devices:  closed.Devices,
			Deadline: &past,
		})))
		beat(t, s, "570")
		if list := reruns(t, s); len(list) != 0 {
			t.Fatalf("the same software: %d runs are measured again", len(list))
		}
		beat(t, s, "580")
		beat(t, s, "580")
		list := reruns(t, s)
		if len(list) != 12 || list[0].UserID != people[0].ID || list[11].UserID != people[11].ID {
			t.Fatalf("measured again are %d runs: %+v", len(list), list)
		}
		mine := w.Submit(t, s, people[11])
		if next := modelstest.Got[[]work.QueuedWork](t)(s.Work.NextWork(ctx, "CPU", 1, time.Now())); next[0].RunID != mine.ID {
			t.Errorf("next is run %d, want %d, for which someone waits", next[0].RunID, mine.ID)
		}
		modelstest.WantKind(t, modelstest.Second(s.Work.CancelRun(ctx, people[0], list[0].ID)), db.Forbidden)
		for i, run := range list {
			measureAgain(t, s, run, 900-10*float64(i), "580", map[int]string{3: "Wrong answer in test 2."}[i])
		}
		board := w.ByEpoch(t, s)
		want := []string{"1 p11 790", "2 p10 800", "3 p09 810"}
		if diff := cmp.Diff(want, board[:3]); diff != "" || board[11] != "(12 p03 1300)" {
			t.Errorf("the board is %v\n%s", board, diff)
		}
		if entry := modelstest.Got[boards.Standing](t)(s.Boards.PersonPlace(ctx, w.Task.VersionID, "CPU", people[0].ID)); entry.LowNS == nil || entry.Processes != 5 {
			t.Errorf("without the new interval: %+v", entry)
		}
		drifts := modelstest.Got[[]models.OrderWithReruns](t)(s.Reruns(ctx, accounts.User{Role: accounts.RoleAdmin}, 0, "CPU", 10))
		if len(drifts) != 1 || drifts[0].EndedAt == nil {
			t.Fatalf("changes of software: %+v", drifts)
		}
		rows := drifts[0].Runs
		if len(rows) != 12 || rows[0].ScoreBefore.ScoreNS != 1000 || *rows[0].ScoreNS != 900 || rows[3].ScoreNS != nil || rows[3].FailureReason() != "Wrong answer in test 2." {
			t.Errorf("old and new: %+v", rows)
		}
	})
}

// TestARerunHasNoEffectUntilItIsApplied checks that applying a rerun changes all scores at once, and removes the
// entries whose reruns failed.
func TestARerunHasNoEffectUntilItIsApplied(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := newWorld(t, s), t.Context()
		cora := modelstest.Person(t, s, "Cora", accounts.RoleCreator)
		w.Task = modelstest.Task(t, s, cora, "coras", "CPU")
		next := w.ScoreIn(t, s, w.Ann, 120, "")
		anns := w.ScoreIn(t, s, w.Ann, 100, "")
		w.ScoreIn(t, s, w.Ben, 110, "")
		modelstest.WantKind(t, modelstest.Second(s.BeginRerun(ctx, w.Ann, w.Task.ID, "I like to")), db.Forbidden)
		modelstest.WantKind(t, modelstest.Second(s.BeginRerun(ctx, cora, w.Task.ID, "")), db.Invalid)
		modelstest.WantKind(t, modelstest.Second(s.ApplyRerun(ctx, cora, w.Task.ID)), db.Conflict)
		modelstest.Check(t, modelstest.Second(s.BeginRerun(ctx, cora, w.Task.ID, "Test 2 was wrong.")))
		modelstest.WantKind(t, modelstest.Second(s.BeginRerun(ctx, w.Admin, w.Task.ID, "Once more.")), db.Conflict)
		list := reruns(t, s)
		if len(list) != 2 {
			t.Fatalf("%d runs are judged again, want 2", len(list))
		}
		modelstest.WantKind(t, modelstest.Second(s.Work.CancelRun(ctx, w.Ann, list[0].ID)), db.Forbidden)
		measureAgain(t, s, list[0], 0, "", "Wrong answer in test 2.")
		modelstest.WantKind(t, modelstest.Second(s.ApplyRerun(ctx, cora, w.Task.ID)), db.Conflict)
		modelstest.Check(t, modelstest.Second(s.Work.CancelRun(ctx, w.Admin, list[1].ID)))
		// only the cancelled rerun is queued again
		modelstest.Check(t, modelstest.Second(s.BeginRerun(ctx, cora, w.Task.ID, "What was cancelled.")))
		if list = reruns(t, s); len(list) != 1 || list[0].UserID != w.Ben.ID {
			t.Fatalf("judged again are %+v", list)
		}
		measureAgain(t, s, list[0], 130, "", "")
		if diff := cmp.Diff([]string{"1 Ann 100", "2 Ben 110"}, w.ByEpoch(t, s)); diff != "" {
			t.Errorf("before it is applied:\n%s", diff)
		}
		changes, err := s.ApplyRerun(ctx, cora, w.Task.ID)
		modelstest.Check(t, err)
		if diff := cmp.Diff([]string{"1 Ann 120", "2 Ben 130"}, w.ByEpoch(t, s)); diff != "" || len(changes) == 0 {
			t.Errorf("after that:\n%s", diff)
		}
		modelstest.WantKind(t, modelstest.Second(s.ApplyRerun(ctx, cora, w.Task.ID)), db.Conflict)
		run := modelstest.Got[work.Run](t)(s.Work.Run(ctx, anns.ID))
		if run.DisqualifiedReason != "Rejudged: Wrong answer in test 2." || run.DisqualifiedBy != cora.ID {
			t.Errorf("run %d: %+v", run.ID, run)
		}
		if entry := modelstest.Got[boards.Standing](t)(s.Boards.PersonPlace(ctx, w.Task.VersionID, "CPU", w.Ann.ID)); entry.RunID != next.ID {
			t.Errorf("Ann's entry is run %d, want %d", entry.RunID, next.ID)
		}
		var acts []string
		for _, a := range modelstest.Got[[]accounts.AuditEntry](t)(s.Accounts.AuditLog(ctx, w.Admin, "task coras", 0, 10)) {
			acts = append(acts, a.ActName)
		}
		if diff := cmp.Diff("apply rejudge, rejudge, rejudge, create task", strings.Join(acts, ", ")); diff != "" {
			t.Error(diff)
		}
	})
}

// TestACancelledRerunLeavesNothingBehind checks that cancelling a rerun order changes nothing except the audit log.
func TestACancelledRerunLeavesNothingBehind(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := newWorld(t, s), t.Context()
		w.ScoreIn(t, s, w.Ann, 100, "")
		w.ScoreIn(t, s, w.Ben, 110, "")
		modelstest.Check(t, modelstest.Second(s.BeginRerun(ctx, w.Admin, w.Task.ID, "Why not.")))
		list := reruns(t, s)
		attempt := modelstest.Got[work.Attempt](t)(s.Work.StartAttempt(ctx, list[0].WorkRef()))
		_, err := s.CancelRerun(ctx, w.Ann, w.Task.ID)
		modelstest.WantKind(t, err, db.Forbidden)
		out, err := s.CancelRerun(ctx, w.Admin, w.Task.ID)
		modelstest.Check(t, err)
		if diff := cmp.Diff([]string{attempt.ID}, out.StoppedAttempts); diff != "" {
			t.Errorf("attempts to be stopped:\n%s", diff)
		}
		if list := reruns(t, s); len(list) != 0 {
			t.Errorf("%d still wait", len(list))
		}
		modelstest.WantKind(t, modelstest.Second(s.ApplyRerun(ctx, w.Admin, w.Task.ID)), db.Conflict)
		modelstest.Check(t, modelstest.Second(s.BeginRerun(ctx, w.Admin, w.Task.ID, "Now."))) // starts a new order
		if last := modelstest.Got[[]models.OrderWithReruns](t)(s.Reruns(ctx, w.Ann, w.Task.VersionID, "", 1))[0]; last.Cancelled || last.EndedAt != nil || last.Reason != "Now." {
			t.Errorf("the last is %+v", last)
		}
	})
}
