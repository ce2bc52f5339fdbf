package models_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/events"
	"warpboard/models/modelstest"
	"warpboard/models/quota"
	"warpboard/models/submissions"
	"warpboard/models/work"
)

// contest is a test site with a clock that tests can set, two tasks, and the settings of an event that lasts an hour.
type contest struct {
	world
	*models.Store
	t      *testing.T
	now    *time.Time
	cleo   accounts.User
	second catalog.Task
	in     events.EventSettings
}

// eachContest runs a test on both databases, by a clock that it can set.
func eachContest(t *testing.T, fn func(c *contest)) {
	now := time.Now().UTC().Truncate(time.Second)
	begin := now
	modelstest.EachConfig(t, models.Config{Now: func() time.Time { return now }}, func(t *testing.T, s *models.Store) {
		now = begin
		c := &contest{world: newWorld(t, s), Store: s, t: t, now: &now}
		c.cleo = modelstest.Person(t, s, "Cleo", accounts.RoleUser)
		c.second = modelstest.Task(t, s, c.Admin, "reduce", "CPU")
		frozen := now.Add(40 * time.Minute)
		c.in = events.EventSettings{Title: "Winter Cup", StartsAt: now.Add(-time.Minute), EndsAt: now.Add(time.Hour),
			FrozenAt: &frozen, PointsRuleText: "5/3/1",
			Tasks: []string{c.second.Slug, c.Task.Slug}}
		fn(c)
	})
}

func (c *contest) create() events.Event {
	c.t.Helper()
	return modelstest.Got[events.Event](c.t)(c.Events.Create(c.t.Context(), c.Admin, c.in))
}

// plays submits a run and brings it to its end.
func (c *contest) plays(user accounts.User, task catalog.Task, ns float64) work.Run {
	c.t.Helper()
	run := modelstest.Submit(c.t, c.Store, user, task)[0]
	modelstest.Finish(c.t, c.Store, run, ns)
	return modelstest.Got[work.Run](c.t)(c.Work.Run(c.t.Context(), run.ID))
}

// table returns the standings as "rank name: points = total", with "=" after a rank or points that others share.
func (c *contest) table(e events.Event) (list []string) {
	c.t.Helper()
	tasks := modelstest.Got[[]catalog.Task](c.t)(c.Events.Tasks(c.t.Context(), e.ID))
	st := modelstest.Got[events.Standings](c.t)(c.EventStandings(c.t.Context(), e, tasks, "", time.Time{}))
	tie := map[bool]string{true: "="}
	for _, row := range st.Rows {
		var each []string
		for _, r := range row.Results {
			each = append(each, fmt.Sprint(r.Points)+tie[r.Tied])
		}
		list = append(list, fmt.Sprintf("%d%s %s: %s = %g", row.Rank, tie[row.Tied], row.Name,
			strings.Join(each, " + "), row.Points))
	}
	return list
}

func (c *contest) wantTable(e events.Event, want ...string) {
	c.t.Helper()
	if diff := cmp.Diff(want, c.table(e)); diff != "" {
		c.t.Errorf("standings (-want +got):\n%s", diff)
	}
}

