package work_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

// order names the people in a device's queue, next first.
func order(t *testing.T, s *models.Store, names map[int64]string) (out []string) {
	t.Helper()
	for i, q := range modelstest.Got[[]work.QueuedWork](t)(s.Work.WaitingQueue(t.Context())) {
		if q.QueuePosition != i+1 {
			t.Errorf("the run at %d has place %d", i+1, q.QueuePosition)
		}
		out = append(out, names[q.UserID])
	}
	return out
}

func TestTheQueueServesPeopleInTurn(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := modelstest.NewWorld(t, s), t.Context()
		names := map[int64]string{w.Ann.ID: "ann", w.Ben.ID: "ben"}
		var first work.Run
		for i := range 4 {
			if run := w.Submit(t, s, w.Ann); i == 0 {
				first = run
			}
		}
		bens := w.Submit(t, s, w.Ben)
		w.Submit(t, s, w.Ben)
		if diff := cmp.Diff([]string{"ann", "ben", "ann", "ben", "ann", "ann"}, order(t, s, names)); diff != "" {
			t.Errorf("queue:\n%s", diff)
		}
		if places := modelstest.Got[map[int64]int](t)(s.Work.QueuePositions(ctx,
			bens.SubmissionID)); places[bens.ID] != 2 {
			t.Errorf("places: %v", places)
		}

		// Ann's first run is sent to a worker. It still counts as her first turn.
		attempt, err := s.Work.StartAttempt(ctx, first.WorkRef())
		modelstest.Check(t, err)
		if diff := cmp.Diff([]string{"ann", "ben", "ann", "ben", "ann", "ann"}, order(t, s, names)); diff != "" {
			t.Errorf("queue with a job sent:\n%s", diff)
		}
		next := modelstest.Got[[]work.QueuedWork](t)(s.Work.NextWork(ctx, "CPU", 2, time.Now()))
		if len(next) != 2 || next[0].RunID != bens.ID || next[0].QueuePosition != 2 {
			t.Errorf("next: %+v", next)
		}
		modelstest.Check(t, modelstest.Second(s.Work.RecordAttemptsReceived(ctx, "w1", attempt.ID)))
		if diff := cmp.Diff([]string{"ben", "ann", "ben", "ann", "ann"}, order(t, s, names)); diff != "" {
			t.Errorf("queue with a run taken:\n%s", diff)
		}
		loads, err := s.Work.ReadSiteLoad(ctx)
		if diff := cmp.Diff([]work.QueueLength{{Device: "CPU", Waiting: 5, Running: 1, AheadOfNewRun: 1, BehindNewRun: 4}}, loads.QueueLengths); diff != "" || err != nil || len(loads.PausedDevices)+len(loads.OffParts) != 0 {
			t.Errorf("lengths, of %+v, %v:\n%s", loads, err, diff)
		}

		// After a loss by an infrastructure error, the run keeps its position in the queue, but pauses, so that other
		// runs may start before it.
		modelstest.Check(t, modelstest.Second(s.Work.FailAttempt(ctx, attempt.ID, "The worker is gone.", work.LossRetriedAfterPause)))
		nextAt := func(at time.Time) int64 {
			return modelstest.Got[[]work.QueuedWork](t)(s.Work.NextWork(ctx, "CPU", 1, at))[0].RunID
		}
		if next := nextAt(time.Now()); next == first.ID {
			t.Error("the lost run is sent again without a pause")
		}
		if next := nextAt(time.Now().Add(2 * time.Second)); next != first.ID {
			t.Errorf("next after the pause: run %d", next)
		}
	})
}

