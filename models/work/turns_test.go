package work_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

// oneByOne starts and ends all waiting work of the CPU, one item after the other, and returns the names of the owners
// in order.
func oneByOne(t *testing.T, s *models.Store, names map[job.WorkRef]string) (order []string) {
	t.Helper()
	for {
		next := modelstest.Got[[]work.QueuedWork](t)(s.Work.NextWork(t.Context(), "CPU", 1, time.Now()))
		if len(next) == 0 {
			return order
		}
		order = append(order, names[next[0].WorkRef()])
		attempt := modelstest.Got[work.Attempt](t)(s.Work.StartAttempt(t.Context(), next[0].WorkRef()))
		modelstest.Check(t, modelstest.Second(s.Work.RecordAttemptsReceived(t.Context(), "w1", attempt.ID)))
		result, found := modelstest.Evaluated(attempt, "{}"), modelstest.Completed()
		if attempt.RunID > 0 {
			result, found = modelstest.Result(attempt, 10),
				work.ResultFindings{Score: &work.Score{NS: 10, DeviationNS: 1, StandardErrorNS: 1}}
		}
		modelstest.Check(t, modelstest.Second(s.Work.RecordResult(t.Context(), result, found)))
	}
}

// TestManyEvaluationsDelayTheOthersByOneEach checks that a caller with many evaluations delays each other caller by
// one, even if none is running when a slot becomes free.
func TestManyEvaluationsDelayTheOthersByOneEach(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		names := map[job.WorkRef]string{}
		for _, caller := range []string{"bob", "bob", "bob", "bob", "carol", "carol", "dave"} {
			names[submitted(t, s, caller).WorkRef()] = caller
		}
		want := []string{"bob", "carol", "dave", "bob", "carol", "bob", "bob"}
		if diff := cmp.Diff(want, oneByOne(t, s, names)); diff != "" {
			t.Errorf("order (-want +got):\n%s", diff)
		}
	})
}

// ended records that an evaluation took this many seconds on its slot.
func ended(t *testing.T, s *models.Store, e work.Evaluation, seconds int) {
	t.Helper()
	modelstest.Check(t, modelstest.Second(
		s.Work.RecordResult(t.Context(), modelstest.Evaluated(begun(t, s, e), "{}"), modelstest.Completed())))
	modelstest.Check(t, modelstest.Second(s.SQL().ExecContext(t.Context(),
		"update evaluations set unit_ns = $1 where id = $2", int64(seconds)*1e9, e.ID)))
}