// TestStandingsAddUpPointsOfAllBoards checks the points by rank, by a formula, and by ratio, with ties and with teams.
func TestStandingsAddUpPointsOfAllBoards(t *testing.T) {
	eachContest(t, func(c *contest) {
		e := c.create()
		c.plays(c.Ann, c.second, 100)
		c.plays(c.Ben, c.second, 200)
		c.plays(c.cleo, c.second, 400)
		c.plays(c.Ann, c.Task, 1000)
		c.plays(c.Ben, c.Task, 1001) // too close to 1000 for a difference, so both tie
		c.plays(c.cleo, c.Task, 2000)
		c.wantTable(e, "1 Ann: 5 + 5= = 10", "2 Ben: 3 + 5= = 8", "3 Cleo: 1 + 1 = 2")
		e.PointsRuleText = "10/place"
		c.wantTable(e, "1 Ann: 10 + 10= = 20", "2 Ben: 5 + 10= = 15", "3 Cleo: 3.33 + 3.33 = 6.66")
		e.PointsRuleText = "1/1/1"
		c.wantTable(e, "1= Ann: 1 + 1= = 2", "1= Ben: 1 + 1= = 2", "1= Cleo: 1 + 1 = 2")
		e.PointsRuleText = "ratio"
		c.wantTable(e, "1 Ann: 100 + 100= = 200", "2 Ben: 50 + 99.9= = 149.9", "3 Cleo: 25 + 50 = 75")
		e.PointsRuleText, e.EntrantsAreTeams = "5/3/1", true
		for _, user := range []accounts.User{c.Ann, c.Ben} {
			modelstest.Check(t, c.Quotas.SetTeam(t.Context(), c.Admin,
				quota.TeamChange{Name: "Kernels", PersonID: user.ID}))
		}
		// the second entrant after the team, although her runs are third
		c.wantTable(e, "1 Kernels: 5 + 5 = 10", "2 Cleo: 3 + 3 = 6")
		tasks := modelstest.Got[[]catalog.Task](t)(c.Events.Tasks(t.Context(), e.ID))
		if st := modelstest.Got[events.Standings](t)(c.EventStandings(t.Context(), e, tasks,
			"H200", time.Time{})); len(st.Rows)+len(st.Boards) != 0 {
			t.Errorf("of a device without boards: %+v", st)
		}
	})
}

// TestStandingsFollowEachBoard checks that standings show the changes of each board, although results of unchanged
// boards are cached.
func TestStandingsFollowEachBoard(t *testing.T) {
	eachContest(t, func(c *contest) {
		e := c.create()
		c.plays(c.Ann, c.second, 100)
		first := c.plays(c.Ben, c.Task, 1000)
		c.wantTable(e, "1= Ann: 5 + 0 = 5", "1= Ben: 0 + 5 = 5")
		c.plays(c.cleo, c.Task, 500)
		c.wantTable(e, "1= Ann: 5 + 0 = 5", "1= Cleo: 0 + 5 = 5", "3 Ben: 0 + 3 = 3")
		modelstest.Got[[]boards.ChangedBoard](c.t)(c.RenameUser(t.Context(), c.Admin, c.cleo.ID, "Zoe"))
		c.wantTable(e, "1= Ann: 5 + 0 = 5", "1= Zoe: 0 + 5 = 5", "3 Ben: 0 + 3 = 3")
		modelstest.Got[[]boards.ChangedBoard](c.t)(c.DeleteSubmission(t.Context(), c.Admin, first.SubmissionID,
			"It was sent twice."))
		c.wantTable(e, "1= Ann: 5 + 0 = 5", "1= Zoe: 0 + 5 = 5")
	})
}

// TestAnEventThatIsOverLeavesTasksOpenThatWereOpenedAgain checks that changing the text of an ended event does not
// close a task that was reopened after it.
func TestAnEventThatIsOverLeavesTasksOpenThatWereOpenedAgain(t *testing.T) {
	eachContest(t, func(c *contest) {
		e := c.create()
		*c.now = c.in.EndsAt.Add(time.Hour)
		settings := modelstest.Got[catalog.Task](c.t)(c.Catalog.TaskByID(c.t.Context(), c.second.ID)).Settings()
		settings.Deadline = nil
		modelstest.Got[catalog.Task](c.t)(c.Catalog.UpdateTask(c.t.Context(), c.Admin, c.second.ID, settings))
		c.in.Description = "Thanks to all."
		modelstest.Got[events.Event](c.t)(c.Events.Update(c.t.Context(), c.Admin, e.Slug, c.in))
		if task := modelstest.Got[catalog.Task](c.t)(c.Catalog.TaskByID(c.t.Context(),
			c.second.ID)); task.Deadline != nil {
			c.t.Errorf("the task closes at %s", task.Deadline)
		}
	})
}

