package web

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"warpboard/clients/go"
	"warpboard/evaluator/job"
	"warpboard/models/accounts"
	"warpboard/models/events"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

// eventOf makes an event that goes on for an hour, frozen for a while; 0: not frozen.
func (s *testSite) eventOf(owner accounts.User, frozenFor time.Duration, slugs ...string) events.Event {
	s.t.Helper()
	now := time.Now()
	in := events.Settings{Title: "Winter Cup", About: "**Prizes** for the first three.", StartsAt: now.Add(-time.Hour), EndsAt: now.Add(time.Hour), Points: "5/3/1", Tasks: slugs}
	if frozenFor > 0 {
		at := now.Add(-frozenFor)
		in.FrozenAt = &at
	}
	e, err := s.site.Store.Events.Create(s.t.Context(), owner, in)
	if err != nil {
		s.t.Fatal(err)
	}
	return e
}

func (s *scene) event(frozenFor time.Duration) events.Event {
	s.t.Helper()
	return s.eventOf(s.admin, frozenFor, s.task.Slug)
}

// sql changes what time alone would.
func (s *scene) later(query string, args ...any) {
	s.t.Helper()
	if _, err := s.site.Store.SQL().ExecContext(s.t.Context(), query, args...); err != nil {
		s.t.Fatal(err)
	}
}

// ended has an event end a second ago, with its tasks.
func (s *scene) ended(e events.Event) {
	s.t.Helper()
	past := time.Now().Add(-time.Second).UTC().Format("2006-01-02 15:04:05+00:00")
	s.later("update events set ends_at = $1 where id = $2", past, e.ID)
	s.later("update tasks set deadline = $1 where id in (select task_id from event_tasks where event_id = $2)", past, e.ID)
}

// TestAnOrganizerMakesAnEventAndEveryoneFollowsIt on its page, on a wall, and in exports.
func TestAnOrganizerMakesAnEventAndEveryoneFollowsIt(t *testing.T) {
	s := newScene(t)
	organizer := s.browserOf(s.admin)
	now := time.Now().UTC()
	form := url.Values{"title": {"Winter Cup"}, "about": {"**Prizes** for three."}, "starts": {now.Add(-time.Minute).Format("2006-01-02T15:04:05")},
		"ends": {now.Add(time.Hour).Format("2006-01-02T15:04")}, "points": {"5/x"}, "task": {s.task.Slug}}
	refused := document(t, organizer.post("/events/new", form), http.StatusUnprocessableEntity)
	wantText(t, refused, "[role=alert]", `There is no points rule "5/x"`)
	if refused.Find("[name=task][checked]").AttrOr("value", "") != s.task.Slug || refused.Find("#title").AttrOr("value", "") != "Winter Cup" {
		t.Error("a refused form forgets what was typed")
	}
	form.Set("points", "5/3/1")
	wantText(t, document(t, organizer.post("/events/new", form), http.StatusOK), "[role=status]", "Saved.")
	wantStatus(t, s.browserOf(s.ada).post("/events/new", form), http.StatusForbidden)

	visitor := s.browser()
	wantText(t, visitor.page("/events", http.StatusOK), "[data-event=winter-cup]", "Winter Cup")
	page := visitor.page("/events/winter-cup", http.StatusOK)
	wantText(t, page, ".prose strong", "Prizes")
	wantText(t, page, "[data-phase]", "Ends in")
	wantText(t, page, "#standings tbody tr:first-child", "5")
	if page.Find("a[href='/tasks/"+s.task.Slug+"']").Length() == 0 || page.Find("#reveal, a[href$='/edit']").Length() != 0 {
		t.Error("the page lacks its task, or offers a visitor to change it")
	}
	part := document(t, visitor.get("/events/winter-cup", "HX-Request", "true"), http.StatusOK)
	if part.Find("#event-now #standings").Length() != 1 || part.Find("footer").Length() != 0 {
		t.Error("the part is not the standings alone")
	}
	wall := visitor.page("/events/winter-cup/wall", http.StatusOK)
	if wall.Find("[data-entrant]").Length() != 12 || wall.Find("nav, footer").Length() != 0 {
		t.Errorf("the wall shows %d entrants", wall.Find("[data-entrant]").Length())
	}
	if page.Find("#standings tbody tr").Length() != 61 || visitor.page("/events/winter-cup?device=CPU", http.StatusOK).Find("#standings").Length() != 0 {
		t.Error("a device does not choose its boards")
	}
	visitor.page("/events/nothing", http.StatusNotFound)

	form.Set("title", "Spring Cup")
	wantText(t, document(t, organizer.post("/events/winter-cup/edit", form), http.StatusOK), "h1", "Spring Cup")
	wantStatus(t, s.browserOf(s.ada).post("/events/winter-cup/edit", form), http.StatusForbidden)
	wantText(t, organizer.page("/events/winter-cup/edit", http.StatusOK), "#about", "for three")
}

