package models_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/events"
	"warpboard/models/modelstest"
)

func TestASuiteComparesPeopleWithTheBaselines(t *testing.T) {
	eachContest(t, func(c *contest) {
		tagged := func(name string, baseline float64) catalog.Task {
			return modelstest.Tagged(t, c.Store, c.Admin, name, "level1", baseline)
		}
		first, second, bare := tagged("one", 1000), tagged("two", 1000), tagged("four", 0)
		tagged("three", 1000)
		c.plays(c.Ann, first, 500)
		c.plays(c.Ann, second, 2000)
		c.plays(c.Ben, first, 250)
		c.plays(c.Ben, second, 500)
		c.plays(c.Ben, bare, 10)
		suite := modelstest.Got[events.Suite](t)(c.SuiteOfTag(t.Context(), c.Ann, "level1", models.SuiteQuery{}))
		if suite.Device != "CPU" || suite.BaselineName != "PyTorch" || len(suite.Boards) != 4 || len(suite.Rows) != 2 {
			t.Fatalf("%+v", suite)
		}
		var got []string
		for _, row := range suite.Rows {
			got = append(got, fmt.Sprintf("%s %.2f %.3f %.2f %.2f %.2f", row.Name, row.SolvedShare(), row.Geomean, row.FastP(0), row.FastP(1), row.FastP(4)))
		}
		// A task that no one solved counts in SolvedShare and FastP. A task without a baseline does not count in FastP.
		want := []string{"Ben 0.75 2.828 0.67 0.67 0.33", "Ann 0.50 1.000 0.67 0.33 0.00"}
		if !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
		_, err := c.SuiteOfTag(t.Context(), c.Ann, "level2", models.SuiteQuery{})
		modelstest.WantKind(t, err, db.NotFound)
		_, err = c.SuiteOfTag(t.Context(), c.Ann, "level1", models.SuiteQuery{Device: "H200"})
		modelstest.WantKind(t, err, db.NotFound)
		other := modelstest.Got[events.Suite](t)(c.SuiteOfTag(t.Context(), c.Ann, "level1", models.SuiteQuery{BaselineName: "none"}))
		if row := other.Rows[0]; row.FastP(0) != 0 || row.Geomean != 0 {
			t.Errorf("without such a baseline: %+v", row)
		}
	})
}

// TestStandingsAreReadAsTheyWere checks that standings at a past time use only runs that had ended by then.
func TestStandingsAreReadAsTheyWere(t *testing.T) {
	eachContest(t, func(c *contest) {
		c.in.FrozenAt = nil
		e := c.create()
		at := func(minutes int) time.Time { return c.in.StartsAt.Add(time.Duration(minutes) * time.Minute) }
		for minutes, id := range map[int]int64{10: c.plays(c.Ann, c.Task, 3000).ID, 20: c.plays(c.Ben, c.Task, 2000).ID, 30: c.plays(c.Ann, c.Task, 1000).ID} {
			_, err := c.SQL().ExecContext(t.Context(), "update bests set achieved_at = $1 where run_id = $2", db.NormalizeTime(at(minutes)), id)
			modelstest.Check(t, err)
		}
		tasks := modelstest.Got[[]catalog.Task](t)(c.Events.Tasks(t.Context(), e.ID))
		for minutes, want := range map[int]string{5: "", 15: "Ann 3000 5; ", 25: "Ben 2000 5; Ann 3000 3; ", 35: "Ann 1000 5; Ben 2000 3; "} {
			st := modelstest.Got[events.Standings](t)(c.EventStandings(t.Context(), e, tasks, "", at(minutes)))
			got := ""
			for _, row := range st.Rows {
				got += fmt.Sprintf("%s %v %v; ", row.Name, row.Results[1].ScoreNS, row.Points)
			}
			if got != want {
				t.Errorf("after %d minutes: %q, want %q", minutes, got, want)
			}
		}
	})
}