func TestPointsRulesAreNumbersAndShort(t *testing.T) {
	for _, text := range []string{"NaN", "5/nan/1", "1e400", strings.Repeat("1/", 1000) + "1"} {
		if _, err := events.ParsePointsRule(text); db.KindOf(err) != db.Invalid {
			t.Errorf("%.20s: %v", text, err)
		}
	}
}

func (c *contest) submit(user accounts.User, key string) error {
	_, _, err := c.Submissions.Submit(c.t.Context(),
		submissions.NewSubmission{User: user, TaskID: c.Task.ID, Devices: []string{"CPU"}, Mode: job.ModeTest,
			Source: []byte(key), Via: "test"})
	return err
}

// TestAnEventTakesSubmissionsFromItsStartToTheLastMoment checks, with the server's clock, that submissions are accepted
// from the start until just before the end.
func TestAnEventTakesSubmissionsFromItsStartToTheLastMoment(t *testing.T) {
	eachContest(t, func(c *contest) {
		c.in.StartsAt = c.now.Add(time.Minute)
		c.create()
		for _, moment := range []struct {
			at    time.Time
			taken bool
			says  string
		}{
			{c.in.StartsAt.Add(-time.Microsecond), false,
				"The event Winter Cup starts at " + c.in.StartsAt.Format(time.DateTime) + " UTC."},
			{c.in.StartsAt, true, ""},
			{c.in.EndsAt.Add(-time.Second), true, ""},
			{c.in.EndsAt.Add(-time.Microsecond), true, ""},
			{c.in.EndsAt, false, "The deadline of "},
		} {
			*c.now = moment.at
			if err := c.submit(c.Ann, moment.at.String()); (err == nil) != moment.taken ||
				err != nil && (db.KindOf(err) != db.Forbidden || !strings.Contains(err.Error(), moment.says)) {
				t.Errorf("at %s: %v", moment.at, err)
			}
		}
	})
}

// TestBadEventsAreRefusedWhole checks that invalid settings are refused without creating an event or changing its
// tasks.
func TestBadEventsAreRefusedWhole(t *testing.T) {
	eachContest(t, func(c *contest) {
		creator := modelstest.Person(t, c.Store, "Eve", accounts.RoleCreator)
		good := c.in
		for name, bad := range map[string]struct {
			by   accounts.User
			kind db.ErrorKind
			do   func(in *events.EventSettings)
		}{
			"by a person":          {c.Ann, db.Forbidden, func(*events.EventSettings) {}},
			"another's task":       {creator, db.Forbidden, func(*events.EventSettings) {}},
			"no title":             {c.Admin, db.Invalid, func(in *events.EventSettings) { in.Title = " " }},
			"an address of a page": {c.Admin, db.Invalid, func(in *events.EventSettings) { in.Title = "New" }},
			"no task":              {c.Admin, db.Invalid, func(in *events.EventSettings) { in.Tasks = nil }},
			"an unknown task": {c.Admin, db.NotFound,
				func(in *events.EventSettings) { in.Tasks = []string{c.Task.Slug, "nothing"} }},
			"an end before start": {c.Admin, db.Invalid, func(in *events.EventSettings) { in.EndsAt = in.StartsAt }},
			"an end that is over": {c.Admin, db.Invalid,
				func(in *events.EventSettings) { in.FrozenAt, in.EndsAt = nil, *c.now }},
			"a freeze after it": {c.Admin, db.Invalid, func(in *events.EventSettings) { in.FrozenAt = &in.EndsAt }},
			"an unknown rule": {c.Admin, db.Invalid,
				func(in *events.EventSettings) { in.PointsRuleText = "5/x" }},
			"a formula of nothing": {c.Admin, db.Invalid,
				func(in *events.EventSettings) { in.PointsRuleText = "place + speed" }},
			"a division by zero": {c.Admin, db.Invalid,
				func(in *events.EventSettings) { in.PointsRuleText = "1/(place-3)" }},
			"a negative number": {c.Admin, db.Invalid,
				func(in *events.EventSettings) { in.PointsRuleText = "5/-1" }},
			"no start": {c.Admin, db.Invalid,
				func(in *events.EventSettings) { in.StartsAt = time.Time{} }},
			"a title without words": {c.Admin, db.Invalid, func(in *events.EventSettings) { in.Title = "?!" }},
		} {
			in := good
			bad.do(&in)
			_, err := c.Events.Create(t.Context(), bad.by, in)
			if db.KindOf(err) != bad.kind {
				t.Errorf("%s: %v", name, err)
			}
		}
		if list := modelstest.Got[[]events.EventRow](t)(c.Events.List(t.Context())); len(list) != 0 {
			t.Errorf("events: %+v", list)
		}
		if task := modelstest.Got[catalog.Task](t)(c.Catalog.TaskByID(t.Context(), c.Task.ID)); task.Deadline != nil {
			t.Errorf("a refused event set a deadline: %v", task.Deadline)
		}
	})
}