// TestASlotStaysWithACallerForSomeTime checks which of two callers' evaluations a slot gets next, if any. Ann's is the
// first in the fair order, and the slot has Ben's program.
func TestASlotStaysWithACallerForSomeTime(t *testing.T) {
	seconds := func(n int) time.Duration { return time.Duration(n) * time.Second }
	type state struct {
		lasted               int // seconds of the turn
		moreOfAnn, moreOfBen int // evaluations that wait besides one of each
		benHasNone, runWaits bool
		isBusy               bool   // the slot that asks
		live                 string // callers of the worker's attempts, each by a letter
		building             int    // number of these that are being built
		since                int    // seconds since they arrived
		took                 []int  // seconds of Ben's last evaluations; nil if brief
	}
	full := "bbbbbbbb"
	for _, tt := range []struct {
		name  string
		state state
		want  string
	}{
		{"Ben's have run for a short time", state{lasted: 2}, "ben"},
		{"Ben's have run for long", state{lasted: 4}, "ann"},
		{"Ann has seven", state{lasted: 4, moreOfAnn: 6, moreOfBen: 7}, "ann"},
		{"Ben has seven", state{lasted: 4, moreOfAnn: 7, moreOfBen: 4, live: "bb"}, "ann"},
		{"both have many", state{lasted: 4, moreOfAnn: 7, moreOfBen: 5, live: "bb"}, "ben"},
		{"both have many, and Ben's have run for long", state{lasted: 16, moreOfAnn: 7, moreOfBen: 7}, "ann"},
		{"another slot has Ann's", state{lasted: 4, live: "ab"}, "ben"},
		{"another slot has Ann's, and Ben's have run for minutes", state{lasted: 120, live: "ab"}, "ann"},
		{"Ben has no other", state{lasted: 2, benHasNone: true}, "ann"},
		{"Ben has no other, and two of his attempts for each slot",
			state{lasted: 2, benHasNone: true, isBusy: true, live: "bbbb", building: 2}, ""},
		{"Ben has no other, and a slot is idle", state{lasted: 2, benHasNone: true, live: "bbbb", building: 2}, "ann"},
		{"Ben has no other, and few attempts",
			state{lasted: 2, benHasNone: true, isBusy: true, live: "bbb", building: 1}, "ann"},
		{"a run waits", state{lasted: 2, runWaits: true}, "ann"},
		{"the slots are full", state{lasted: 2, live: full, building: 8}, ""},
		{"the slots are full, and Ben's take long to build",
			state{lasted: 2, live: full, building: 8, since: 6}, "ann"},
		{"the slots are full, and only builds have begun", state{lasted: 2, live: full, building: 8, since: 2}, "ann"},
		{"the slots are full, and the turn's first builds have begun", state{live: full, building: 8, since: 2}, ""},
		{"the slots are full, and one waits for its slot", state{lasted: 2, live: full, building: 7, since: 2}, ""},
		{"the slots are full, and Ben's have run for long", state{lasted: 4, live: full, building: 8}, "ann"},
		{"the slots are full, and Ben's are not brief",
			state{lasted: 2, live: full, building: 8, took: []int{3, 3, 3}}, "ann"},
		{"another one's take long to build", state{lasted: 2, live: "cccccccc", building: 8, since: 6}, "ben"},
		{"one of Ben's took long", state{lasted: 2, took: []int{1, 1, 11}}, "ben"},
		{"Ben's take long", state{lasted: 2, took: []int{1, 11, 11}}, "ann"},
		{"Ben's take long, and some were cancelled", state{lasted: 2, took: []int{11, 11, 0, 0, 0}}, "ann"},
		{"Ben is new", state{lasted: 2, took: []int{}}, "ann"},
	} {
		if tt.state.took == nil {
			tt.state.took = []int{1, 1, 1}
		}
		modelstest.Each(t, func(t *testing.T, s *models.Store) {
			w, names := modelstest.NewWorld(t, s), map[string]string{}
			submit := func(caller string) work.Evaluation {
				e := modelstest.Got[work.Evaluation](t)(s.Work.SubmitEvaluation(t.Context(), work.NewEvaluation{
					Caller: caller, Owner: "token:" + caller, Kind: "evaluate", Device: "CPU", Request: []byte(`{}`)}))
				names[e.ID] = caller
				return e
			}
			for _, took := range tt.state.took {
				ended(t, s, submit("ben"), took)
			}
			workerOf(t, s, "w1", 2)
			ask := job.WorkRequest{Worker: "w1", Device: "CPU", Caller: "token:ben", CallerTime: seconds(tt.state.lasted)}
			ask.BuildingCount, ask.IsSlotBusy = tt.state.building, tt.state.isBusy
			for _, letter := range tt.state.live {
				caller := map[rune]string{'a': "ann", 'b': "ben", 'c': "carl"}[letter]
				ask.Attempts = append(ask.Attempts, begun(t, s, submit(caller)).ID)
			}
			for range 1 + tt.state.moreOfAnn {
				submit("ann")
			}
			for range 1 + tt.state.moreOfBen {
				if !tt.state.benHasNone {
					submit("ben")
				}
			}
			if tt.state.runWaits {
				w.Submit(t, s, w.Ann)
			}
			at := time.Now().Add(seconds(tt.state.since))
			got := modelstest.Got[*work.Attempt](t)(s.Work.StartNextAttempt(t.Context(), ask, at))
			var owner string
			if got != nil {
				owner = names[got.EvaluationID]
			}
			if owner != tt.want {
				t.Errorf("%s: the slot gets %+v, want one of %q", tt.name, got, tt.want)
			}
		})
	}
}

// TestCompilingAloneDoesNotLengthenTheOthersTurn checks that an evaluation that only compiles does not count as its
// caller's work on another slot.
func TestCompilingAloneDoesNotLengthenTheOthersTurn(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		submit := func(caller, kind string) work.Evaluation {
			return modelstest.Got[work.Evaluation](t)(s.Work.SubmitEvaluation(t.Context(), work.NewEvaluation{
				Caller: caller, Owner: caller, Kind: kind, Device: "H200", Request: []byte(`{}`)}))
		}
		ended(t, s, submit("ben", "evaluate"), 1)
		modelstest.Check(t, s.Fleet.SaveHeartbeat(t.Context(), job.Heartbeat{Worker: "w1", WorkerStartedAt: time.Now(),
			Slots: []job.Slot{{Device: "H200"}, {Index: 1, Device: "H200"}}}))
		compiles, runs := begun(t, s, submit("ann", "compile")), begun(t, s, submit("ben", "evaluate"))
		first := submit("ann", "evaluate")
		submit("ben", "evaluate")
		got := next(t, s, job.WorkRequest{Worker: "w1", Device: "H200", Caller: "ben", CallerTime: 4 * time.Second,
			Attempts: []string{compiles.ID, runs.ID}})
		if got == nil || got.EvaluationID != first.ID {
			t.Errorf("the slot gets %+v, want Ann's evaluation %s", got, first.ID)
		}
	})
}

