package work_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/db"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

func submitted(t *testing.T, s *models.Store, caller string) work.Evaluation {
	t.Helper()
	return modelstest.Got[work.Evaluation](t)(s.Work.SubmitEvaluation(t.Context(), work.NewEvaluation{
		Caller: caller, Kind: "compare", Device: "CPU", Request: json.RawMessage(`{"a":"\u0000"}`),
		Sources: []byte("x"),
	}))
}

func started(t *testing.T, s *models.Store, e work.Evaluation) work.Attempt {
	t.Helper()
	return modelstest.Got[work.Attempt](t)(s.Work.StartAttempt(t.Context(), e.WorkRef()))
}

func begun(t *testing.T, s *models.Store, e work.Evaluation) work.Attempt {
	t.Helper()
	a := started(t, s, e)
	modelstest.Check(t, modelstest.Second(s.Work.RecordAttemptsReceived(t.Context(), "w1", a.ID)))
	return a
}

func lostResult(a work.Attempt, suspect bool) job.Result {
	r := modelstest.Evaluated(a, "")
	r.Outcome, r.CausedByJob = job.OutcomeLost, suspect
	return r
}

func TestAnEvaluationGoesItsWayOnce(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		ctx := t.Context()
		e := submitted(t, s, "token:1")
		a := begun(t, s, e)
		modelstest.WantKind(t, modelstest.Second(s.Work.StartAttempt(ctx, e.WorkRef())), db.Conflict)
		event := job.Event{EvaluationID: e.ID, AttemptID: a.ID, AttemptSecret: a.Secret, Number: 2, Type: job.EventStageStarted,
			Stage: "validating", Worker: "w1"}
		out, stale, err := s.Work.AppendEvents(ctx, []job.Event{event})
		if err != nil || len(stale) > 0 || len(out.Evaluations) != 1 ||
			out.Evaluations[0].State != work.EvaluationValidating || out.Evaluations[0].Worker != "w1" {
			t.Fatalf("after a stage: %+v, %v, %v", out, stale, err)
		}
		forged, unknown := event, event
		forged.AttemptSecret, forged.Number = "guess", 3
		unknown.Stage, unknown.Number = "completed", 4
		for name, same := range map[string]job.Event{"again": event, "forged": forged} {
			if out, stale, err := s.Work.AppendEvents(ctx, []job.Event{same}); len(out.Evaluations)+len(stale) > 0 ||
				err != nil {
				t.Errorf("%s: %+v, %v, %v", name, out, stale, err)
			}
		}
		modelstest.Check(t, modelstest.Third(s.Work.AppendEvents(ctx, []job.Event{unknown})))
		if e := modelstest.Got[work.Evaluation](t)(s.Work.Evaluation(ctx, e.ID)); e.State != work.EvaluationValidating {
			t.Errorf("a worker's event brought it to %s", e.State)
		}
		report := modelstest.Evaluated(a, `{"compiled":true}`)
		guess := report
		guess.AttemptSecret = "guess"
		modelstest.WantKind(t, modelstest.Second(s.Work.RecordResult(ctx, guess, modelstest.Completed())), db.Forbidden)
		done, err := s.Work.RecordResult(ctx, report, modelstest.Completed())
		if err != nil || !done.AttemptAccepted || len(done.Evaluations) != 1 ||
			done.Evaluations[0].State != work.EvaluationCompleted || done.Evaluations[0].EndedAt == nil {
			t.Fatalf("at the end: %+v, %v", done, err)
		}
		if out, err := s.Work.RecordResult(ctx, report, modelstest.Completed()); out.AttemptAccepted || err != nil {
			t.Errorf("a second end: %+v, %v", out, err)
		}
		if _, stale, err := s.Work.AppendEvents(ctx, []job.Event{event}); len(stale) != 1 || err != nil {
			t.Errorf("an event after the end: stale %v, %v", stale, err)
		}
		read := modelstest.Got[work.Evaluation](t)(s.Work.Evaluation(ctx, e.ID))
		if diff := cmp.Diff(`{"compiled":true}`, string(read.Result)); diff != "" ||
			string(read.Request) != `{"a":"\u0000"}` {
			t.Errorf("read: %+v %s", read, diff)
		}
	})
}

