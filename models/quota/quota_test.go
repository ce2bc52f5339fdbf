package quota_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/db"
	"warpboard/models/modelstest"
	"warpboard/models/submissions"
	"warpboard/models/work"
)

// atNoon sets a day that does not end during a test.
func atNoon() models.Config {
	noon := time.Now().UTC().Truncate(24 * time.Hour).Add(12 * time.Hour)
	return models.Config{Now: func() time.Time { return noon }}
}

// held ends a run that held slots of its device for a time.
func held(t *testing.T, s *models.Store, run work.Run, took time.Duration, outcome job.Outcome) {
	t.Helper()
	attempt, err := s.Work.StartAttempt(t.Context(), run.WorkRef())
	if err != nil {
		t.Fatal(err)
	}
	result := ago(t, s, attempt)
	result.SlotNS, result.Outcome = took.Nanoseconds(), outcome
	if outcome != job.OutcomePassed {
		result.Failure = &job.Failure{Reason: "It failed."}
	}
	if recorded, err := s.Work.RecordResult(t.Context(), result, work.ResultFindings{}); err != nil ||
		!recorded.AttemptAccepted &&
			outcome == job.OutcomePassed {
		t.Fatalf("recorded %+v, %v", recorded, err)
	}
}

// ago returns the result of an attempt that began two hours ago.
func ago(t *testing.T, s *models.Store, attempt work.Attempt) job.Result {
	t.Helper()
	if _, err := s.SQL().ExecContext(t.Context(), "update attempts set created_at = $1, taken_at = null where id = $2",
		time.Now().UTC().Add(-2*time.Hour), attempt.ID); err != nil {
		t.Fatal(err)
	}
	if attempt.RunID == 0 {
		return modelstest.Evaluated(attempt, `{}`)
	}
	return modelstest.Result(attempt, 1e6)
}

// TestOnlyHeldGPUsUseUpABudget checks that a budget counts GPU time, but not CPU runs, work that was cancelled before
// it began, or work that was handed back.
func TestOnlyHeldGPUsUseUpABudget(t *testing.T) {
	modelstest.EachConfig(t, atNoon(), func(t *testing.T, s *models.Store) {
		admin, ann := modelstest.Person(t, s, "Root", accounts.RoleAdmin),
			modelstest.Person(t, s, "Ann", accounts.RoleUser)
		bob := modelstest.Person(t, s, "Bob", accounts.RoleUser)
		task := modelstest.Task(t, s, admin, "sort", "CPU", "H200")
		set := func(person int64, seconds int) {
			t.Helper()
			if err := s.Quotas.SetBudget(t.Context(), admin, person, &seconds); err != nil {
				t.Fatal(err)
			}
		}
		used := func(user accounts.User, want time.Duration, seconds int, own bool) {
			t.Helper()
			if b, err := s.Quotas.BudgetOf(t.Context(), user); err != nil || b.UsedToday != want ||
				b.SecondsPerDay != seconds ||
				b.IsPersonal != own {
				t.Errorf("%s has %+v, %v; want %s of %d used", user.Name, b, err, want, seconds)
			}
		}
		used(ann, 0, 0, false)
		seconds := 7
		if err := s.Quotas.SetBudget(t.Context(), ann, ann.ID, &seconds); db.KindOf(err) != db.Forbidden {
			t.Errorf("a person set a budget: %v", err)
		}
		if err := s.Quotas.SetBudget(t.Context(), admin, 4711, &seconds); db.KindOf(err) != db.NotFound {
			t.Errorf("no one has a budget: %v", err)
		}
		if seconds = -1; db.KindOf(s.Quotas.SetBudget(t.Context(), admin, 0, &seconds)) != db.Invalid {
			t.Error("a budget below 0 was taken")
		}
		set(0, 10)
		for _, run := range modelstest.SubmitSource(t, s, ann, task, "one") {
			held(t, s, run, 4*time.Second, job.OutcomePassed) // one of the two runs is on the CPU
		}
		used(ann, 4*time.Second, 10, false)
		second := modelstest.SubmitSource(t, s, ann, task, "two")
		held(t, s, second[1], 5*time.Second, job.OutcomeFailed)
		used(ann, 9*time.Second, 10, false)
		held(t, s, second[0], time.Hour, job.OutcomeHandedBack)
		third := modelstest.SubmitSource(t, s, ann, task, "three")
		for _, run := range append(third, second[0]) {
			if _, err := s.Work.CancelRun(t.Context(), ann, run.ID); err != nil {
				t.Fatal(err)
			}
		}
		used(ann, 9*time.Second, 10, false) // runs cancelled before they began, and the one handed back, cost nothing
		fourth := modelstest.SubmitSource(t, s, ann, task, "four")
		held(t, s, fourth[1], 2*time.Second, job.OutcomePassed)
		submit := func(device string) error {
			_, _, err := s.Submissions.Submit(t.Context(),
				submissions.NewSubmission{User: ann, TaskID: task.ID, Devices: []string{device}, Mode: job.ModeTest,
					Source: []byte("more")})
			return err
		}
		err := submit("H200")
		if db.KindOf(err) != db.TooMany ||
			!strings.Contains(err.Error(),
				"budget of 10 GPU-seconds a day is used up: your runs held GPUs for 11 s today") {
			t.Errorf("a run after the budget: %v", err)
		}
		var refused *db.Error
		if !errors.As(err, &refused) || refused.RetryAfter <= 0 || refused.RetryAfter > 24*time.Hour {
			t.Errorf("it is to come again after %+v", refused)
		}
		if err := submit("CPU"); err != nil {
			t.Errorf("the CPU costs GPU-seconds: %v", err)
		}
		_, err = s.Work.SubmitEvaluation(t.Context(), work.NewEvaluation{User: ann, Owner: "o", Caller: "c",
			Kind: "evaluate", Device: "H200", Request: json.RawMessage(`{}`), Sources: []byte("x")})
		if db.KindOf(err) != db.TooMany {
			t.Errorf("an evaluation after the budget: %v", err)
		}
		modelstest.SubmitSource(t, s, bob, task, "of bob")
		set(ann.ID, 13) // 11 s are used, 2 s remain
		if err := submit("H200"); err != nil {
			t.Errorf("while some of it is left: %v", err)
		}
		// The waiting run is estimated at 4 s, the average of earlier runs, which is more than 2 s.
		if err := submit("H200"); db.KindOf(err) != db.TooMany ||
			!strings.Contains(err.Error(),
				"waiting and running work needs about 4 GPU-seconds, and 2 of today's 13 are left") {
			t.Errorf("more than is left may wait: %v", err)
		}
		if err := submit("CPU"); err != nil {
			t.Errorf("what waits for GPUs keeps the CPU: %v", err)
		}
		set(ann.ID, 100)
		used(ann, 11*time.Second, 100, true)
		if err := submit("H200"); err != nil {
			t.Errorf("with a larger budget: %v", err)
		}
		set(bob.ID, 0)
		used(bob, 0, 0, true)
		list, all, err := s.Quotas.BudgetsToday(t.Context(), 10)
		if err != nil || all != 10 || len(list) != 2 || list[0].ID != ann.ID || list[0].UsedToday != 11*time.Second ||
			!list[1].IsPersonal {
			t.Errorf("today: %+v, %d, %v", list, all, err)
		}
		if err := s.Quotas.SetBudget(t.Context(), admin, ann.ID, nil); err != nil {
			t.Fatal(err)
		}
		used(ann, 11*time.Second, 10, false)
		if _, err := s.SQL().ExecContext(t.Context(), "update charges set day = $1",
			time.Now().UTC().Add(-24*time.Hour).Format(time.DateOnly)); err != nil {
			t.Fatal(err)
		}
		used(ann, 0, 10, false) // after charges were moved to yesterday
	})
}