// TestManyRunsDelayTheOthersByOneEach checks that a person with many runs delays each other person by one run, and that
// the person's evaluations do not count as runs.
func TestManyRunsDelayTheOthersByOneEach(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, names := modelstest.NewWorld(t, s), map[job.WorkRef]string{}
		for _, user := range []accounts.User{w.Ann, w.Ann, w.Ann, w.Ben, w.Ben} {
			names[w.Submit(t, s, user).WorkRef()] = user.Name
		}
		names[submitted(t, s, fmt.Sprint("person:", w.Ann.ID)).WorkRef()] = "evaluation"
		ann, ben := w.Ann.Name, w.Ben.Name
		if diff := cmp.Diff([]string{"evaluation", ann, ben, ann, ben, ann}, oneByOne(t, s, names)); diff != "" {
			t.Errorf("order (-want +got):\n%s", diff)
		}
	})
}

// TestABatchSharesTheTurnsThatItsPersonsRunsTook checks that the runs and the batch evaluations of a person count
// together in the fair order.
func TestABatchSharesTheTurnsThatItsPersonsRunsTook(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w := modelstest.NewWorld(t, s)
		names := map[job.WorkRef]string{w.Submit(t, s, w.Ann).WorkRef(): "ann"}
		in := work.NewBatch{Requester: work.Requester{User: w.Ann}, Caller: fmt.Sprint("person:", w.Ann.ID),
			Items: []work.BatchItem{
				{Request: work.NewEvaluation{User: w.Ann, Kind: "evaluate", Device: "CPU",
					Request: json.RawMessage(`{}`)}}}}
		modelstest.Check(t, modelstest.Second(s.Work.SubmitBatch(t.Context(), in)))
		names[in.Items[0].Evaluation.WorkRef()] = "ann's batch"
		names[w.Submit(t, s, w.Ann).WorkRef()] = "ann"
		for range 3 {
			names[w.Submit(t, s, w.Ben).WorkRef()] = "ben"
		}
		if diff := cmp.Diff([]string{"ann", "ben", "ann's batch", "ben", "ann", "ben"},
			oneByOne(t, s, names)); diff != "" {
			t.Errorf("order (-want +got):\n%s", diff)
		}
	})
}

// TestWorkThatIsCancelledBeforeItRunsIsNoTurn checks that work cancelled before its start does not delay the person's
// other work.
func TestWorkThatIsCancelledBeforeItRunsIsNoTurn(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		names := map[job.WorkRef]string{submitted(t, s, "bob").WorkRef(): "bob"}
		unwanted := submitted(t, s, "bob")
		names[submitted(t, s, "carol").WorkRef()] = "carol"
		modelstest.Check(t, modelstest.Second(s.Work.CancelEvaluation(t.Context(), unwanted.ID, "not wanted")))
		if diff := cmp.Diff([]string{"bob", "carol"}, oneByOne(t, s, names)); diff != "" {
			t.Errorf("order (-want +got):\n%s", diff)
		}
	})
}

// TestARunBeginsWhileOneCallerSendsEvaluationAfterEvaluation checks that a run starts although a caller always has 16
// evaluations in the queue.
func TestARunBeginsWhileOneCallerSendsEvaluationAfterEvaluation(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w := modelstest.NewWorld(t, s)
		run := w.Submit(t, s, w.Ben).WorkRef()
		for range 16 {
			submitted(t, s, "bob")
		}
		for range 100 {
			next := modelstest.Got[[]work.QueuedWork](t)(s.Work.NextWork(t.Context(), "CPU", 1, time.Now()))
			if next[0].WorkRef() == run {
				return
			}
			end(t, s, next[0].WorkRef())
			submitted(t, s, "bob")
		}
		t.Error("100 evaluations of one caller came before another person's run, and there is no end of them")
	})
}

func end(t *testing.T, s *models.Store, ref job.WorkRef) {
	t.Helper()
	attempt := modelstest.Got[work.Attempt](t)(s.Work.StartAttempt(t.Context(), ref))
	modelstest.Check(t, modelstest.Second(s.Work.RecordAttemptsReceived(t.Context(), "w1", attempt.ID)))
	modelstest.Check(t, modelstest.Second(s.Work.RecordResult(t.Context(), modelstest.Evaluated(attempt, "{}"),
		modelstest.Completed())))
}