// TestATaskIsInOneEventAtATime checks that a task of an unfinished event cannot join another, and that the error names
// the first event.
func TestATaskIsInOneEventAtATime(t *testing.T) {
	eachContest(t, func(c *contest) {
		c.create()
		if task := modelstest.Got[catalog.Task](t)(c.Catalog.TaskByID(t.Context(),
			c.second.ID)); task.Deadline == nil || !task.Deadline.Equal(c.in.EndsAt) {
			t.Errorf("the deadline of a task is %v", task.Deadline)
		}
		other := c.in
		other.Title, other.Tasks = "Spring Cup", []string{c.second.Slug}
		if _, err := c.Events.Create(t.Context(), c.Admin, other); db.KindOf(err) != db.Conflict ||
			!strings.Contains(err.Error(), "Winter Cup") {
			t.Errorf("a second event of one task: %v", err)
		}
		again := c.in
		if _, err := c.Events.Create(t.Context(), c.Admin, again); db.KindOf(err) != db.Conflict {
			t.Errorf("a second event of one title: %v", err)
		}
		c.in.EndsAt, c.in.Tasks = c.in.EndsAt.Add(time.Hour), []string{c.Task.Slug}
		if _, err := c.Events.Update(t.Context(), c.Ann, "winter-cup", c.in); db.KindOf(err) != db.Forbidden {
			t.Errorf("changed by a person: %v", err)
		}
		modelstest.Got[events.Event](t)(c.Events.Update(t.Context(), c.Admin, "winter-cup", c.in))
		if task := modelstest.Got[catalog.Task](t)(c.Catalog.TaskByID(t.Context(),
			c.Task.ID)); !task.Deadline.Equal(c.in.EndsAt) {
			t.Errorf("the deadline did not follow: %v", task.Deadline)
		}
		modelstest.Got[events.Event](t)(c.Events.Create(t.Context(), c.Admin, other))
	})
}

// TestStandingsReadOnlyBoardsThatChanged checks that standings are read from the cache for unchanged boards, because an
// event may have thousands of entries.
func TestStandingsReadOnlyBoardsThatChanged(t *testing.T) {
	eachContest(t, func(c *contest) {
		e := c.create()
		c.plays(c.Ann, c.second, 100)
		c.plays(c.Ben, c.Task, 1000)
		c.wantTable(e, "1= Ann: 5 + 0 = 5", "1= Ben: 0 + 5 = 5")
		// Delete entries without changing the board's change number: the cached ones must be used.
		_, err := c.SQL().ExecContext(t.Context(), "delete from entries where version_id = $1", c.second.VersionID)
		modelstest.Check(t, err)
		c.plays(c.cleo, c.Task, 500)
		before := c.QueryCount()
		c.wantTable(e, "1= Ann: 5 + 0 = 5", "1= Cleo: 0 + 5 = 5", "3 Ben: 0 + 3 = 3")
		if asked := c.QueryCount() - before; asked > 3 { // for the tasks, the change numbers, and one board
			t.Errorf("%d queries", asked)
		}
	})
}
