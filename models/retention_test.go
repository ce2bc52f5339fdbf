package models_test

import (
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

// TestProfilesOfBoardRowsAreKeptAndOthersForNinetyDays checks that the sweep keeps the profile of an entry, and deletes
// that of a slower run of the same person after 90 days.
func TestProfilesOfBoardRowsAreKeptAndOthersForNinetyDays(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w := newWorld(t, s)
		best, slower := finishWithArtifact(t, s, w, "best"), w.Submit(t, s, w.Ann)
		attempt, err := s.Work.StartAttempt(t.Context(), slower.WorkRef())
		modelstest.Check(t, err)
		result := modelstest.Result(attempt, 99)
		result.Artifacts = []job.Artifact{{Name: "profile.0.ncu-rep.gz", Data: []byte("slower")}}
		modelstest.Check(t, modelstest.Second(s.Work.RecordResult(t.Context(), result,
			work.ResultFindings{Score: &work.Score{NS: 99}})))
		for _, c := range []struct{ days, slower int }{{89, 1}, {91, 0}} {
			modelstest.Check(t, s.DeleteExpired(t.Context(), time.Now().AddDate(0, 0, c.days)))
			left := func(run work.Run) int {
				return len(modelstest.Got[map[int64][]work.Artifact](t)(s.Work.ArtifactsOf(t.Context(), run.ID))[run.ID])
			}
			if left(best) != 1 || left(slower) != c.slower {
				t.Errorf("after %d days the best run has %d artifacts and the slower %d, want 1 and %d", c.days,
					left(best), left(slower), c.slower)
			}
		}
	})
}
