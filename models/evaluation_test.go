package models_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/modelstest"
)

func submitted(t *testing.T, s *models.Store, caller string) models.Evaluation {
	t.Helper()
	return got[models.Evaluation](t)(s.SubmitEvaluation(t.Context(), models.NewEvaluation{
		Caller: caller, Kind: "compare", Device: "CPU", Request: json.RawMessage(`{"a":"\u0000"}`), Sources: []byte("x"),
	}))
}

func begun(t *testing.T, s *models.Store, id string) models.Evaluation {
	t.Helper()
	e := got[models.Evaluation](t)(s.StartEvaluation(t.Context(), id))
	_, _, err := s.EvaluationsTaken(t.Context(), "w1", []string{e.AttemptID})
	check(t, err)
	return e
}

func endOf(e models.Evaluation, state models.EvaluationState) models.EvaluationEnd {
	return models.EvaluationEnd{AttemptID: e.AttemptID, Secret: e.Secret, Worker: "w1", State: state, Result: json.RawMessage(`{"compiled":true}`)}
}

func TestAnEvaluationGoesItsWayOnce(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		ctx := t.Context()
		e := begun(t, s, submitted(t, s, "token:1").ID)
		wantKind(t, second(s.StartEvaluation(ctx, e.ID)), models.Conflict)
		event := job.Event{EvaluationID: e.ID, AttemptID: e.AttemptID, Secret: e.Secret, Seq: 2, Type: job.EventStage, Stage: "validating", Worker: "w1"}
		changed, stale, err := s.NoteEvaluation(ctx, event)
		if err != nil || stale || changed.State != models.EvaluationValidating || changed.Worker != "w1" {
			t.Fatalf("after a stage: %+v, %v, %v", changed, stale, err)
		}
		forged := event
		forged.Secret, forged.Seq = "guess", 3
		for name, same := range map[string]job.Event{"again": event, "forged": forged} {
			if changed, stale, err := s.NoteEvaluation(ctx, same); changed != nil || stale || err != nil {
				t.Errorf("%s: %+v, %v, %v", name, changed, stale, err)
			}
		}
		guess := endOf(e, models.EvaluationCompleted)
		guess.Secret = "guess"
		_, _, err = s.EndEvaluation(ctx, guess)
		wantKind(t, err, models.Forbidden)
		done, accepted, err := s.EndEvaluation(ctx, endOf(e, models.EvaluationCompleted))
		if err != nil || !accepted || done.State != models.EvaluationCompleted || done.EndedAt == nil {
			t.Fatalf("at the end: %+v, %v, %v", done, accepted, err)
		}
		if _, accepted, err := s.EndEvaluation(ctx, endOf(e, models.EvaluationFailed)); accepted || err != nil {
			t.Errorf("a second end: %v, %v", accepted, err)
		}
		if _, stale, err := s.NoteEvaluation(ctx, event); !stale || err != nil {
			t.Errorf("an event after the end: stale %v, %v", stale, err)
		}
		read := got[models.Evaluation](t)(s.Evaluation(ctx, e.ID))
		if diff := cmp.Diff(`{"compiled":true}`, string(read.Result)); diff != "" || string(read.Request) != `{"a":"\u0000"}` {
			t.Errorf("read: %+v %s", read, diff)
		}
	})
}

func TestALostEvaluationIsTriedAgainAndGivenUpInTheEnd(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		ctx := t.Context()
		e := submitted(t, s, "token:1")
		untaken := got[models.Evaluation](t)(s.StartEvaluation(ctx, e.ID))
		_, _, err := s.LoseEvaluation(ctx, untaken.AttemptID, "nobody took it", models.LossCounts)
		check(t, err)
		var last models.Evaluation
		for i := range models.MaxLosses {
			attempt := begun(t, s, e.ID)
			var accepted bool
			if i == 0 {
				end := endOf(attempt, "") // the worker says that it is lost
				end.Loss = models.LossCounts
				last, accepted, err = s.EndEvaluation(ctx, end)
			} else {
				last, accepted, err = s.LoseEvaluation(ctx, attempt.AttemptID, "the worker is gone", models.LossCounts)
			}
			if err != nil || !accepted {
				t.Fatal(accepted, err)
			}
		}
		if last.State != models.EvaluationFailed || last.Losses != models.MaxLosses || last.Failure == "" {
			t.Errorf("at the end: %+v", last)
		}
	})
}

