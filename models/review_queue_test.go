package models_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/models/review"
	"warpboard/models/work"
)

// flagRun raises a flag of the site's, and marks the run as disturbed.
func flagRun(t *testing.T, s *models.Store, run work.Run, kind review.FlagKind, disturbed string) {
	t.Helper()
	for _, statement := range []string{
		fmt.Sprintf(
			"insert into flags (run_id, kind, user_id, detail, created_at) values (%d, '%s', 0, 'a test', current_timestamp)", run.ID, kind),
		fmt.Sprintf("update runs set disturbed = '%s' where id = %d", disturbed, run.ID),
	} {
		if _, err := s.SQL().ExecContext(context.Background(), statement); err != nil {
			t.Fatal(err)
		}
	}
}

func TestADisturbedRunWhoseClocksDifferCanWait(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w := newWorld(t, s)
		loaded, reported, calm := w.Score(t, s, w.Ann, 100), w.Score(t, s, w.Ben, 200),
			w.Score(t, s, modelstest.Person(t, s, "Dora", accounts.RoleUser), 300)
		flagRun(t, s, loaded, review.KindClocks, "another program used the GPU")
		flagRun(t, s, reported, review.KindClocks, "another program used the GPU")
		flagRun(t, s, reported, review.KindSource, "another program used the GPU")
		flagRun(t, s, calm, review.KindClocks, "")
		for _, c := range []struct {
			filter models.ReviewFilter
			want   []int64
		}{
			{models.ReviewFilter{}, []int64{loaded.ID, reported.ID, calm.ID}},
			{models.ReviewFilter{Priority: models.HighReviewPriority}, []int64{reported.ID, calm.ID}},
			{models.ReviewFilter{Priority: models.LowReviewPriority}, []int64{loaded.ID}},
			{models.ReviewFilter{Kind: review.KindSource}, []int64{reported.ID}},
			{models.ReviewFilter{Kind: review.KindHeld}, nil},
			{models.ReviewFilter{Task: w.Task.Slug, Kind: review.KindClocks, Priority: models.HighReviewPriority},
				[]int64{reported.ID, calm.ID}},
			{models.ReviewFilter{Task: "another"}, nil},
		} {
			c.filter.Limit = 10
			var ids []int64
			for _, run := range modelstest.Got[[]models.FlaggedRun](t)(s.ReviewQueue(t.Context(), w.Admin, c.filter)) {
				ids = append(ids, run.RunID)
			}
			if diff := cmp.Diff(c.want, ids); diff != "" {
				t.Errorf("%+v (-want +got):\n%s", c.filter, diff)
			}
		}
		want := []models.ReviewCount{
			{TaskSlug: w.Task.Slug, TaskTitle: w.Task.Title, Kind: review.KindClocks, RunCount: 2},
			{TaskSlug: w.Task.Slug, TaskTitle: w.Task.Title, Kind: review.KindClocks, IsLowPriority: true, RunCount: 1},
			{TaskSlug: w.Task.Slug, TaskTitle: w.Task.Title, Kind: review.KindSource, RunCount: 1},
		}
		if diff := cmp.Diff(want, modelstest.Got[[]models.ReviewCount](t)(s.ReviewCounts(t.Context(),
			w.Admin))); diff != "" {
			t.Errorf("counts (-want +got):\n%s", diff)
		}
		if n := len(modelstest.Got[[]models.ReviewCount](t)(s.ReviewCounts(t.Context(),
			modelstest.Person(t, s, "Carl", accounts.RoleCreator)))); n != 0 {
			t.Errorf("another author counts %d kinds", n)
		}
	})
}