func TestALostEvaluationIsTriedAgainAndGivenUpInTheEnd(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		ctx := t.Context()
		e := submitted(t, s, "token:1")
		modelstest.Check(t, modelstest.Second(s.Work.FailAttempt(ctx, started(t, s, e).ID, "no one took it",
			work.LossCountedAgainstWork)))
		for i := range work.MaxLosses {
			attempt := started(t, s, e)
			modelstest.Check(t, modelstest.Second(s.Work.RecordAttemptsReceived(ctx, fmt.Sprint("w", i), attempt.ID)))
			var out work.Effect
			var err error
			if i == 0 {
				// the worker reports the evaluation as lost
				out, err = s.Work.RecordResult(ctx, lostResult(attempt, true), work.ResultFindings{})
			} else {
				out, err = s.Work.FailAttempt(ctx, attempt.ID, "the worker is gone", work.LossCountedAgainstWork)
			}
			if err != nil || !out.AttemptAccepted || out.WorkRetried == (i == work.MaxLosses-1) {
				t.Fatal(out, err)
			}
		}
		last := modelstest.Got[work.Evaluation](t)(s.Work.Evaluation(ctx, e.ID))
		if last.State != work.EvaluationFailed || last.Losses != work.MaxLosses || last.AttemptCount != work.MaxLosses+1 ||
			last.FailureReason != "The evaluation ended after 3 infrastructure errors, and does not count against any limit. The last error: the worker is gone" {
			t.Errorf("at the end: %+v", last)
		}
		if by := lostBy(t, s, e.WorkRef()); len(by) != work.MaxLosses {
			t.Errorf("lost by %v", by)
		}
	})
}

func TestCallersTakeTurns(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		var want []string
		a1, a2 := submitted(t, s, "a"), submitted(t, s, "a")
		a3, b1 := submitted(t, s, "a"), submitted(t, s, "b")
		begun(t, s, a1)
		next, err := s.Work.NextWork(t.Context(), "CPU", 10, time.Now())
		modelstest.Check(t, err)
		for _, q := range next {
			want = append(want, q.EvaluationID)
		}
		if diff := cmp.Diff([]string{b1.ID, a2.ID, a3.ID}, want); diff != "" {
			t.Error(diff)
		}
		live, err := s.Work.LiveAttempts(t.Context())
		if err != nil || len(live) != 1 || live[0].EvaluationID != a1.ID || live[0].ReceivedAt == nil ||
			live[0].Device != "CPU" {
			t.Errorf("live: %+v, %v", live, err)
		}
	})
}

func TestACallerHasOnlySoManyEvaluationsAtOnce(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		ctx := t.Context()
		in := work.NewEvaluation{Caller: "token:1", Kind: "evaluate", Device: "CPU", Request: json.RawMessage(`{}`),
			Limits: work.EvaluationLimits{MaxLive: 1}}
		first := modelstest.Got[work.Evaluation](t)(s.Work.SubmitEvaluation(ctx, in))
		modelstest.WantKind(t, modelstest.Second(s.Work.SubmitEvaluation(ctx, in)), db.TooMany)
		out, err := s.Work.CancelEvaluation(ctx, first.ID, "not wanted")
		if err != nil || len(out.StoppedAttempts) > 0 {
			t.Errorf("cancelled: %q, %v", out.StoppedAttempts, err)
		}
		_, err = s.Work.CancelEvaluation(ctx, first.ID, "")
		modelstest.WantKind(t, err, db.Conflict)
		modelstest.Check(t, modelstest.Second(s.Work.SubmitEvaluation(ctx, in)))
	})
}

