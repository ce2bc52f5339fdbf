package web

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/clients/go"
	"warpboard/evaluator/job"
	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/events"
	"warpboard/models/modelstest"
	"warpboard/models/submissions"
	"warpboard/web/popcorn/popcorntest"
)

// contestant is a person with the three ways in.
type contestant struct {
	accounts.User
	entrant string // the team's name, or the person's
	browser *browser
	api     *client.Client
	popcorn *popcorntest.Client
}

// contest is a scripted competition, and the test's own record of what was sent: the best score of each entrant on each task.
type contest struct {
	*testSite
	admin   accounts.User
	people  []contestant
	tasks   []catalog.Task
	event   events.Event
	random  *rand.Rand
	sent    int
	counted map[string]float64 // by entrant and task
	frozen  map[string]float64 // the same of what came since the freeze
}

func startContest(t *testing.T, people int) *contest {
	c := &contest{testSite: startSite(t), random: rand.New(rand.NewPCG(1, 2)), counted: map[string]float64{}, frozen: map[string]float64{}}
	c.admin = modelstest.Person(t, c.site.Store, "Organizer", accounts.RoleAdmin)
	for i := range people {
		user := modelstest.Person(t, c.site.Store, fmt.Sprintf("Person %02d", i), accounts.RoleUser)
		c.people = append(c.people, contestant{user, user.Name, c.browserFor(user), c.api(user), c.testSite.popcorn(user)})
	}
	var slugs []string
	for _, name := range []string{"addition", "reduction", "softmax"} {
		c.tasks = append(c.tasks, modelstest.Task(t, c.site.Store, c.admin, name, "CPU"))
		slugs = append(slugs, name)
	}
	c.closeAndInvite(&c.tasks[2])
	c.makeTeams()
	now := time.Now()
	e, err := c.site.Store.Events.Create(t.Context(), c.admin, events.Settings{Title: "Finals", StartsAt: now.Add(-time.Hour), EndsAt: now.Add(time.Hour), Points: "5/3/1", ByTeam: true, Tasks: slugs})
	if err != nil {
		t.Fatal(err)
	}
	c.event = e
	return c
}

// closeAndInvite makes a task one for members, whom a code lets in by all three ways.
func (c *contest) closeAndInvite(task *catalog.Task) {
	c.t.Helper()
	in := task.Settings()
	in.Visibility = catalog.Members
	var err error
	if *task, err = c.site.Store.Catalog.UpdateTask(c.t.Context(), c.admin, task.ID, in); err != nil {
		c.t.Fatal(err)
	}
	code := c.invite(*task)
	for i, p := range c.people {
		switch i % 3 {
		case 0:
			wantStatus(c.t, p.browser.post("/join", url.Values{"code": {code}}), http.StatusOK)
		case 1:
			_, err = p.api.Join(c.t.Context(), code)
		case 2:
			_, err = p.popcorn.Join(c.t.Context(), code)
		}
		if err != nil {
			c.t.Fatal(err)
		}
	}
}

// makeTeams puts the first six people into two teams.
func (c *contest) makeTeams() {
	c.t.Helper()
	admin := c.browserFor(c.admin)
	for i := range c.people[:6] {
		team := []string{"Kernels", "Warps"}[i%2]
		wantStatus(c.t, admin.post("/operate/teams", url.Values{"team": {team}, "person": {c.people[i].Name}}), http.StatusOK)
		c.people[i].entrant = team
	}
}

// sends has a person submit by one of the ways in, and the run end: each ninth fails.
func (c *contest) sends(into map[string]float64) {
	c.t.Helper()
	c.sent++
	p, task := c.people[c.random.IntN(len(c.people))], c.tasks[c.random.IntN(len(c.tasks))]
	score := float64(100_000 + c.random.IntN(900_000))
	id := c.submits(p, task, fmt.Sprintf("// submission %d\n", c.sent))
	runs, err := c.site.Store.Work.Runs(c.t.Context(), id)
	if err != nil || len(runs) != 1 {
		c.t.Fatal(runs, err)
	}
	if c.sent%9 == 0 {
		c.fails(job.StageResult{Stage: job.StageTest, Status: job.StatusFail, Failure: &job.Failure{Reason: "A wrong answer."}})(runs[0])
		return
	}
	modelstest.Finish(c.t, c.site.Store, runs[0], score)
	key := p.entrant + " " + task.Slug
	if best, has := into[key]; !has || score < best {
		into[key] = score
	}
}

func (c *contest) submits(p contestant, task catalog.Task, source string) int64 {
	c.t.Helper()
	switch c.sent % 3 {
	case 0:
		sub, err := p.api.Submit(c.t.Context(), client.NewSubmission{Task: task.Slug, Devices: []string{"CPU"}, Mode: job.ModeRanked, FileName: "a.cpp", Source: source})
		if err != nil {
			c.t.Fatal(err)
		}
		return sub.ID
	case 1:
		id, _, err := p.popcorn.Accept(c.t.Context(), task.Slug, "CPU", "leaderboard", "a.cpp", []byte(source))
		if err != nil {
			c.t.Fatal(err)
		}
		return id
	}
	resp := p.browser.upload("/tasks/"+task.Slug+"/submit", "", "", nil, url.Values{"source": {source}, "device": {"CPU"}, "mode": {"ranked"}})
	wantStatus(c.t, resp, http.StatusOK)
	list, err := c.site.Store.Submissions.Submissions(c.t.Context(), p.User, submissions.SubmissionFilter{UserID: p.ID, TaskID: task.ID, Limit: 1})
	if err != nil || len(list) != 1 {
		c.t.Fatal(list, err)
	}
	return list[0].ID
}

func (c *contest) sql(query string, args ...any) {
	c.t.Helper()
	if _, err := c.site.Store.SQL().ExecContext(c.t.Context(), query, args...); err != nil {
		c.t.Fatal(err)
	}
}

// exported reads the standings as a member does, recomputes all points and ranks from the places, and returns the scores.
func (c *contest) exported() map[string]float64 {
	c.t.Helper()
	answer, err := c.people[0].api.EventStandings(c.t.Context(), c.event.Slug)
	if err != nil {
		c.t.Fatal(err)
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
		if total != row.Points || row.Rank != ahead+1 {
			c.t.Errorf("%s has %g points and rank %d, computed %g and %d", row.Name, row.Points, row.Rank, total, ahead+1)
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
					c.t.Errorf("%+v is ahead of %+v", other, r)
				}
			}
			if r.Place != ahead+1 {
				c.t.Errorf("%d are ahead of %+v", ahead, r)
			}
		}
	}
	return scores
}

func (c *contest) wants(when string, want map[string]float64) {
	c.t.Helper()
	if diff := cmp.Diff(want, c.exported()); diff != "" {
		c.t.Errorf("%s (-sent +exported):\n%s", when, diff)
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
	organizer, steps := c.browserFor(c.admin), 0
	for page := organizer.page("/events/"+c.event.Slug, http.StatusOK); page.Find("#reveal").Length() > 0 && steps < 20; steps++ {
		page = document(t, organizer.post("/events/"+c.event.Slug+"/reveal", url.Values{"who": {"next"}}), http.StatusOK)
		for key, score := range c.exported() {
			if score != final[key] && score != c.counted[key] {
				t.Errorf("after %d steps %s has %g", steps+1, key, score)
			}
		}
	}
	if steps < 2 || steps > 8 { // two teams and six people
		t.Errorf("the reveal took %d steps", steps)
	}
	c.wants("after the reveal", final)
}
