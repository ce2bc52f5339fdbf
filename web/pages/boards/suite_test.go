package boards_test

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"warpboard/clients/go"
	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/web/webtest"
)

// newSuite returns a scene with twelve additional tasks, on which Ada and Grace have kernels.
func newSuite(t *testing.T) (s *webtest.Scene, grace accounts.User) {
	s = webtest.NewScene(t)
	grace = modelstest.Person(t, s.Cfg.Store, "Grace Hopper", accounts.RoleUser)
	for i := range 12 {
		baseline := 1e6 * float64(i+1)
		if i == 11 {
			baseline = 0
		}
		task := modelstest.Tagged(t, s.Cfg.Store, s.Admin, fmt.Sprintf("problem%d", i+1), "level1", baseline)
		if i%4 != 3 {
			modelstest.Finish(t, s.Cfg.Store, modelstest.Submit(t, s.Cfg.Store, s.Ada, task)[0], 1e6*float64(i+1)/(0.5+0.25*float64(i)))
		}
		if i%2 == 0 {
			modelstest.Finish(t, s.Cfg.Store, modelstest.Submit(t, s.Cfg.Store, grace, task)[0], 1e6*float64(i+1)/1.75)
		}
	}
	return s, grace
}

func TestASuiteShowsCurvesTablesAndExports(t *testing.T) {
	s, grace := newSuite(t)
	b := s.Browser()
	webtest.WantText(t, b.Page("/tags/level1", http.StatusOK), "a[href='/tags/level1/suite']", "Compare everyone")
	doc := b.Page("/tags/level1/suite", http.StatusOK)
	webtest.CheckSound(t, doc)
	webtest.WantText(t, doc, "main", "12 tasks on CPU, of which 11 have the baseline PyTorch")
	webtest.WantText(t, doc, "#suite tbody tr:first-child", "Ada Lovelace 75.0 % 1.51× 81.8 %")
	webtest.WantText(t, doc, "#suite tbody tr:last-child", "Grace Hopper 50.0 % 1.75× 54.5 %")
	webtest.WantText(t, doc, "[data-side-by-side] [data-task=problem1]", "0.500×")
	webtest.WantText(t, doc, "[data-side-by-side] [data-task=problem4]", "no valid run no valid run")
	if n := doc.Find(".curves path").Length(); n != 6 { // three curves, each also in the legend
		t.Errorf("%d curves", n)
	}
	alone := b.Page(fmt.Sprintf("/tags/level1/suite?a=%d&b=0", grace.ID), http.StatusOK)
	webtest.WantText(t, alone, "#side-by-side", "Grace Hopper")
	rows, err := csv.NewReader(b.Get("/tags/level1/suite.csv").Body).ReadAll()
	if err != nil || len(rows) != 1+2*12 || rows[1][0] != "Ada Lovelace" || rows[1][3] != "0.75" || rows[1][11] != "0.5" || rows[4][10] != "" {
		t.Errorf("the CSV has %d rows, %v, %v", len(rows), rows[1], err)
	}
	suite, err := s.API(s.Ada).TagSuite(t.Context(), "level1", "")
	if err != nil || suite.Total != 2 || len(suite.Boards) != 12 || suite.Entrants[1].Geomean != 1.75 ||
		suite.Entrants[1].FastPPoints[4] != (client.FastP{Speedup: 1.5, TaskShare: 6. / 11}) {
		t.Errorf("%+v, %v", suite, err)
	}
	for path, want := range map[string]int{"/tags/none/suite": http.StatusNotFound, "/tags/level1/suite?device=H200": http.StatusNotFound,
		"/tags/level1/suite.json?baseline=none": http.StatusOK, "/events/none/suite": http.StatusNotFound} {
		webtest.WantStatus(t, b.Get(path), want)
	}
	e := s.EventOf(s.Admin, 0, "problem1", "problem2")
	webtest.WantText(t, b.Page("/events/"+e.Slug, http.StatusOK), "a[href$='/suite']", "As a suite")
	webtest.WantText(t, b.Page("/events/"+e.Slug+"/suite", http.StatusOK), "main", "2 tasks on CPU")
}