func TestACallerHasSoManyEvaluationsAndBytesAnHour(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		large := json.RawMessage(`"` + strings.Repeat("x", 1000) + `"`)
		for name, limits := range map[string]work.EvaluationLimits{"count": {MaxPerHour: 3}, "bytes": {MaxBytesPerHour: 3100}} {
			in := work.NewEvaluation{Owner: "owner", Caller: name, Kind: "evaluate", Device: "CPU", Request: large, Limits: limits}
			for range 3 { // cancelled evaluations count, too; otherwise they could fill the disk
				e := modelstest.Got[work.Evaluation](t)(s.Work.SubmitEvaluation(t.Context(), in))
				modelstest.Check(t, modelstest.Second(s.Work.CancelEvaluation(t.Context(), e.ID, "not wanted")))
			}
			_, err := s.Work.SubmitEvaluation(t.Context(), in)
			modelstest.WantKind(t, err, db.TooMany)
			var refused *db.Error
			if !errors.As(err, &refused) || refused.RetryAfter < 59*time.Minute ||
				refused.RetryAfter > time.Hour+time.Second {
				t.Errorf("%s: try again after %v", name, refused.RetryAfter)
			}
			modelstest.Check(t, s.Work.PruneEvaluationsOf(t.Context(), "owner", time.Now().Add(time.Minute)))
			_, err = s.Work.SubmitEvaluation(t.Context(), in) // removing ended evaluations does not reset the limit
			modelstest.WantKind(t, err, db.TooMany)
			in.Caller = "another"
			modelstest.Check(t, modelstest.Second(s.Work.SubmitEvaluation(t.Context(), in)))
			in.Caller, in.User = name, modelstest.Person(t, s, "admin of "+name, accounts.RoleAdmin)
			modelstest.Check(t, modelstest.Second(s.Work.SubmitEvaluation(t.Context(), in)))
		}
	})
}

func TestTheRequestOfACancelledEvaluationIsDropped(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		for name, cancelled := range map[string]func() work.Evaluation{
			"waiting": func() work.Evaluation { return submitted(t, s, "a") },
			"running": func() work.Evaluation { e := submitted(t, s, "a"); begun(t, s, e); return e },
		} {
			e := cancelled()
			if e = modelstest.Got[work.Evaluation](t)(s.Work.Evaluation(t.Context(), e.ID)); !e.HasRequest() {
				t.Errorf("%s: there is no request before it is cancelled", name)
			}
			modelstest.Check(t, modelstest.Second(s.Work.CancelEvaluation(t.Context(), e.ID, "not wanted")))
			if after := modelstest.Got[work.Evaluation](t)(s.Work.Evaluation(t.Context(), e.ID)); after.HasRequest() ||
				after.RequestBytes != e.RequestBytes || after.State != work.EvaluationCancelled {
				t.Errorf("%s: after it was cancelled: %+v", name, after)
			}
		}
	})
}

func TestTheOldestEvaluationsOfACallerWithManyAreRemoved(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		ended := func(caller string) string {
			e := submitted(t, s, caller)
			modelstest.Check(t, modelstest.Second(s.Work.RecordResult(t.Context(),
				modelstest.Evaluated(begun(t, s, e), "{}"), modelstest.Completed())))
			return e.ID
		}
		kept := func(id string) bool {
			_, err := s.Work.Evaluation(t.Context(), id)
			return err == nil
		}
		waits := submitted(t, s, "a").ID
		ids := []string{ended("a"), ended("a"), ended("a"), ended("b")}
		modelstest.Check(t, s.Work.PruneEvaluationsAbove(t.Context(), 2*int64(len(`{"a":"\u0000"}`))))
		got := []bool{kept(waits), kept(ids[0]), kept(ids[1]), kept(ids[2]), kept(ids[3])}
		if diff := cmp.Diff([]bool{true, false, true, true, true}, got); diff != "" {
			t.Errorf("what is kept (-want +got):\n%s", diff)
		}
	})
}