// TestAScriptCanRecomputeTheStandings from the exports, which agree.
func TestAScriptCanRecomputeTheStandings(t *testing.T) {
	s := newScene(t)
	e := s.event(0)
	var answer client.EventStandings
	decodeBody(t, s.browser().get("/events/"+e.Slug+"/standings.json"), &answer)
	if len(answer.Boards) != 2 || len(answer.Standings) != 61 || answer.Standings[0].Points != 5 || answer.Standings[0].Results[0].Place != 1 || answer.Frozen {
		t.Fatalf("the event is %+v", answer.EventSummary)
	}
	rows, err := csv.NewReader(s.browser().get("/events/" + e.Slug + "/standings.csv").Body).ReadAll()
	if err != nil || len(rows) != 62 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for i, row := range rows[1:] {
		want := answer.Standings[i]
		if row[1] != want.Name || row[7] != fmt.Sprint(want.Results[0].Place) || row[10] != fmt.Sprint(want.Results[0].Points) {
			t.Errorf("row %v, answer %+v", row, want)
		}
	}
	list, err := s.api(s.ada).Events(t.Context())
	if err != nil || len(list) != 1 || list[0].Slug != e.Slug || !list[0].EndsAt.Equal(e.EndsAt) {
		t.Errorf("events: %+v, %v", list, err)
	}
	if got, err := s.api(s.ada).EventStandings(t.Context(), e.Slug); err != nil || len(got.Standings) != 61 {
		t.Errorf("standings: %v", err)
	}
}

// TestAHiddenTaskIsInNoStandingsOfStrangers nor is what is on its boards.
func TestAHiddenTaskIsInNoStandingsOfStrangers(t *testing.T) {
	s := newScene(t)
	e := s.event(0)
	s.later("update tasks set visibility = 'hidden' where id = $1", s.task.ID)
	for _, path := range []string{"/events/" + e.Slug, "/events/" + e.Slug + "/wall", "/events/" + e.Slug + "/standings.csv", "/api/v1/events/" + e.Slug} {
		if text := body(t, s.browserOf(s.ada).get(path)); strings.Contains(text, s.task.Title) || strings.Contains(text, "Barbara Liskov") {
			t.Errorf("%s shows it", path)
		}
		if text := body(t, s.browserOf(s.admin).get(path)); !strings.Contains(text, "Barbara Liskov") {
			t.Errorf("%s hides it from an admin", path)
		}
	}
}

