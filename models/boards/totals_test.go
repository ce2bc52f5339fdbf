package boards_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/modelstest"
)

// crowd is a test site with twelve additional people, who rank behind everyone else on a task's boards.
type crowd struct {
	modelstest.World
	others []accounts.User
}

func newCrowd(t *testing.T, s *models.Store) crowd {
	t.Helper()
	c := crowd{World: modelstest.NewWorld(t, s)}
	for i := range 12 {
		c.others = append(c.others, modelstest.Person(t, s, fmt.Sprintf("Other %02d", i), accounts.RoleUser))
	}
	return c
}

// on lets people end runs on all devices of a task, each twice as slow as the one before.
func (c crowd) on(t *testing.T, s *models.Store, task catalog.Task, people ...accounts.User) {
	t.Helper()
	ns := 1000.0
	for _, user := range append(people, c.others...) {
		for _, run := range modelstest.Submit(t, s, user, task) {
			modelstest.Finish(t, s, run, ns)
		}
		ns *= 2
	}
}

// totals lists the first people of a scope as "rank name points tasks medals records".
func totals(t *testing.T, s *models.Store, scope boards.PeopleTotalsQuery, most int) (out []string) {
	t.Helper()
	list := modelstest.Got[boards.PeopleTotals](t)(s.Boards.PeopleTotals(t.Context(), scope)).People
	named := modelstest.Got[[]boards.PersonTotalWithName](t)(s.Boards.AddPeopleNames(t.Context(), list[:min(len(list), most)], time.Time{}))
	for _, p := range named {
		out = append(out, fmt.Sprintf("%d %s %d of %d %v %d", p.Rank, p.UserName, p.Points, p.TaskCount, p.Medals,
			p.RecordCount))
	}
	return out
}

func TestPointsAddUpOverPublicTasks(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		c, ctx := newCrowd(t, s), t.Context()
		first, second := modelstest.Task(t, s, c.Admin, "first", "CPU", "H100-SXM", "H100-PCIe"),
			modelstest.Task(t, s, c.Admin, "second", "CPU")
		c.on(t, s, first, c.Ann, c.Ben)
		c.on(t, s, second, c.Ben, c.Ann)
		wantTotals := func(what, device string, want ...string) {
			t.Helper()
			if diff := cmp.Diff(want, totals(t, s, boards.PeopleTotalsQuery{Device: device}, len(want))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", what, diff)
			}
		}
		wantTotals("all devices", "", "1 Ann 180 of 2 [3 1 0] 3", "2 Ben 180 of 2 [1 3 0] 1",
			"3 Other 00 128 of 2 [0 0 4] 0")
		wantTotals("a family", "h100", "1 Ann 100 of 1 [2 0 0] 2", "2 Ben 80 of 1 [0 2 0] 0")
		wantTotals("a device", "H100-PCIe", "1 Ann 100 of 1 [1 0 0] 1", "2 Ben 80 of 1 [0 1 0] 0")
		wantTotals("a device of no board", "T4")
		if families := modelstest.Got[boards.PeopleTotals](t)(s.Boards.PeopleTotals(ctx,
			boards.PeopleTotalsQuery{})).DeviceFamilies; !cmp.Equal(families, []string{"CPU", "H100"}) {
			t.Errorf("the families are %v", families)
		}
		if _, err := s.Catalog.UpdateTask(ctx, c.Admin, first.ID,
			catalog.TaskSettings{Devices: []string{"H100-SXM"}}); err != nil {
			t.Fatal(err)
		}
		wantTotals("without boards that a task gave up", "", "1 Ann 180 of 2 [1 1 0] 1", "1 Ben 180 of 2 [1 1 0] 1")
		if _, err := s.Catalog.UpdateTask(ctx, c.Admin, second.ID,
			catalog.TaskSettings{Devices: []string{"CPU"}, Visibility: catalog.Hidden}); err != nil {
			t.Fatal(err)
		}
		wantTotals("without a task that is hidden", "", "1 Ann 100 of 1 [1 0 0] 1", "2 Ben 80 of 1 [0 1 0] 0")
	})
}

