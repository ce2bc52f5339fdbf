package boards_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/chromedp/chromedp"

	"warpboard/evaluator/job"
	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/modelstest"
	"warpboard/web"
	"warpboard/web/signin"
	"warpboard/web/webtest"
)

func TestAVisitorReadsWhatTheSiteIs(t *testing.T) {
	s := webtest.NewProfiledScene(t, webtest.SomeAttacks)
	b := s.Browser()
	before := s.Cfg.Store.QueryCount()
	doc := b.Page("/", http.StatusOK)
	if asked := s.Cfg.Store.QueryCount() - before; asked > 8 {
		t.Errorf("the page makes %d queries", asked)
	}
	webtest.CheckSound(t, doc)
	webtest.WantText(t, doc, "h1", "Write a GPU kernel. See how fast it really is.")
	if n := doc.Find("li.step svg.sketch").Length(); n != 3 {
		t.Errorf("%d steps have a picture", n)
	}
	webtest.WantText(t, doc, "#front-records li:first-child", "9.100 µs Linus Ncu")
	webtest.WantText(t, doc, "#front-records li:first-child", s.Task.Title+" on H200")
	webtest.WantText(t, doc, "[data-front-roof]", "Linus Ncu set a record there with 9.100 µs")
	if dots := doc.Find("[data-front-roof] svg a rect.pf-other").Length(); dots != 2 {
		t.Errorf("the roofline has %d entries, want the two with a profile", dots)
	}
	webtest.WantText(t, doc, "[data-attacks='3']", "3 published attacks")
	webtest.WantText(t, doc, "[data-attacks]", "1 of the 2 that were run with this version end as expected")
	doc.Find("main a[href^='/']").Each(func(_ int, a *goquery.Selection) {
		path, _, _ := strings.Cut(a.AttrOr("href", ""), "#")
		if resp := b.Get(path); resp.StatusCode != http.StatusOK || resp.Request.URL.Path == "/sign-in" {
			t.Errorf("a visitor follows %s (%s) and gets %s at %s", path, webtest.Words(a), resp.Status,
				resp.Request.URL)
		} else {
			resp.Body.Close()
		}
	})
	if strings.Contains(webtest.Words(doc.Find("main")), "Sign in when") {
		t.Error("a site without a sign-in provider promises that visitors can sign in")
	}
	if doc.Find("[data-only-cpu]").Length() != 0 {
		t.Error("a site with an H200 says that no GPU is connected")
	}
	webtest.WantText(t, doc, "[data-try]", "Open the editor")
	own := s.BrowserOf(s.Ada).Page("/about", http.StatusOK)
	webtest.WantText(t, own, "[data-try]", "Try a task")
	if text := webtest.Words(own.Find("main")); strings.Contains(text, "sign in") ||
		strings.Contains(text, "signing in") {
		t.Error("someone who is signed in is told to sign in")
	}
	try := b.Page(doc.Find("[data-try]").AttrOr("href", ""), http.StatusOK)
	webtest.WantText(t, try, "main", "Your code stays in this browser until you run it")
	b.Page("/about", http.StatusOK)
	if at := b.Page("/", http.StatusOK).Find("link[type='application/atom+xml']").AttrOr("href",
		""); at != "/records.atom" {
		t.Errorf("the feed is at %q", at)
	}
}

func TestTheFrontPageSaysWhatVisitorsCanDoHere(t *testing.T) {
	s := webtest.Start(t, func(c *web.Config) {
		c.Providers = []signin.ProviderConfig{{Name: "github", ClientID: "k", ClientSecret: "s"}}
	})
	webtest.WantText(t, s.Browser().Page("/", http.StatusOK), "main", "Sign in when you want to run it.")
	webtest.WantText(t, s.Browser().Page("/", http.StatusOK), "[data-try]", "Open the playground")
	if s.Browser().Page("/", http.StatusOK).Find("[data-only-cpu]").Length() != 0 {
		t.Error("a site without a worker says that CPU tasks run")
	}
	modelstest.RecordHeartbeat(t, s.Cfg.Store,
		job.Heartbeat{Worker: "w", WorkerStartedAt: time.Now(), Slots: []job.Slot{{Device: "CPU"}}})
	webtest.WantText(t, s.Browser().Page("/", http.StatusOK), "[data-only-cpu]",
		"No GPUs are online right now. CPU tasks are open.")
}