func TestAPageOfASuiteLinksToTheNext(t *testing.T) {
	s, _ := newSuite(t)
	for i := range 200 { // enough for a second page
		s.SQL("insert into users (name, name_key, role, created_at, updated_at) values ($1, $1, 'user', $2, $2)", fmt.Sprintf("Extra %03d", i), time.Now().UTC())
	}
	s.SQL(`insert into entries (version_id, device, user_id, run_id, submission_id, age, score_ns, std_ns, err_ns, achieved_at)
		select e.version_id, e.device, u.id, -u.id, e.submission_id, e.age, 1e9 + u.id, 0, 0, e.achieved_at from users u, entries e where u.name like 'Extra %' and e.user_id = $1 and e.device = 'CPU'`, s.Ada.ID)
	s.SQL("update boards set change = change + 1 where device = 'CPU'")
	next := func(path string) (string, *http.Response) {
		resp := s.Browser().Get(path)
		webtest.WantStatus(t, resp, http.StatusOK)
		link, _, _ := strings.Cut(strings.TrimPrefix(resp.Header.Get("Link"), "<"+s.URL), ">; rel=\"next\"")
		return link, resp
	}
	const path = "/tags/level1/suite.csv?device=CPU"
	link, resp := next(path)
	if rows, err := csv.NewReader(resp.Body).ReadAll(); link != path+"&page=2" || err != nil || len(rows) != 1+200*12 {
		t.Errorf("%d rows, then %q, %v", len(rows), link, err)
	}
	link, resp = next(link)
	if rows, err := csv.NewReader(resp.Body).ReadAll(); link != "" || err != nil || len(rows) != 1+2*12 {
		t.Errorf("%d rows, then %q, %v", len(rows), link, err)
	}
	var answer client.Suite
	link, resp = next("/api/v1/tags/level1/suite")
	if webtest.DecodeBody(t, resp, &answer); link != "/api/v1/tags/level1/suite?page=2" || len(answer.Entrants) != 200 || answer.Total != 202 {
		t.Errorf("%d of %d entrants, then %q", len(answer.Entrants), answer.Total, link)
	}
}

func TestAnEventIsReplayedAndHeldAgain(t *testing.T) {
	s := webtest.NewScene(t)
	e := s.Event(0)
	b := s.Browser()
	now := b.Page("/events/"+e.Slug, http.StatusOK)
	steps := now.Find("[data-replay] a")
	if steps.Length() != 7 || steps.Last().Text() != "Now" { // half of the replay steps have passed
		t.Fatalf("%d steps", steps.Length())
	}
	before := b.Page(steps.First().AttrOr("href", ""), http.StatusOK)
	webtest.WantText(t, before, "[data-at]", "Standings at")
	if before.Find("[hx-trigger]").Length() != 0 || before.Find("#standings tbody tr").Length() >= now.Find("#standings tbody tr").Length() {
		t.Errorf("the standings at the beginning have %d rows, as now", before.Find("#standings tbody tr").Length())
	}
	webtest.WantStatus(t, b.Get("/events/"+e.Slug+"?at=yesterday"), http.StatusUnprocessableEntity)

	admin := s.BrowserOf(s.Admin)
	webtest.WantText(t, admin.Page("/events/"+e.Slug+"/edit", http.StatusOK), "#clone", "Hold the event again")
	form := url.Values{"title": {"Spring Cup"}, "starts": {time.Now().Add(24 * time.Hour).UTC().Format("2006-01-02T15:04:05")}}
	webtest.WantStatus(t, admin.Post("/events/"+e.Slug+"/clone", form), http.StatusOK)
	again := admin.Page("/events/spring-cup", http.StatusOK)
	webtest.WantText(t, again, "[data-task]", "0 entries")
	if refused := admin.Post("/events/"+e.Slug+"/clone", form); !strings.Contains(webtest.Body(t, refused), "There is an event at /events/spring-cup already") {
		t.Errorf("the second clone: %s", refused.Status)
	}
	webtest.WantStatus(t, s.BrowserOf(s.Ada).Post("/events/"+e.Slug+"/clone", form), http.StatusForbidden)
}

func TestASuiteLooksRight(t *testing.T) {
	s, _ := newSuite(t)
	w := s.Window().As(s.BrowserOf(s.Ada))
	w.Visit("/tags/level1/suite")
	w.LooksRight("suite")
	e := s.Event(0)
	w.Visit("/events/" + e.Slug + "?at=" + time.Now().Add(-time.Minute).UTC().Format(time.RFC3339))
	w.LooksRight("replay")
	w.RefusedNothing()
}
