package boards_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"warpboard/models/events"
	"warpboard/models/modelstest"
	"warpboard/web/webtest"
)

// TestEveryPageNamesTheEventThatGoesOn checks that every page, also for visitors, has a banner and a link in the header
// for the current event, and none for a past event.
func TestEveryPageNamesTheEventThatGoesOn(t *testing.T) {
	s := webtest.NewScene(t)
	visitor := s.Browser()
	if doc := visitor.Page("/", http.StatusOK); doc.Find(
		"[data-event-banner], nav[aria-label=Main] a[href='/events']").Length() != 0 {
		t.Error("a site without an event names one")
	}
	e := s.Event(0)
	for _, path := range []string{"/", "/tasks", "/tasks/" + s.Task.Slug + "/boards/H200"} {
		doc := visitor.Page(path, http.StatusOK)
		webtest.WantText(t, doc, "[data-event-banner]", "Winter Cup ends in")
		webtest.WantText(t, doc, "nav[aria-label=Main] a[href='/events']", "Events")
		if to := doc.Find("[data-event-banner] a").AttrOr("href", ""); to != "/events/"+e.Slug {
			t.Errorf("%s leads to %s", path, to)
		}
	}
	start := time.Now().Add(time.Hour)
	in := events.EventSettings{Title: "Winter Cup", StartsAt: start, EndsAt: start.Add(time.Hour),
		PointsRuleText: "5/3/1",
		Tasks:          []string{s.Task.Slug}}
	if _, err := s.Cfg.Store.Events.Update(t.Context(), s.Admin, e.Slug, in); err != nil {
		t.Fatal(err)
	}
	webtest.WantText(t, visitor.Page("/", http.StatusOK), "[data-event-banner]", "Winter Cup starts in")
	if err := s.Cfg.Store.Events.Delete(t.Context(), s.Admin, e.Slug, e.Slug); err != nil {
		t.Fatal(err)
	}
	if visitor.Page("/", http.StatusOK).Find("[data-event-banner]").Length() != 0 {
		t.Error("a deleted event is still named")
	}
}

// TestAFrozenBoardExplainsThatItIsFrozen checks the notice on a frozen board. Only the viewer sees their own hidden
// result there.
func TestAFrozenBoardExplainsThatItIsFrozen(t *testing.T) {
	s := webtest.NewScene(t)
	board := "/tasks/vectoradd-cpp/boards/CPU"
	if s.Browser().Page(board, http.StatusOK).Find("[data-freeze]").Length() != 0 {
		t.Error("a board is frozen without an event")
	}
	s.EventOf(s.Admin, time.Minute, "vectoradd-cpp")
	task, err := s.Cfg.Store.Catalog.Task(t.Context(), "vectoradd-cpp")
	if err != nil {
		t.Fatal(err)
	}
	run := modelstest.Submit(t, s.Cfg.Store, s.Ada, task)[0]
	modelstest.Finish(t, s.Cfg.Store, run, 5275)
	own := s.BrowserOf(s.Ada).Page(board, http.StatusOK)
	webtest.WantText(t, own, "[data-freeze]",
		"Later results appear when the organizer reveals them. Your own best since then: 5.275 µs.")
	webtest.WantText(t, own, "#board-live", "No one had an entry before the freeze.")
	visitor := s.Browser().Page(board, http.StatusOK)
	webtest.WantText(t, visitor, "[data-freeze]", "Frozen for Winter Cup since")
	if visitor.Find("[data-freeze]:contains('best since')").Length() != 0 {
		t.Error("a visitor sees a result of someone else")
	}
}

// TestTheEventFormNamesAllMistakesAtOnce also checks that the form marks tasks that belong to another event.
func TestTheEventFormNamesAllMistakesAtOnce(t *testing.T) {
	s := webtest.NewScene(t)
	organizer := s.BrowserOf(s.Admin)
	form := url.Values{"title": {""}, "starts": {"2031-01-02T10:00"}, "ends": {"2031-01-01T10:00"},
		"points": {"places!"}}
	doc := webtest.Document(t, organizer.Post("/events/new", form), http.StatusUnprocessableEntity)
	for _, want := range []string{"Give the event a title.", "which is not after its start.",
		"Choose at least one task.", `no points rule "places!"`} {
		webtest.WantText(t, doc, "[role=alert]", want)
	}
	e := s.Event(0)
	field := "label.choice:has(input[value='" + s.Task.Slug + "'])"
	webtest.WantText(t, organizer.Page("/events/new", http.StatusOK), field+":has(:disabled)", "in Winter Cup")
	webtest.WantText(t, organizer.Page("/events/"+e.Slug+"/edit", http.StatusOK), field+":has(:checked)", s.Task.Title)
}

// TestTheStandingsComeFirstOnceAnEventGoesOn checks that the page of an event shows the announcement first until the
// event starts, and the standings first from then on.
func TestTheStandingsComeFirstOnceAnEventGoesOn(t *testing.T) {
	s := webtest.NewScene(t)
	e := s.Event(0)
	if s.Browser().Page("/events/"+e.Slug,
		http.StatusOK).Find("#event-now > div:has(#standings) ~ div section[aria-label=Announcement]").Length() != 1 {
		t.Error("the announcement of a running event comes before its standings")
	}
	s.SQL("update events set starts_at = $1 where id = $2", time.Now().Add(time.Hour).UTC(), e.ID)
	if s.Browser().Page("/events/"+e.Slug,
		http.StatusOK).Find(
		"#event-now > div:has(section[aria-label=Announcement]) ~ div:has(#standings-title)").Length() != 1 {
		t.Error("the standings come before the announcement of an event that has not begun")
	}
}

// TestARevealNamesWhomItRevealed checks that the notice after a reveal has the entrant's name, rank, and points.
func TestARevealNamesWhomItRevealed(t *testing.T) {
	s := webtest.NewScene(t)
	e := s.Event(time.Minute)
	s.Finish(s.Submit(s.Ada, "H200", webtest.GoodKernel), 1e3)
	s.Ended(e)
	doc := webtest.Document(t, s.BrowserOf(s.Admin).Post("/events/"+e.Slug+"/reveal",
		url.Values{"who": {"next"}, "waiting": {"1"}}), http.StatusOK)
	webtest.WantText(t, doc, "main > [role=status]", "Revealed Ada Lovelace: now 1st, 5 points.")
}