func TestACloneHasCopiesOfTheTasksAndNoRuns(t *testing.T) {
	eachContest(t, func(c *contest) {
		e := c.create()
		c.plays(c.Ann, c.Task, 1000)
		start := c.now.Add(48 * time.Hour)
		made := modelstest.Got[events.Event](t)(c.CloneEvent(t.Context(), c.Admin, e.Slug, "Summer Cup", start))
		if made.Slug != "summer-cup" || !made.EndsAt.Equal(start.Add(e.EndsAt.Sub(e.StartsAt))) || made.PointsRuleText != e.PointsRuleText ||
			!made.FrozenAt.Equal(start.Add(e.FrozenAt.Sub(e.StartsAt))) {
			t.Errorf("%+v", made)
		}
		tasks := modelstest.Got[[]catalog.Task](t)(c.Events.Tasks(t.Context(), made.ID))
		if len(tasks) != 2 || tasks[0].Slug != "reduce-2" || tasks[1].Slug != "vectoradd-2" || tasks[1].CurrentVisibility() != catalog.Hidden ||
			!tasks[1].Deadline.Equal(made.EndsAt) {
			t.Errorf("%+v", tasks)
		}
		if st := modelstest.Got[events.Standings](t)(c.EventStandings(t.Context(), made, tasks, "", time.Time{})); len(st.Rows) != 0 {
			t.Errorf("its standings: %+v", st.Rows)
		}
		for _, refused := range []struct {
			who   accounts.User
			title string
			start time.Time
			kind  db.ErrorKind
		}{
			{c.Admin, "Summer Cup", start, db.Conflict}, {c.Admin, "Past Cup", c.now.Add(-time.Hour), db.Invalid},
			{c.Admin, "???", start, db.Invalid}, {c.Ann, "My Cup", start, db.Forbidden},
		} {
			_, err := c.CloneEvent(t.Context(), refused.who, e.Slug, refused.title, refused.start)
			modelstest.WantKind(t, err, refused.kind)
		}
		all := modelstest.Got[[]catalog.Task](t)(c.Catalog.Tasks(t.Context(), c.Admin))
		if len(all) != 4 {
			t.Errorf("refused clones left tasks: %d", len(all))
		}
	})
}

// TestAPastTimeOfAnEventIsAWholeMinute checks that past times are rounded down to the minute, so that many requested
// times share one cached result.
func TestAPastTimeOfAnEventIsAWholeMinute(t *testing.T) {
	eachContest(t, func(c *contest) {
		c.in.FrozenAt = nil
		e := c.create()
		minute := e.StartsAt.Truncate(time.Minute).Add(10 * time.Minute)
		run := c.plays(c.Ann, c.Task, 3000).ID
		_, err := c.SQL().ExecContext(t.Context(), "update bests set achieved_at = $1 where run_id = $2", db.NormalizeTime(minute.Add(30*time.Second)), run)
		modelstest.Check(t, err)
		// A later run with older software does not count, as on the board.
		_, err = c.SQL().ExecContext(t.Context(), `insert into bests (version_id, device, user_id, run_id, submission_id, age, score_ns, tries, achieved_at)
			select version_id, device, user_id, -run_id, submission_id, age + 1, 1, tries, $1 from bests where run_id = $2`, db.NormalizeTime(minute.Add(40*time.Second)), run)
		modelstest.Check(t, err)
		*c.now = e.EndsAt.Add(time.Hour)
		read := func(at, want time.Time, rows int) (queries int64) {
			t.Helper()
			before := c.QueryCount()
			seen := modelstest.Got[models.VisibleEvent](t)(c.EventForViewer(t.Context(), c.Ann, e.Slug, "", at))
			if !seen.StandingsAt.Equal(want) || len(seen.Standings.Rows) != rows {
				t.Errorf("at %v: %d rows at %v, want %d at %v", at, len(seen.Standings.Rows), seen.StandingsAt, rows,
					want)
			}
			return c.QueryCount() - before
		}
		first := read(minute, minute, 0)
		if again := read(minute.Add(time.Minute-time.Nanosecond), minute, 0); again >= first {
			t.Errorf("the same minute takes %d queries again, after %d", again, first)
		}
		read(minute.Add(time.Minute), minute.Add(time.Minute), 1)
		later := modelstest.Got[models.VisibleEvent](t)(c.EventForViewer(t.Context(), c.Ann, e.Slug, "", minute.Add(time.Minute)))
		if !slices.ContainsFunc(later.Standings.Rows[0].Results, func(r events.EntrantBoardResult) bool { return r.RunID == run && r.Rank == 1 }) {
			t.Errorf("the results are %+v, want run %d", later.Standings.Rows[0].Results, run)
		}
		read(e.StartsAt.AddDate(-9, 0, 0), e.StartsAt, 0)
		read(e.EndsAt.AddDate(9, 0, 0), e.EndsAt, 1)
		*c.now = minute.Add(90 * time.Second)
		read(e.EndsAt, minute.Add(time.Minute), 1)
	})
}
