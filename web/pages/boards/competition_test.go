package boards_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"warpboard/clients/go"
	"warpboard/evaluator/job"
	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/events"
	"warpboard/models/modelstest"
	"warpboard/models/submissions"
	"warpboard/web/popcorn/popcorntest"
	"warpboard/web/webtest"
)

// contestant is a person who takes part in a competition, with three ways to submit: browser, API, and popcorn-cli.
type contestant struct {
	accounts.User
	entrant string // name of the person's team, or of the person without a team
	browser *webtest.Browser
	api     *client.Client
	popcorn *popcorntest.Client
}

// contest is a scripted competition. To check the site's standings, it also records the best score of each entrant on
// each task.
type contest struct {
	*webtest.Site
	admin   accounts.User
	people  []contestant
	tasks   []catalog.Task
	event   events.Event
	random  *rand.Rand
	sent    int
	counted map[string]float64 // best scores before the freeze, by entrant and task
	frozen  map[string]float64 // best scores since the freeze, by entrant and task
}

func startContest(t *testing.T, people int) *contest {
	c := &contest{Site: webtest.Start(t), random: rand.New(rand.NewPCG(1, 2)), counted: map[string]float64{},
		frozen: map[string]float64{}}
	c.admin = modelstest.Person(t, c.Cfg.Store, "Organizer", accounts.RoleAdmin)
	for i := range people {
		user := modelstest.Person(t, c.Cfg.Store, fmt.Sprintf("Person %02d", i), accounts.RoleUser)
		c.people = append(c.people, contestant{user, user.Name, c.BrowserFor(user), c.API(user), c.Site.Popcorn(user)})
	}
	var slugs []string
	for _, name := range []string{"addition", "reduction", "softmax"} {
		c.tasks = append(c.tasks, modelstest.Task(t, c.Cfg.Store, c.admin, name, "CPU"))
		slugs = append(slugs, name)
	}
	c.closeAndInvite(&c.tasks[2])
	c.makeTeams()
	now := time.Now()
	e, err := c.Cfg.Store.Events.Create(t.Context(), c.admin,
		events.EventSettings{Title: "Finals", StartsAt: now.Add(-time.Hour), EndsAt: now.Add(time.Hour),
			PointsRuleText:   "5/3/1",
			EntrantsAreTeams: true, Tasks: slugs})
	if err != nil {
		t.Fatal(err)
	}
	c.event = e
	return c
}

// closeAndInvite makes a task visible only to members. All contestants join it with an invite code: a third each by
// browser, API, and popcorn-cli.
func (c *contest) closeAndInvite(task *catalog.Task) {
	c.T.Helper()
	in := task.Settings()
	in.Visibility = catalog.Members
	var err error
	if *task, err = c.Cfg.Store.Catalog.UpdateTask(c.T.Context(), c.admin, task.ID, in); err != nil {
		c.T.Fatal(err)
	}
	code := c.Invite(*task)
	for i, p := range c.people {
		switch i % 3 {
		case 0:
			webtest.WantStatus(c.T, p.browser.Post("/join", url.Values{"code": {code}}), http.StatusOK)
		case 1:
			_, err = p.api.JoinBoard(c.T.Context(), code)
		case 2:
			_, err = p.popcorn.Join(c.T.Context(), code)
		}
		if err != nil {
			c.T.Fatal(err)
		}
	}
}

// makeTeams puts the first six people into two teams.
func (c *contest) makeTeams() {
	c.T.Helper()
	admin := c.BrowserFor(c.admin)
	for i := range c.people[:6] {
		team := []string{"Kernels", "Warps"}[i%2]
		webtest.WantStatus(c.T, admin.Post("/operate/teams", url.Values{"team": {team}, "person": {c.people[i].Name}}),
			http.StatusOK)
		c.people[i].entrant = team
	}
}

// sends submits as a random contestant to a random task, and ends the run. Every ninth run fails. The scores of the
// others are recorded in into.
func (c *contest) sends(into map[string]float64) {
	c.T.Helper()
	c.sent++
	p, task := c.people[c.random.IntN(len(c.people))], c.tasks[c.random.IntN(len(c.tasks))]
	score := float64(100_000 + c.random.IntN(900_000))
	id := c.submits(p, task, fmt.Sprintf("// submission %d\n", c.sent))
	runs, err := c.Cfg.Store.Work.Runs(c.T.Context(), id)
	if err != nil || len(runs) != 1 {
		c.T.Fatal(runs, err)
	}
	if c.sent%9 == 0 {
		c.Fails(job.StageResult{Stage: job.StageTest, Status: job.StatusFail,
			Failure: &job.Failure{Reason: "A wrong answer."}})(runs[0])
		return
	}
	modelstest.Finish(c.T, c.Cfg.Store, runs[0], score)
	key := p.entrant + " " + task.Slug
	if best, has := into[key]; !has || score < best {
		into[key] = score
	}
}