// TestHeldTimeIsChargedForEveryOutcome checks the charge for runs that were cancelled while they ran, deleted
// afterwards, or reported with a wrong time by a worker.
func TestHeldTimeIsChargedForEveryOutcome(t *testing.T) {
	modelstest.EachConfig(t, atNoon(), func(t *testing.T, s *models.Store) {
		admin, ann := modelstest.Person(t, s, "Root", accounts.RoleAdmin),
			modelstest.Person(t, s, "Ann", accounts.RoleUser)
		task := modelstest.Task(t, s, admin, "sort", "H200")
		var sum time.Duration
		used := func(more, within time.Duration) {
			t.Helper()
			b, err := s.Quotas.BudgetOf(t.Context(), ann)
			if err != nil || b.UsedToday < sum+more || b.UsedToday > sum+more+within {
				t.Errorf("used %s, %v; want %s", b.UsedToday, err, sum+more)
			}
			sum = b.UsedToday
		}
		cancelled := func(source string, outcome job.Outcome, ns int64) {
			t.Helper()
			run := modelstest.SubmitSource(t, s, ann, task, source)[0]
			attempt, err := s.Work.StartAttempt(t.Context(), run.WorkRef())
			if err != nil {
				t.Fatal(err)
			}
			result := ago(t, s, attempt)
			if _, err := s.Work.CancelRun(t.Context(), ann, run.ID); err != nil {
				t.Fatal(err)
			}
			result.Outcome, result.SlotNS = outcome, ns
			for range 2 { // a repeated result is not charged again
				if _, err := s.Work.RecordResult(t.Context(), result, work.ResultFindings{}); err != nil {
					t.Fatal(err)
				}
			}
		}
		cancelled("one", job.OutcomeCancelled, int64(5*time.Second))
		used(5*time.Second, 0)
		// the run passed before the worker received the cancellation
		cancelled("two", job.OutcomePassed, int64(time.Second))
		used(time.Second, 0)
		cancelled("three", job.OutcomeHandedBack, int64(time.Second))
		cancelled("four", job.OutcomeLost, int64(time.Second))
		cancelled("five", job.OutcomeCancelled, 0)
		cancelled("six", job.OutcomeCancelled, -1)
		used(0, 0)
		cancelled("seven", job.OutcomeCancelled, math.MaxInt64)
		used(2*time.Hour, time.Minute)
		held(t, s, modelstest.SubmitSource(t, s, ann, task, "eight")[0], math.MaxInt64, job.OutcomePassed)
		used(2*time.Hour, time.Minute)

		e, err := s.Work.SubmitEvaluation(t.Context(), work.NewEvaluation{User: ann, Owner: "o", Caller: "c",
			Kind: "evaluate", Device: "H200", Request: json.RawMessage(`{}`), Sources: []byte("x")})
		if err != nil {
			t.Fatal(err)
		}
		attempt, err := s.Work.StartAttempt(t.Context(), e.WorkRef())
		if err != nil {
			t.Fatal(err)
		}
		result := ago(t, s, attempt)
		result.SlotNS = int64(3 * time.Second)
		if _, err := s.Work.RecordResult(t.Context(), result, modelstest.Completed()); err != nil {
			t.Fatal(err)
		}
		used(3*time.Second, 0)
		if _, err := s.SQL().ExecContext(t.Context(), "update evaluations set queued_at = '2020-01-01 00:00:00'"); err != nil {
			t.Fatal(err)
		}
		if err := s.Work.PruneEvaluationsOf(t.Context(), "o", time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Work.Evaluation(t.Context(), e.ID); db.KindOf(err) != db.NotFound {
			t.Errorf("the evaluation was not removed: %v", err)
		}
		used(0, 0)
	})
}