func TestPeopleTotalsFollowEveryChangeOfABoard(t *testing.T) {
	modelstest.Pair(t, func(t *testing.T, here, there *models.Store) {
		c, ctx := newCrowd(t, here), t.Context()
		c.on(t, here, c.Task, c.Ann)
		for _, step := range []struct {
			what string
			do   func()
			want string
		}{
			{"nothing", func() {}, "1 Ann 100 of 1 [1 0 0] 1; 2 Other 00 80 of 1 [0 1 0] 0"},
			{"another name", func() {
				modelstest.Check(t,
					modelstest.Second(there.RenameUser(ctx, c.Ann, c.Ann.ID, "Anna")))
			}, "1 Anna 100 of 1 [1 0 0] 1; 2 Other 00 80 of 1 [0 1 0] 0"},
			{"a tie", func() { c.Score(t, there, c.Ben, 1001) }, "1 Anna 90 of 1 [1 0 0] 1; 1 Ben 90 of 1 [1 0 0] 0"},
			{"a better run", func() { c.Score(t, here, c.Ben, 500) },
				"1 Ben 100 of 1 [1 0 0] 1; 2 Anna 80 of 1 [0 1 0] 0"},
		} {
			step.do()
			for name, s := range map[string]*models.Store{"here": here, "there": there} {
				if diff := cmp.Diff(step.want, strings.Join(totals(t, s, boards.PeopleTotalsQuery{}, 2),
					"; ")); diff != "" {
					t.Errorf("%s, after %s:\n%s", name, step.what, diff)
				}
				before := s.QueryCount()
				if totals(t, s, boards.PeopleTotalsQuery{}, 2); s.QueryCount()-before != 2 {
					t.Errorf("%s, after %s: again it asks %d questions, want 2: change numbers and names", name,
						step.what, s.QueryCount()-before)
				}
			}
		}
	})
}

func TestASeasonCountsTheRunsOfItsDays(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		c := newCrowd(t, s)
		begin := ended(t, s, c.Score(t, s, c.Ann, 500)).Add(time.Microsecond)
		c.on(t, s, c.Task, c.Ben)
		c.Score(t, s, c.Ben, 900)
		end := ended(t, s, c.Score(t, s, c.Ann, 450))
		c.Score(t, s, c.others[11], 100)
		season := func(from, until time.Time) string {
			return strings.Join(totals(t, s, boards.PeopleTotalsQuery{Season: boards.Season{Start: from, End: until}}, 2), "; ")
		}
		for what, test := range map[string]struct{ got, want string }{
			"all time": {season(time.Time{}, time.Time{}),
				"1 Other 11 100 of 1 [1 0 0] 1; 2 Ann 80 of 1 [0 1 0] 0"},
			"between two moments": {season(begin, end), "1 Ben 100 of 1 [1 0 0] 1; 2 Other 00 80 of 1 [0 1 0] 0"},
			"until a moment":      {season(time.Time{}, end), "1 Ann 100 of 1 [1 0 0] 1; 2 Ben 80 of 1 [0 1 0] 0"},
			"from a moment on": {season(begin, time.Time{}),
				"1 Other 11 100 of 1 [1 0 0] 1; 2 Ann 80 of 1 [0 1 0] 0"},
			"the last runs alone": {season(end, time.Time{}), "1 Other 11 10 of 1 [1 0 0] 1"},
			"before all runs":     {season(time.Time{}, begin.AddDate(0, 0, -1)), ""},
		} {
			if test.got != test.want {
				t.Errorf("%s: %q, want %q", what, test.got, test.want)
			}
		}
	})
}