// TestNoSurfaceTellsStrangersAFrozenResult until the organizer reveals it. Its person and admins see it.
func TestNoSurfaceTellsStrangersAFrozenResult(t *testing.T) {
	s := newTrickyScene(t)
	e := s.event(time.Minute)
	frozen := s.submit(s.person, "H200", goodKernel+"// frozen_kernel")
	const score = 987654.321
	path := fmt.Sprintf("/submissions/%d", frozen.SubmissionID)
	strangers := map[string]*browser{"a visitor": s.browser(), "another person": s.browserOf(s.other), "the task's author": s.browserOf(s.author)}
	look := func(when string) {
		t.Helper()
		s.runs = map[string]work.Run{when: frozen}
		for _, surface := range s.surfaces() {
			for who, b := range strangers {
				b.Timeout = 30 * time.Second
				resp := b.get(surface)
				text := body(t, resp)
				for _, told := range []string{"987654", "987.65", ">988", "988 <", `"` + path + `"`, "frozen_kernel"} {
					if strings.Contains(text, told) {
						t.Errorf("%s, %s at %s: %s tells %q", when, who, surface, resp.Status, told)
					}
				}
			}
		}
	}
	for who, b := range strangers {
		if resp := b.get(path); resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s gets %s while it waits", who, resp.Status)
		}
	}
	s.end(s.attempt(frozen), score)
	look("held")
	for who, b := range map[string]*browser{"the person": s.browserOf(s.person), "an admin": s.browserOf(s.admin)} {
		if text := body(t, b.get(path)); !strings.Contains(text, "987654") {
			t.Errorf("%s does not see the result", who)
		}
	}
	wantText(t, s.browserOf(s.person).page(path, http.StatusOK), "[data-held]", "Its event was frozen")

	organizer := s.browserOf(s.admin)
	wantText(t, organizer.page("/events/"+e.Slug, http.StatusOK), "#reveal", "1 person waits with 1 submission.")
	wantText(t, s.browser().page("/events/"+e.Slug, http.StatusOK), "[data-phase]", "Frozen since")
	wantStatus(t, organizer.post("/events/"+e.Slug+"/reveal", url.Values{"who": {"next"}}), http.StatusConflict)
	s.ended(e)
	look("ended")
	wantStatus(t, s.browserOf(s.person).post("/events/"+e.Slug+"/reveal", url.Values{"who": {"next"}}), http.StatusForbidden)
	revealed := document(t, organizer.post("/events/"+e.Slug+"/reveal", url.Values{"who": {"next"}}), http.StatusOK)
	wantText(t, revealed, "#standings tbody tr:first-child", "Pat 5")
	if revealed.Find("#reveal").Length() != 0 {
		t.Error("there is more to reveal")
	}
	for who, b := range strangers {
		if text := body(t, b.get(path)); !strings.Contains(text, "987654") {
			t.Errorf("%s does not see the revealed result", who)
		}
	}
}

// TestAnEventThatHasNotBegunTakesNoSubmission and says when it starts.
func TestAnEventThatHasNotBegunTakesNoSubmission(t *testing.T) {
	s := newScene(t)
	e := s.event(0)
	starts := time.Now().Add(30 * time.Minute).UTC().Truncate(time.Second)
	s.later("update events set starts_at = $1 where id = $2", starts.Format("2006-01-02 15:04:05+00:00"), e.ID)
	_, err := s.api(s.ada).Submit(t.Context(), client.NewSubmission{Task: s.task.Slug, Devices: []string{"H200"}, Mode: job.ModeTest, FileName: "a.cu", Source: "// early"})
	if err == nil || !strings.Contains(err.Error(), "The event Winter Cup starts at "+starts.Format(time.DateTime)+" UTC.") {
		t.Errorf("an early submission: %v", err)
	}
	wantText(t, s.browser().page("/events/"+e.Slug, http.StatusOK), "[data-phase]", "Starts in")
}

// TestTheEventPagesLookRight and renew themselves.
func TestTheEventPagesLookRight(t *testing.T) {
	s := newScene(t)
	e := s.event(time.Minute)
	s.finish(s.submit(s.ada, "H200", goodKernel), 5e3)
	s.finish(s.submit(modelstest.Person(t, s.site.Store, "Margaret Hamilton", accounts.RoleUser), "CPU", goodKernel), 8e6)
	w := s.window().as(s.browserOf(s.admin))
	for name, path := range map[string]string{"events": "/events", "event": "/events/" + e.Slug, "event-new": "/events/new", "event-edit": "/events/" + e.Slug + "/edit"} {
		w.open(path)
		w.looksRight(name)
	}
	w.open("/events/" + e.Slug + "/wall")
	w.looksRight("event-wall")
	s.ended(e)
	w.open("/events/" + e.Slug)
	w.looksRight("event-ended")
	s.browserOf(s.admin).post("/events/"+e.Slug+"/reveal", url.Values{"who": {"next"}})
	w.Shows("#standings", "Margaret Hamilton") // without a reload
	w.refusedNothing()
}
