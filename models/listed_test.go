package models_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

// listed returns the list of tasks as "people: leaders; place of the viewer" of the first board.
func listed(t *testing.T, s *models.Store, viewer accounts.User) string {
	t.Helper()
	board := modelstest.TaskSummaries(t, s, viewer)[0].Boards[0]
	var leaders []string
	for _, l := range board.Leaders {
		leaders = append(leaders, fmt.Sprintf("%d %s %g", l.Rank, l.UserName, l.ScoreNS))
	}
	return fmt.Sprintf("%d: %s; %d", board.PeopleCount, strings.Join(leaders, ", "), board.OwnRank.Rank)
}

// TestTheListOfTasksShowsWhatAnotherProcessChanged checks that a process does not use its cache of boards after another
// process has changed a board.
func TestTheListOfTasksShowsWhatAnotherProcessChanged(t *testing.T) {
	modelstest.Pair(t, func(t *testing.T, here, there *models.Store) {
		w, ctx := newWorld(t, here), t.Context()
		w.Score(t, here, w.Ann, 100)
		var fast work.Run
		for _, step := range []struct {
			what string
			do   func()
			want string
		}{
			{"nothing", func() {}, "1: 1 Ann 100; 0"},
			{"another person's run", func() { w.Score(t, here, w.Ben, 150) }, "2: 1 Ann 100, 2 Ben 150; 2"},
			{"a better run", func() { fast = w.Score(t, here, w.Ben, 80) }, "2: 1 Ben 80, 2 Ann 100; 1"},
			{"runs that others have between", func() { w.Score(t, there, w.Ann, 70); w.Score(t, there, w.Admin, 75) },
				"3: 1 Ann 70, 2 Root 75, 3 Ben 80; 3"},
			{"another name", func() {
				modelstest.Check(t,
					modelstest.Second(here.RenameUser(ctx, w.Ann, w.Ann.ID, "Anna")))
			}, "3: 1 Anna 70, 2 Root 75, 3 Ben 80; 3"},
			{"a disqualification", func() {
				modelstest.Check(t, modelstest.Second(here.Disqualify(ctx, w.Admin, fast.ID, "It knew the answers.")))
			}, "3: 1 Anna 70, 2 Root 75, 3 Ben 150; 3"},
			{"a run of the reader's own", func() { w.Score(t, there, w.Ben, 90) },
				"3: 1 Anna 70, 2 Root 75, 3 Ben 90; 3"},
			{"boards made again", func() { modelstest.Check(t, here.Boards.RebuildEntries(ctx)) },
				"3: 1 Anna 70, 2 Root 75, 3 Ben 90; 3"},
		} {
			step.do()
			for name, s := range map[string]*models.Store{"here": here, "there": there} {
				for range 2 {
					if diff := cmp.Diff(step.want, listed(t, s, w.Ben)); diff != "" {
						t.Errorf("%s, after %s:\n%s", name, step.what, diff)
					}
				}
				if first, _, _ := strings.Cut(step.want, ";"); listed(t, s, accounts.User{}) != first+"; 0" {
					t.Errorf("%s, after %s: a visitor reads %s", name, step.what, listed(t, s, accounts.User{}))
				}
			}
		}
		for name, viewer := range map[string]accounts.User{"a visitor": {}, "a person": w.Ben} {
			before := there.QueryCount()
			listed(t, there, viewer)
			if asked := there.QueryCount() - before; asked != 2 {
				t.Errorf("for %s a list of boards that no one changed asked %d questions, want 2: tasks and change numbers", name, asked)
			}
		}
	})
}