func TestVisitorsDoNotBeginWithATaskJustPublished(t *testing.T) {
	s := webtest.Start(t)
	store := s.Cfg.Store
	modelstest.RecordHeartbeat(t, store, job.Heartbeat{
		Worker:          "w",
		WorkerStartedAt: time.Now(),
		Slots:           []job.Slot{{Device: "CPU"}},
	})
	author := modelstest.Person(t, store, "author", accounts.RoleCreator)
	publish := func(name, device string, entries int, tags ...string) {
		bundle := modelstest.Bundle(name)
		bundle.Definition.Tags = tags
		task, err := store.Catalog.CreateTask(t.Context(), author,
			catalog.NewTask{TaskSettings: catalog.TaskSettings{Devices: []string{device}}, Bundle: bundle})
		if err != nil {
			t.Fatal(err)
		}
		for i := range entries {
			person := modelstest.Person(t, store, fmt.Sprintf("person %d", i), accounts.RoleUser)
			modelstest.Finish(t, store, modelstest.Submit(t, store, person, task)[0], 5000)
		}
	}
	begins := func(want string) {
		t.Helper()
		if at := s.Browser().Page("/", http.StatusOK).Find("[data-try]").AttrOr("href", ""); at != "/tasks/"+want+
			"/solve" {
			t.Errorf("visitors begin with %s, want %s", at, want)
		}
	}
	publish("harder", "CPU", 3, "advanced")
	begins("harder")
	publish("easy", "CPU", 1, "beginner")
	publish("liked", "CPU", 2, "beginner")
	begins("liked")
	publish("offline", "H200", 4, "beginner")
	publish("stranger", "CPU", 0, "beginner")
	publish("one-entry", "CPU", 1, "beginner")
	begins("liked")
}

// TestAFrontPageWithoutAProfileShowsTheLargestBoard checks that the board is visible without scrolling.
func TestAFrontPageWithoutAProfileShowsTheLargestBoard(t *testing.T) {
	s := webtest.NewScene(t)
	b, before := s.Browser(), s.Cfg.Store.QueryCount()
	doc := b.Page("/", http.StatusOK)
	if asked := s.Cfg.Store.QueryCount() - before; asked > 8 {
		t.Errorf("the page makes %d queries", asked)
	}
	webtest.CheckSound(t, doc)
	webtest.WantText(t, doc, "[data-front-board]", s.Task.Title+" on H200 61 entries, the fastest first")
	webtest.WantText(t, doc, "[data-front-board] li:first-child", "1 kernel-13 10.40 µs")
	w := s.Window()
	w.Do(chromedp.EmulateViewport(1440, 900))
	w.Visit("/")
	w.Until(`["[data-front-board]", "#front-records", "[data-try]"].every((part) => document.querySelector(part).getBoundingClientRect().bottom < innerHeight)`)
	w.LooksRight("front-board")
}

func TestTheListOfTasksIsTheHomeOfPeople(t *testing.T) {
	s := webtest.NewScene(t)
	doc := s.BrowserOf(s.Ada).Page("/", http.StatusOK)
	webtest.WantText(t, doc, "[data-continue]", "Continue with "+s.Task.Title)
	if len(listed(doc)) == 0 {
		t.Error("a person's home lists no task")
	}
	if n := len(listed(s.Browser().Page("/?tag=beginner", http.StatusOK))); n == 0 {
		t.Error("an older link with a search lists no task")
	}
	if s.Browser().Page("/", http.StatusOK).Find("[data-tasks]").AttrOr("href", "") != "/tasks" ||
		len(listed(s.Browser().Page("/tasks", http.StatusOK))) == 0 {
		t.Error("the list is not one click below")
	}
}

