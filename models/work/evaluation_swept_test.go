package work_test

import (
	"testing"
	"time"
	"warpboard/models"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

func TestOldEvaluationsAreSwept(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		ctx := t.Context()
		attempt := begun(t, s, submitted(t, s, "a"))
		modelstest.Check(t, modelstest.Second(s.Work.RecordResult(ctx, modelstest.Evaluated(attempt, "{}"),
			modelstest.Completed())))
		submitted(t, s, "a") // waiting evaluations are never deleted
		for _, c := range []struct {
			days int
			kept int64
		}{{29, 2}, {31, 1}} {
			modelstest.Check(t, s.DeleteExpired(ctx, time.Now().AddDate(0, 0, c.days)))
			if census := modelstest.Got[work.EvaluationStats](t)(s.Work.EvaluationStats(ctx)); census.Total != c.kept {
				t.Errorf("after %d days %d evaluations are kept, want %d", c.days, census.Total, c.kept)
			}
		}
	})
}
