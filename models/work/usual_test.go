package work_test

import (
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

// TestTheUsualTimeOfARunIsThatOfItsKind checks that the usual time is the median of successful runs of the same mode on
// the same board.
func TestTheUsualTimeOfARunIsThatOfItsKind(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		ann := modelstest.Person(t, s, "Ann", accounts.RoleAdmin)
		task, other := modelstest.Task(t, s, ann, "sort", "H200"), modelstest.Task(t, s, ann, "scan", "H200")
		past := func(task catalog.Task, took time.Duration, outcome job.Outcome) {
			t.Helper()
			run := modelstest.Submit(t, s, ann, task)[0]
			attempt, err := s.Work.StartAttempt(t.Context(), run.WorkRef())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.SQL().ExecContext(t.Context(), "update attempts set created_at = $1 where id = $2",
				time.Now().UTC().Add(-time.Hour), attempt.ID); err != nil {
				t.Fatal(err)
			}
			result := modelstest.Result(attempt, 1e6)
			result.Outcome, result.SlotNS = outcome, took.Nanoseconds()
			if outcome == job.OutcomeFailed {
				result.Failure = &job.Failure{Reason: "It failed."}
			}
			if _, err := s.Work.RecordResult(t.Context(), result, work.ResultFindings{}); err != nil {
				t.Fatal(err)
			}
		}
		want := func(want time.Duration) {
			t.Helper()
			next := modelstest.Submit(t, s, ann, task)[0]
			if got, err := s.Work.MedianSlotTime(t.Context(), next); err != nil || got != want {
				t.Errorf("usually %s, %v; want %s", got, err, want)
			}
		}
		past(other, time.Minute, job.OutcomePassed)
		past(task, time.Second, job.OutcomeFailed)
		want(0)
		for _, seconds := range []time.Duration{3, 90, 4} {
			past(task, seconds*time.Second, job.OutcomePassed)
		}
		want(4 * time.Second)
		next := modelstest.Submit(t, s, ann, task)[0]
		next.Mode = job.ModeProfile
		if got, err := s.Work.MedianSlotTime(t.Context(), next); err != nil || got != 0 {
			t.Errorf("of another mode %s, %v", got, err)
		}
	})
}
