package authoring_test

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"

	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/web/webtest"
)

// TestRunsFlaggedForOneReasonAreDecidedTogether checks that a reviewer can decide about all runs with the same flag at
// once.
func TestRunsFlaggedForOneReasonAreDecidedTogether(t *testing.T) {
	s := webtest.NewScene(t)
	b := s.BrowserOf(s.Admin)
	before := b.Page("/review", http.StatusOK).Find("[data-run]").Length()
	for n, kind := range []string{"clocks", "clocks", "unconfirmed", "source", "source"} {
		s.Flag(n, kind, "")
	}
	doc := b.Page("/review", http.StatusOK)
	webtest.CheckSound(t, doc)
	webtest.WantText(t, doc, "[data-group=clocks] h2", "Clocks disagree: 2 runs")
	webtest.WantText(t, doc, "[data-group=unconfirmed] h2", "Not confirmed: 1 run")
	if n := doc.Find("input[name=run][checked]").Length(); n != 0 {
		t.Errorf("%d runs are ticked in advance", n)
	}
	doc = b.Page(doc.Find("[data-group=clocks] h2 + a").AttrOr("href", ""), http.StatusOK)
	if n := doc.Find("input[name=run][checked]").Length(); n != 2 {
		t.Errorf("%d runs are ticked, want the two of one reason", n)
	}
	form := webtest.Fields(doc.Find("[data-group=clocks] form"))
	if len(form["run"]) != 2 {
		t.Fatalf("the form decides about %v", form["run"])
	}
	form.Set("reason", "")
	webtest.WantStatus(t, b.Post("/review/dismiss", form), http.StatusUnprocessableEntity)
	form.Set("reason", "The machine was loaded.")
	for _, path := range []string{"/review/dismiss", "/review/disqualify"} {
		webtest.WantStatus(t, s.BrowserOf(s.Ada).Post(path, form), http.StatusForbidden)
	}
	left := webtest.Document(t, b.Post("/review/dismiss", form), http.StatusOK)
	if n := left.Find("[data-run]").Length(); n != before+3 {
		t.Errorf("%d runs wait, want %d", n, before+3)
	}
	left = b.Page("/review?tick=source", http.StatusOK)
	cheats := webtest.Fields(left.Find("[data-group=source] form"))
	nothing := url.Values{"reason": {"It returns a constant."}}
	webtest.WantStatus(t, b.Post("/review/disqualify", nothing), http.StatusUnprocessableEntity)
	cheats.Set("reason", "It returns a constant.")
	cheats.Set("confirmed", "yes")
	left = webtest.Document(t, b.Post("/review/disqualify", cheats), http.StatusOK)
	if n := left.Find("[data-run]").Length(); n != before+1 {
		t.Errorf("%d runs wait after two were disqualified, want %d", n, before+1)
	}
	for _, run := range cheats["run"] {
		webtest.WantText(t, s.Browser().Page("/runs/"+run+"/moderation", http.StatusOK), "[data-decision=disqualify]",
			"It returns a constant.")
	}
}

// TestALoadedMachineDoesNotFloodTheReview checks that disturbed runs whose only flag is a difference of clocks are
// hidden from the review list, unless requested.
func TestALoadedMachineDoesNotFloodTheReview(t *testing.T) {
	s := webtest.NewScene(t)
	b := s.BrowserOf(s.Admin)
	before := b.Page("/review", http.StatusOK).Find("[data-run]").Length()
	for n := range 3 {
		s.Flag(n, "clocks", "a CPU load of 9")
	}
	s.Flag(3, "clocks", "")
	doc := b.Page("/review", http.StatusOK)
	if n := doc.Find("[data-run]").Length(); n != before+1 {
		t.Errorf("%d runs are listed, want %d", n, before+1)
	}
	webtest.WantText(t, doc, "[data-low]", "3 runs of low priority not listed")
	doc = b.Page(doc.Find("[data-low] a").AttrOr("href", ""), http.StatusOK)
	webtest.CheckSound(t, doc)
	if n := doc.Find("[data-run]").Length(); n != 3 {
		t.Errorf("%d runs are of low priority, want 3", n)
	}
	webtest.WantText(t, doc, "[data-run]", "Disturbed: a CPU load of 9")
	for address, want := range map[string]int{"/review?priority=all": before + 4, "/review?kind=source": 0,
		"/review?kind=clocks&priority=all":              4,
		"/review?task=" + s.Task.Slug + "&priority=low": 3, "/review?task=another": 0} {
		if n := b.Page(address, http.StatusOK).Find("[data-run]").Length(); n != want {
			t.Errorf("%s lists %d runs, want %d", address, n, want)
		}
	}
	doc = b.Page(webtest.Href(t, doc, "Select all 3"), http.StatusOK)
	form := webtest.Fields(doc.Find("[data-group=clocks] form"))
	form.Set("reason", "The machine was loaded.")
	left := webtest.Document(t, b.Post("/review/dismiss", form), http.StatusOK)
	if left.Find("select[name=priority] option[selected]").AttrOr("value", "") != "low" ||
		left.Find("[data-run]").Length() != 0 {
		t.Error("the filter is lost after a decision, or a run still waits")
	}
}