// TestNewSoftwareLeavesEveryoneTheirPoints checks that entries measured with older software rank after the others, but
// keep points.
func TestNewSoftwareLeavesEveryoneTheirPoints(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		c, ctx := newCrowd(t, s), t.Context()
		c.on(t, s, c.Task, c.Ann, c.Ben)
		c.ScoreIn(t, s, c.others[0], 3000, "580")
		season := boards.Season{Start: time.Now().Add(-time.Hour), End: time.Now().Add(time.Hour)}
		for name, scope := range map[string]boards.PeopleTotalsQuery{"all time": {}, "a season": {Season: season}} {
			want := []string{"1 Other 00 100 of 1 [1 0 0] 1", "2 Ann 80 of 1 [0 1 0] 0", "3 Ben 64 of 1 [0 0 1] 0"}
			if diff := cmp.Diff(want, totals(t, s, scope, 3)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
		own := modelstest.Got[[]boards.DeviceFamilyTotal](t)(s.Boards.TotalsOf(ctx, c.Ann.ID))
		if len(own) == 0 || own[0].Points != 80 {
			t.Errorf("Ann's page has the points %+v", own)
		}
		key := boards.BoardKey{VersionID: c.Task.VersionID, Device: "CPU"}
		list := modelstest.Got[map[boards.BoardKey]boards.BoardSummary](t)(s.Boards.SummariesOf(ctx, c.Ann.ID, []int64{key.VersionID}))
		if list[key].OwnRank.Rank != 2 {
			t.Errorf("a list of tasks gives Ann the place %+v", list[key].OwnRank)
		}
	})
}

// TestAPersonsPointsAreThoseOfTheList checks that TotalsOf, which reads only one person's entries, and PeopleTotals
// return the same points.
func TestAPersonsPointsAreThoseOfTheList(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		c, ctx := newCrowd(t, s), t.Context()
		task := modelstest.Task(t, s, c.Admin, "first", "CPU", "H100-SXM", "H100-PCIe")
		c.on(t, s, task, c.Ann, c.Ben)
		held := ended(t, s, c.Score(t, s, c.Ben, 800))
		c.Score(t, s, c.Ben, 700) // beats their own record
		c.on(t, s, c.Task)
		people := append([]accounts.User{c.Ann, c.Ben}, c.others...)
		for _, user := range people {
			own := modelstest.Got[[]boards.DeviceFamilyTotal](t)(s.Boards.TotalsOf(ctx, user.ID))
			for _, f := range own {
				list := modelstest.Got[boards.PeopleTotals](t)(s.Boards.PeopleTotals(ctx,
					boards.PeopleTotalsQuery{Device: f.Family}))
				want := list.People[list.IndexOfPerson(user.ID)]
				want.Rank, want.Tied = 0, false
				if diff := cmp.Diff(want, f.PersonTotal); diff != "" {
					t.Errorf("%s on %q (-list +page):\n%s", user.Name, f.Family, diff)
				}
				if user.ID == c.Ben.ID && f.Family == "" && !f.OldestRecordSince.Equal(db.NormalizeTime(held)) {
					t.Errorf("Ben holds his record since %v, want %v", f.OldestRecordSince, held)
				}
			}
			if last := user.ID == c.others[11].ID; last != (len(own) == 0) || !last && len(own) != 3 {
				t.Errorf("%s has points on %d families", user.Name, len(own))
			}
		}
	})
}

// TestAPersonsPointsAreThoseOfALongBoard compares TotalsOf and PeopleTotals on a board with more entries than places
// with points, where many entries share a rank.
func TestAPersonsPointsAreThoseOfALongBoard(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		modelstest.Got[modelstest.FilledBoard](t)(modelstest.Fill(t.Context(), s, 1500))
		list := modelstest.Got[boards.PeopleTotals](t)(s.Boards.PeopleTotals(t.Context(), boards.PeopleTotalsQuery{}))
		for _, want := range list.People {
			want.Rank, want.Tied = 0, false
			own := modelstest.Got[[]boards.DeviceFamilyTotal](t)(s.Boards.TotalsOf(t.Context(), want.UserID))
			all := slices.IndexFunc(own, func(f boards.DeviceFamilyTotal) bool { return f.Family == "" })
			if all < 0 {
				t.Errorf("the page of person %d has no points", want.UserID)
			} else if diff := cmp.Diff(want, own[all].PersonTotal); diff != "" {
				t.Errorf("person %d (-list +page):\n%s", want.UserID, diff)
			}
		}
	})
}