func TestCountersOutliveTheEvaluationsThatTheyCount(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		ctx := t.Context()
		for _, seconds := range []float64{3, 1} {
			report := modelstest.Evaluated(begun(t, s, submitted(t, s, "a")), "{}")
			modelstest.Check(t, modelstest.Second(s.Work.RecordResult(ctx, report,
				modelstest.Completed(work.CounterSample{Name: "compile", Value: seconds}))))
		}
		submitted(t, s, "a")
		census, err := s.Work.EvaluationStats(ctx)
		if err != nil || census.Total != 3 || census.ByState[work.EvaluationCompleted] != 2 || census.JustEnded != 2 ||
			census.JustSubmitted != 3 {
			t.Errorf("census: %+v, %v", census, err)
		}
		modelstest.Check(t, s.Work.PruneEvaluations(ctx, time.Now().Add(time.Second)))
		if census, err := s.Work.EvaluationStats(ctx); err != nil || census.Total != 1 {
			t.Errorf("after removing the old: %+v, %v", census, err)
		}
		all, err := s.Counters.AllByName(ctx)
		modelstest.Check(t, err)
		if diff := cmp.Diff(work.Counter{Name: "compile", Count: 2, Total: 4, Min: 1, Max: 3},
			all["compile"]); diff != "" {
			t.Error(diff)
		}
		if all[work.CounterEvaluationsSubmitted].Count != 3 || all[work.CounterEvaluationsEnded+"completed"].Count != 2 {
			t.Errorf("counters: %+v", all)
		}
	})
}

func TestHeldTimeIsCountedForEveryOutcome(t *testing.T) {
	endings := map[string]func(s *models.Store, a work.Attempt) error{
		"cancelled": func(s *models.Store, a work.Attempt) error {
			return modelstest.Second(s.Work.CancelEvaluation(t.Context(), a.EvaluationID, "not wanted"))
		},
		"worker gone": func(s *models.Store, a work.Attempt) error {
			return modelstest.Second(s.Work.FailAttempt(t.Context(), a.ID, "the worker is gone",
				work.LossCountedAgainstWork))
		},
		"given back": func(s *models.Store, a work.Attempt) error {
			return modelstest.Second(s.Work.RecordResult(t.Context(), lostResult(a, false), work.ResultFindings{}))
		},
	}
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		counted := func() (held, givenUp int64) {
			all := modelstest.Got[map[string]work.Counter](t)(s.Counters.AllByName(t.Context()))
			return all[work.CounterEvaluationsHoldingSlots].Count, all[work.CounterEvaluationsGivenUp].Count
		}
		want := int64(0)
		for name, end := range endings {
			waiting := started(t, s, submitted(t, s, "a"))
			if held, _ := counted(); held != 0 {
				t.Errorf("%s: %d are held before a worker took one", name, held)
			}
			modelstest.Check(t, end(s, waiting))
			if name == "given back" { // the worker that returned it had received it, so it counts
				want++
			}
			taken := begun(t, s, submitted(t, s, "a"))
			if held, _ := counted(); held != 1 {
				t.Errorf("%s: %d are held, want 1", name, held)
			}
			modelstest.Check(t, end(s, taken))
			want++
			if held, givenUp := counted(); held != 0 || givenUp != want {
				t.Errorf("%s: %d are held and %d given up, want 0 and %d", name, held, givenUp, want)
			}
		}
		modelstest.Check(t, modelstest.Second(s.Work.RecordResult(t.Context(),
			modelstest.Evaluated(begun(t, s, submitted(t, s, "a")), "{}"), modelstest.Completed())))
		if held, givenUp := counted(); held != 0 || givenUp != want {
			t.Errorf("after a report: %d are held and %d given up, want 0 and %d", held, givenUp, want)
		}
	})
}
