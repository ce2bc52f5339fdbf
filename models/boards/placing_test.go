package boards_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/modelstest"
)

// TestPlacingsAreOnBoardsThatTheViewerMaySee lists a person's entries with their ranks, page by page. Each page costs
// two queries.
func TestPlacingsAreOnBoardsThatTheViewerMaySee(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		ctx := t.Context()
		owner := modelstest.Person(t, s, "Cora", accounts.RoleCreator)
		ann, ben := modelstest.Person(t, s, "Ann", accounts.RoleUser), modelstest.Person(t, s, "Ben", accounts.RoleUser)
		first := modelstest.Task(t, s, owner, "first", "CPU", "H200")
		second := modelstest.Task(t, s, owner, "second", "CPU")
		scores := map[int64][]float64{ann.ID: {10, 30}, ben.ID: {20, 20}}
		for _, user := range []accounts.User{ann, ben} {
			for i, run := range modelstest.Submit(t, s, user, first) {
				modelstest.Finish(t, s, run, scores[user.ID][i])
			}
		}
		modelstest.Finish(t, s, modelstest.Submit(t, s, ben, second)[0], 5)
		modelstest.Finish(t, s, modelstest.Submit(t, s, ann, second)[0], 5)
		hidden := catalog.TaskSettings{Devices: []string{"CPU"}, Visibility: catalog.Hidden}
		if _, err := s.Catalog.UpdateTask(ctx, owner, second.ID, hidden); err != nil {
			t.Fatal(err)
		}
		list := func(viewer accounts.User, offset, limit int) (out []string, more bool) {
			t.Helper()
			before := s.QueryCount()
			placings, more, err := s.Boards.PersonEntries(ctx, viewer, ann.ID, offset, limit)
			if err != nil || s.QueryCount() > before+2 {
				t.Errorf("%v in %d queries", err, s.QueryCount()-before)
			}
			for _, p := range placings {
				out = append(out, fmt.Sprintf("%s %s %d", p.TaskSlug, p.Device, p.Rank))
			}
			return out, more
		}
		for name, c := range map[string]struct {
			viewer        accounts.User
			offset, limit int
			want          []string
			more          bool
		}{
			"a visitor": {accounts.User{}, 0, 10, []string{"first CPU 1", "first H200 2"}, false},
			// Both people tie on the board of "second", so the rank is 1.
			"the task's owner":  {owner, 0, 10, []string{"second CPU 1", "first CPU 1", "first H200 2"}, false},
			"an admin's page":   {accounts.User{ID: -1, Role: accounts.RoleAdmin}, 1, 1, []string{"first CPU 1"}, true},
			"beyond the last":   {accounts.User{}, 2, 10, nil, false},
			"a negative offset": {accounts.User{}, -3, 1, []string{"first CPU 1"}, true},
		} {
			got, more := list(c.viewer, c.offset, c.limit)
			if diff := cmp.Diff(c.want, got); diff != "" || more != c.more {
				t.Errorf("%s: more %v\n%s", name, more, diff)
			}
		}
		// the task no longer lists H200
		if _, err := s.Catalog.UpdateTask(ctx, owner, first.ID,
			catalog.TaskSettings{Devices: []string{"CPU"}}); err != nil {
			t.Fatal(err)
		}
		if got, _ := list(accounts.User{}, 0, 10); len(got) != 1 {
			t.Errorf("after a board was given up: %v", got)
		}
	})
}
