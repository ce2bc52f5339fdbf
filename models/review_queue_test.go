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

// flagRun raises a flag of the site's, and says of the run how it was disturbed.
func flagRun(t *testing.T, s *models.Store, run work.Run, kind review.Kind, disturbed string) {
	t.Helper()
	for _, statement := range []string{
		fmt.Sprintf("insert into flags (run_id, kind, user_id, detail, created_at) values (%d, '%s', 0, 'a test', current_timestamp)", run.ID, kind),
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
		loaded, reported, calm := w.score(t, s, w.ann, 100), w.score(t, s, w.ben, 200), w.score(t, s, modelstest.Person(t, s, "Dora", accounts.RoleUser), 300)
		flagRun(t, s, loaded, review.Clocks, "another program used the GPU")
		flagRun(t, s, reported, review.Clocks, "another program used the GPU")
		flagRun(t, s, reported, review.Source, "another program used the GPU")
		flagRun(t, s, calm, review.Clocks, "")
		for _, c := range []struct {
			filter models.ReviewFilter
			want   []int64
		}{
			{models.ReviewFilter{}, []int64{loaded.ID, reported.ID, calm.ID}},
			{models.ReviewFilter{Priority: models.HighPriority}, []int64{reported.ID, calm.ID}},
			{models.ReviewFilter{Priority: models.LowPriority}, []int64{loaded.ID}},
			{models.ReviewFilter{Kind: review.Source}, []int64{reported.ID}},
			{models.ReviewFilter{Kind: review.Held}, nil},
			{models.ReviewFilter{Task: w.task.Slug, Kind: review.Clocks, Priority: models.HighPriority}, []int64{reported.ID, calm.ID}},
			{models.ReviewFilter{Task: "another"}, nil},
		} {
			c.filter.Limit = 10
			var ids []int64
			for _, run := range got[[]models.FlaggedRun](t)(s.ReviewQueue(t.Context(), w.admin, c.filter)) {
				ids = append(ids, run.RunID)
			}
			if diff := cmp.Diff(c.want, ids); diff != "" {
				t.Errorf("%+v (-want +got):\n%s", c.filter, diff)
			}
		}
		want := []models.ReviewCount{
			{TaskSlug: w.task.Slug, TaskTitle: w.task.Title, Kind: review.Clocks, Runs: 2},
			{TaskSlug: w.task.Slug, TaskTitle: w.task.Title, Kind: review.Clocks, Low: true, Runs: 1},
			{TaskSlug: w.task.Slug, TaskTitle: w.task.Title, Kind: review.Source, Runs: 1},
		}
		if diff := cmp.Diff(want, got[[]models.ReviewCount](t)(s.ReviewCounts(t.Context(), w.admin))); diff != "" {
			t.Errorf("counts (-want +got):\n%s", diff)
		}
		if n := len(got[[]models.ReviewCount](t)(s.ReviewCounts(t.Context(), modelstest.Person(t, s, "Carl", accounts.RoleCreator)))); n != 0 {
			t.Errorf("another author counts %d kinds", n)
		}
	})
}