func (c *contest) submits(p contestant, task catalog.Task, source string) int64 {
	c.T.Helper()
	switch c.sent % 3 {
	case 0:
		sub, err := p.api.Submit(c.T.Context(),
			client.NewSubmission{Task: task.Slug, Devices: []string{"CPU"}, Mode: job.ModeRanked, FileName: "a.cpp",
				Source: source})
		if err != nil {
			c.T.Fatal(err)
		}
		return sub.ID
	case 1:
		id, _, err := p.popcorn.Accept(c.T.Context(), task.Slug, "CPU", "leaderboard", "a.cpp", []byte(source))
		if err != nil {
			c.T.Fatal(err)
		}
		return id
	}
	resp := p.browser.Upload("/tasks/"+task.Slug+"/submit", "", "", nil,
		url.Values{"source": {source}, "device": {"CPU"}, "mode": {"ranked"}})
	webtest.WantStatus(c.T, resp, http.StatusOK)
	list, err := c.Cfg.Store.Submissions.Submissions(c.T.Context(), p.User,
		submissions.SubmissionFilter{UserID: p.ID, TaskID: task.ID, Limit: 1})
	if err != nil || len(list) != 1 {
		c.T.Fatal(list, err)
	}
	return list[0].ID
}

func (c *contest) sql(query string, args ...any) {
	c.T.Helper()
	if _, err := c.Cfg.Store.SQL().ExecContext(c.T.Context(), query, args...); err != nil {
		c.T.Fatal(err)
	}
}

// exported reads the standings through the API as a member, checks their points and ranks by computing them again, and
// returns the scores.
func (c *contest) exported() map[string]float64 {
	c.T.Helper()
	answer, err := c.people[0].api.EventStandings(c.T.Context(), c.event.Slug)
	if err != nil {
		c.T.Fatal(err)
	}
	results := map[string][]client.EventResult{}
	scores := map[string]float64{}
	for _, row := range answer.Standings {
		total := 0.0
		for _, r := range row.Results {
			results[r.Task] = append(results[r.Task], r)
			scores[row.Name+" "+r.Task] = r.ScoreNS
			total += append([]float64{5, 3, 1}, make([]float64, 12)...)[r.Place-1]
		}
		ahead := 0
		for _, other := range answer.Standings {
			if other.Points > row.Points {
				ahead++
			}
		}
		rank := ahead + 1
		if total == 0 {
			rank = 0
		}
		if total != row.Points || row.Rank != rank {
			c.T.Errorf("%s has %g points and rank %d, computed %g and %d", row.Name, row.Points, row.Rank, total, rank)
		}
	}
	for _, list := range results {
		for _, r := range list {
			ahead := 0
			for _, other := range list {
				if other.Place < r.Place {
					ahead++
				}
				if other.Place < r.Place && other.ScoreNS > r.ScoreNS {
					c.T.Errorf("%+v is ahead of %+v", other, r)
				}
			}
			if r.Place != ahead+1 {
				c.T.Errorf("%d are ahead of %+v", ahead, r)
			}
		}
	}
	return scores
}

func (c *contest) wants(when string, want map[string]float64) {
	c.T.Helper()
	if diff := cmp.Diff(want, c.exported()); diff != "" {
		c.T.Errorf("%s (-sent +exported):\n%s", when, diff)
	}
}

// TestACompetitionEndsWithStandingsThatAScriptRecomputes: three tasks, one of them closed, twelve people, two teams, 90
// submissions by browser, API and popcorn, a freeze, and a reveal step by step.
func TestACompetitionEndsWithStandingsThatAScriptRecomputes(t *testing.T) {
	c := startContest(t, 12)
	for range 60 {
		c.sends(c.counted)
	}
	c.wants("before the freeze", c.counted)
	c.sql("update events set frozen_at = $1 where id = $2", time.Now().UTC(), c.event.ID)
	for range 30 {
		c.sends(c.frozen)
	}
	c.wants("while frozen", c.counted)
	past := time.Now().Add(-time.Millisecond).UTC()
	c.sql("update events set ends_at = $1 where id = $2", past, c.event.ID)
	c.sql("update tasks set deadline = $1", past)
	final := maps.Clone(c.counted)
	for key, score := range c.frozen {
		if best, has := final[key]; !has || score < best {
			final[key] = score
		}
	}
	organizer, steps := c.BrowserFor(c.admin), 0
	for page := organizer.Page("/events/"+c.event.Slug, http.StatusOK); page.Find("#reveal").Length() > 0 &&
		steps < 20; steps++ {
		form := webtest.Fields(page.Find("#reveal form"))
		form.Set("who", "next")
		var twice errgroup.Group // two simultaneous requests, only one of which may reveal
		statuses := make(chan int, 2)
		for range cap(statuses) {
			twice.Go(func() error {
				statuses <- organizer.Post("/events/"+c.event.Slug+"/reveal", form).StatusCode
				return nil
			})
		}
		if _ = twice.Wait(); <-statuses+<-statuses != http.StatusOK+http.StatusConflict {
			t.Errorf("step %d: two at once do not reveal one", steps+1)
		}
		page = organizer.Page("/events/"+c.event.Slug, http.StatusOK)
		for key, score := range c.exported() {
			if score != final[key] && score != c.counted[key] {
				t.Errorf("after %d steps %s has %g", steps+1, key, score)
			}
		}
	}
	if steps < 2 || steps > 8 { // eight entrants: two teams and six people
		t.Errorf("the reveal took %d steps", steps)
	}
	c.wants("after the reveal", final)
}