func TestCallersTakeTurns(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		var want []string
		a1, a2 := submitted(t, s, "a"), submitted(t, s, "a")
		a3, b1 := submitted(t, s, "a"), submitted(t, s, "b")
		begun(t, s, a1.ID)
		next, err := s.NextEvaluations(t.Context(), "CPU", 10, time.Now())
		check(t, err)
		for _, e := range next {
			want = append(want, e.ID)
		}
		if diff := cmp.Diff([]string{b1.ID, a2.ID, a3.ID}, want); diff != "" {
			t.Error(diff)
		}
		live, err := s.LiveEvaluations(t.Context())
		if err != nil || len(live) != 1 || live[0].EvaluationID != a1.ID || live[0].TakenAt == nil || live[0].Device != "CPU" {
			t.Errorf("live: %+v, %v", live, err)
		}
	})
}

func TestACallerHasOnlySoManyEvaluationsAtOnce(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		ctx := t.Context()
		in := models.NewEvaluation{Caller: "token:1", Kind: "evaluate", Device: "CPU", Request: json.RawMessage(`{}`), AtOnce: 1}
		first := got[models.Evaluation](t)(s.SubmitEvaluation(ctx, in))
		wantKind(t, second(s.SubmitEvaluation(ctx, in)), models.TooMany)
		_, attempt, err := s.CancelEvaluation(ctx, first.ID, "not wanted")
		if err != nil || attempt != "" {
			t.Errorf("cancelled: %q, %v", attempt, err)
		}
		_, _, err = s.CancelEvaluation(ctx, first.ID, "")
		wantKind(t, err, models.Conflict)
		check(t, second(s.SubmitEvaluation(ctx, in)))
	})
}

func TestCountersOutliveTheEvaluationsThatTheyCount(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		ctx := t.Context()
		for _, seconds := range []float64{3, 1} {
			end := endOf(begun(t, s, submitted(t, s, "a").ID), models.EvaluationCompleted)
			end.Samples = []models.Sample{{Name: "compile", Value: seconds}}
			_, _, err := s.EndEvaluation(ctx, end)
			check(t, err)
		}
		submitted(t, s, "a")
		census, err := s.EvaluationCensus(ctx)
		if err != nil || census.Total != 3 || census.ByState[models.EvaluationCompleted] != 2 || census.JustEnded != 2 || census.JustSubmitted != 3 {
			t.Errorf("census: %+v, %v", census, err)
		}
		check(t, s.PruneEvaluations(ctx, time.Now().Add(time.Second)))
		if census, err := s.EvaluationCensus(ctx); err != nil || census.Total != 1 {
			t.Errorf("after removing the old: %+v, %v", census, err)
		}
		counters, err := s.Counters(ctx)
		check(t, err)
		if diff := cmp.Diff(models.Counter{Name: "compile", Count: 2, Total: 4, Least: 1, Most: 3}, counters["compile"]); diff != "" {
			t.Error(diff)
		}
		if counters[models.CounterSubmitted].Count != 3 || counters[models.CounterEnded+"completed"].Count != 2 {
			t.Errorf("counters: %+v", counters)
		}
	})
}

func TestWhatWorkersHeldIsCountedHoweverItEnds(t *testing.T) {
	endings := map[string]func(s *models.Store, e models.Evaluation) error{
		"cancelled": func(s *models.Store, e models.Evaluation) error {
			return third(s.CancelEvaluation(t.Context(), e.ID, "not wanted"))
		},
		"worker gone": func(s *models.Store, e models.Evaluation) error {
			return third(s.LoseEvaluation(t.Context(), e.AttemptID, "the worker is gone", models.LossCounts))
		},
		"given back": func(s *models.Store, e models.Evaluation) error {
			return third(s.EndEvaluation(t.Context(), endOf(e, "")))
		},
	}
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		counted := func() (held, givenUp int64) {
			all := got[map[string]models.Counter](t)(s.Counters(t.Context()))
			return all[models.CounterHeld].Count, all[models.CounterGivenUp].Count
		}
		want := int64(0)
		for name, end := range endings {
			waiting := got[models.Evaluation](t)(s.StartEvaluation(t.Context(), submitted(t, s, "a").ID))
			if held, _ := counted(); held != 0 {
				t.Errorf("%s: %d are held before a worker took one", name, held)
			}
			check(t, end(s, waiting))
			if name == "given back" { // a worker gave it back, so it had it
				want++
			}
			taken := begun(t, s, submitted(t, s, "a").ID)
			if held, _ := counted(); held != 1 {
				t.Errorf("%s: %d are held, want 1", name, held)
			}
			check(t, end(s, taken))
			want++
			if held, givenUp := counted(); held != 0 || givenUp != want {
				t.Errorf("%s: %d are held and %d given up, want 0 and %d", name, held, givenUp, want)
			}
		}
		done := endOf(begun(t, s, submitted(t, s, "a").ID), models.EvaluationCompleted)
		check(t, third(s.EndEvaluation(t.Context(), done)))
		if held, givenUp := counted(); held != 0 || givenUp != want {
			t.Errorf("after a report: %d are held and %d given up, want 0 and %d", held, givenUp, want)
		}
	})
}