func TestTheFrontPageOfAnEmptySiteShowsNoNumbers(t *testing.T) {
	s := webtest.Start(t)
	doc := s.Browser().Page("/", http.StatusOK)
	webtest.WantText(t, doc, "#front-records", "No record yet")
	if doc.Find("[data-front-roof], [data-attacks], svg.pf-chart").Length() != 0 {
		t.Error("a site without profiles and attacks shows some")
	}
	if to := doc.Find("[data-try]").AttrOr("href", ""); to != "/playground" {
		t.Errorf("without tasks visitors try %q", to)
	}
	author := modelstest.Person(t, s.Cfg.Store, "author", accounts.RoleCreator)
	task := modelstest.Task(t, s.Cfg.Store, author, "sort", "CPU")
	modelstest.Finish(t, s.Cfg.Store, modelstest.Submit(t, s.Cfg.Store, author, task)[0], 5000)
	webtest.WantText(t, s.Browser().Page("/", http.StatusOK), "#front-records", "Sort on CPU")
	hidden := catalog.TaskSettings{Devices: task.Devices, Visibility: catalog.Hidden}
	if _, err := s.Cfg.Store.Catalog.UpdateTask(t.Context(), author, task.ID, hidden); err != nil {
		t.Fatal(err)
	}
	doc = s.Browser().Page("/", http.StatusOK)
	webtest.WantText(t, doc, "#front-records", "No record yet")
	if to := doc.Find("[data-try]").AttrOr("href", ""); to != "/playground" ||
		strings.Contains(doc.Text(), "Sort on CPU") {
		t.Errorf("the page tells of a hidden task, or tries %q", to)
	}
}

func TestTheFrontPageIsSmallAndLive(t *testing.T) {
	s := webtest.NewProfiledScene(t, webtest.SomeAttacks)
	doc := s.Browser().Page("/", http.StatusOK)
	total := transferred(t, s.Scene, "/")
	doc.Find("script[src], link[rel=stylesheet], link[rel=preload], link[rel=icon]").Each(func(_ int,
		e *goquery.Selection) {
		total += transferred(t, s.Scene, e.AttrOr("src", e.AttrOr("href", "")))
	})
	if t.Logf("%d bytes cold", total); total >= 60_000 {
		t.Errorf("a cold front page takes %d bytes", total)
	}
	w := s.Window()
	w.Visit("/")
	w.Shows("#front-records li:first-child", "9.100")
	w.LooksRight("front")
	s.Finish(s.Queued, 8.76e3)
	w.Shows("#front-records li:first-child", "8.760")
	w.Shows("#front-records li:first-child", s.Ada.Name)
	w.Do(chromedp.EmulateViewport(1440, 900))
	w.Until(`document.querySelector("[data-front-roof] svg").getBoundingClientRect().bottom < innerHeight`)
	w.Until(`document.querySelector("[data-try]").getBoundingClientRect().bottom < innerHeight && document.querySelector("#front-records").getBoundingClientRect().bottom < innerHeight`)
	w.Do(chromedp.EmulateViewport(390, 844))
	w.Until(fmt.Sprintf(`document.querySelector("[data-try]").getBoundingClientRect().bottom < %d`, 844))
	w.RefusedNothing()
}

// TestARecordThatWasBeatenKeepsItsDot checks that a profiled record stays in the roofline even if the person's entry is
// now a run without a profile.
func TestARecordThatWasBeatenKeepsItsDot(t *testing.T) {
	s := webtest.NewProfiledScene(t)
	for who, name := range map[int64]string{s.First.UserID: "Linus Ncu", s.Second.UserID: "Mary Warp"} {
		user, err := s.Cfg.Store.Accounts.User(t.Context(), who)
		if err != nil {
			t.Fatal(err)
		}
		s.Finish(s.Submit(user, "H200", webtest.GoodKernel+"// another of "+name), 8e3)
	}
	doc := s.Browser().Page("/", http.StatusOK)
	webtest.WantText(t, doc, "#front-records li:first-child", "8.000 µs")
	if dots := doc.Find("[data-front-roof] svg a"); dots.Length() != 1 || !strings.Contains(dots.Text(), "Linus Ncu") {
		t.Errorf("the roofline shows %q", webtest.Words(dots))
	}
}