func TestTheReviewLooksRight(t *testing.T) {
	s := webtest.NewScene(t)
	for n, kind := range []string{"clocks", "clocks", "clocks", "unconfirmed", "source", "source"} {
		s.Flag(n, kind, map[bool]string{true: "another program used the GPU"}[n == 2 || n == 4])
	}
	w := s.Window().As(s.BrowserOf(s.Admin))
	w.Visit("/review?priority=all")
	w.LooksRight("review")
	w.Eval(`document.querySelector("[data-group=source] [name=run]").checked = true`)
	w.Eval(`document.querySelector("[data-group=source] [name=reason]").value = "It returns a constant."`)
	w.Eval(`document.querySelector("[data-group=source] .btn-danger").click()`)
	w.Shows("h1", "Disqualify 1 run?")
	w.LooksRight("review-confirm")
	w.Eval(`[...document.querySelectorAll("main .btn")].find((b) => b.textContent == "Cancel").click()`)
	w.Until(`document.querySelector("[data-group=clocks]")`)
	w.Eval(`document.querySelector("[data-group=clocks] h2 + a").click()`)
	w.Until(`document.querySelectorAll("[data-group=clocks] input:checked").length == 3`)
	w.Eval(`document.querySelector("[data-group=clocks] [name=reason]").value = "The machine was loaded."`)
	w.Eval(`document.querySelector("[data-group=clocks] button").click()`)
	w.Shows("[role=status]", "The flags are closed")
	w.Until(`!document.querySelector("[data-group=clocks]")`)
	w.RefusedNothing()
}

// TestADeadlineInThePastIsReported checks that the forms warn about a past deadline, because it closes the task and
// publishes its sources at once.
func TestADeadlineInThePastIsReported(t *testing.T) {
	s := webtest.NewScene(t)
	creator := s.SignedIn("Carla", accounts.RoleCreator)
	preview := webtest.Document(t, creator.Upload("/tasks/new", "zip", "set.zip", setZip(t, "2020-05-02", asItIs), nil),
		http.StatusOK)
	webtest.WantText(t, preview, "[data-draft=add] .callout-warn", "has passed")

	edit := "/tasks/" + s.Task.Slug + "/edit"
	admin := s.BrowserOf(s.Admin)
	form := webtest.Fields(admin.Page(edit, http.StatusOK).Find("form[action='" + edit + "']"))
	form.Set("deadline", "2020-05-02T00:00:00")
	webtest.WantText(t, webtest.Document(t, admin.Post(edit, form), http.StatusOK), "[role=status]",
		"The deadline has passed")
}

// TestABoardLeadsToTheSourcesThatTheViewerMayRead checks the links from a board to sources. After the deadline everyone
// has links to all sources. Before it, or without a deadline, people have links only to their own sources, and admins
// to all.
func TestABoardLeadsToTheSourcesThatTheViewerMayRead(t *testing.T) {
	s := webtest.NewScene(t)
	board, link := "/tasks/"+s.Task.Slug+"/boards/H200",
		fmt.Sprintf("#entry-%d a[href='/submissions/%d?tab=source']", s.Ada.ID, s.Done.SubmissionID)
	until := func(deadline *time.Time) {
		if _, err := s.Cfg.Store.Catalog.UpdateTask(t.Context(), s.Admin, s.Task.ID,
			catalog.TaskSettings{Title: s.Task.Title, Devices: s.Task.Devices, Deadline: deadline}); err != nil {
			t.Fatal(err)
		}
	}
	soon, over := s.Cfg.Now().Add(time.Hour), s.Cfg.Now().Add(-time.Minute)
	for name, deadline := range map[string]*time.Time{"with an open task": &soon, "of a task without a deadline": nil} {
		until(deadline)
		for who, want := range map[*webtest.Browser]int{s.Browser(): 0, s.BrowserOf(s.Ada): 1,
			s.BrowserOf(s.Admin): 50} {
			if n := who.Page(board, http.StatusOK).Find(".board a[href$='?tab=source']").Length(); n != want {
				t.Errorf("a board %s leads to %d sources, want %d", name, n, want)
			}
		}
	}
	until(&over)
	to := s.Browser().Page(board, http.StatusOK).Find(link)
	if to.Length() != 1 {
		t.Fatal("a closed board has no link to the source")
	}
	webtest.WantStatus(t, s.Browser().Get(to.AttrOr("href", "")), http.StatusOK)
}