func TestANewRunStartsAfterWhatItsDeviceCountsAhead(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := modelstest.NewWorld(t, s), t.Context()
		for _, user := range []accounts.User{w.Ann, w.Ann, w.Ben, w.Ben} {
			w.Submit(t, s, user)
		}
		for _, change := range []string{"purpose = 'baseline'", "purpose = 'profile', profile_of = 1"} {
			run := w.Submit(t, s, modelstest.Person(t, s, "with "+change, accounts.RoleUser))
			modelstest.Check(t, modelstest.Second(s.SQL().ExecContext(ctx, "update runs set "+change+" where id = $1", run.ID)))
		}
		sent, taken := w.Submit(t, s, modelstest.Person(t, s, "Dora", accounts.RoleUser)), w.Submit(t, s, modelstest.Person(t, s, "Edda", accounts.RoleUser))
		modelstest.Check(t, modelstest.Second(s.Work.StartAttempt(ctx, sent.WorkRef())))
		modelstest.Check(t, modelstest.Second(s.Work.RecordAttemptsReceived(ctx, "w1", modelstest.Got[work.Attempt](t)(s.Work.StartAttempt(ctx, taken.WorkRef())).ID)))
		loads, err := s.Work.ReadSiteLoad(ctx)
		if diff := cmp.Diff([]work.QueueLength{{Device: "CPU", Waiting: 7, Running: 1, AheadOfNewRun: 3, BehindNewRun: 4}}, loads.QueueLengths); diff != "" || err != nil {
			t.Fatalf("lengths, %v:\n%s", err, diff)
		}
		ahead := 0
		for _, q := range modelstest.Got[[]work.QueuedWork](t)(s.Work.LiveQueue(ctx)) {
			if q.StartedAt == nil && q.IsBeforeNewRun() {
				ahead++
			}
		}
		fresh := w.Submit(t, s, modelstest.Person(t, s, "Carl", accounts.RoleUser))
		if place := modelstest.Got[map[int64]int](t)(s.Work.QueuePositions(ctx, fresh.SubmissionID))[fresh.ID]; ahead != 3 || place != 4 {
			t.Errorf("the queue counts %d ahead, and the new run has place %d, want 3 and 4", ahead, place)
		}
	})
}

// TestACallerPassesAWaitingRunOnce covers a caller that submits the next evaluation when one has ended: otherwise no run
// would ever start.
func TestACallerPassesAWaitingRunOnce(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := modelstest.NewWorld(t, s), t.Context()
		evaluate := func(caller string) work.Evaluation {
			return modelstest.Got[work.Evaluation](t)(s.Work.SubmitEvaluation(ctx, work.NewEvaluation{Caller: caller, Kind: "evaluate", Device: "CPU", Request: []byte("{}")}))
		}
		end := func(e work.Evaluation) {
			modelstest.Check(t, modelstest.Second(s.SQL().ExecContext(ctx,
				"update evaluations set state = 'cancelled', dispatched_at = $1, ended_at = $1 where id = $2", time.Now().UTC(), e.ID)))
		}
		next := func() string {
			return modelstest.Got[[]work.QueuedWork](t)(s.Work.NextWork(ctx, "CPU", 1, time.Now()))[0].EvaluationID
		}
		end(evaluate("anna"))
		w.Submit(t, s, w.Ann)
		first := evaluate("anna")
		if next() != first.ID {
			t.Error("the caller's first evaluation does not pass the run")
		}
		end(first)
		second, other := evaluate("anna"), evaluate("bert")
		if next() != other.ID {
			t.Error("another caller's first evaluation does not pass the run")
		}
		end(other)
		evaluate("bert")
		if id := next(); id != "" {
			t.Errorf("evaluation %s passes the run again, want none of %s", id, second.ID)
		}
	})
}

func TestEachDeviceHasASeparateQueue(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := modelstest.NewWorld(t, s), t.Context()
		both := modelstest.Task(t, s, w.Admin, "both", "H200", "CPU")
		modelstest.Submit(t, s, w.Ann, both)
		runs := modelstest.Submit(t, s, w.Ben, both)
		places := modelstest.Got[map[int64]int](t)(s.Work.QueuePositions(ctx, runs[0].SubmissionID))
		if places[runs[0].ID] != 2 || places[runs[1].ID] != 2 {
			t.Errorf("places: %v", places)
		}
		if next := modelstest.Got[[]work.QueuedWork](t)(s.Work.NextWork(ctx, "H200", 9, time.Now())); len(next) != 2 || next[0].UserID != w.Ann.ID {
			t.Errorf("next on H200: %+v", next)
		}
	})
}
