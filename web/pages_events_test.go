package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"warpboard/models/work"
	"warpboard/web/webtest"
)

// TestNoSurfaceTellsStrangersAFrozenResult checks that only the submitter and admins see a frozen result on any page or
// in the API, until the organizer reveals it.
func TestNoSurfaceTellsStrangersAFrozenResult(t *testing.T) {
	s := newTrickyScene(t)
	e := s.Event(time.Minute)
	frozen := s.Submit(s.person, "H200", webtest.GoodKernel+"// frozen_kernel")
	const score = 987654.321
	path := fmt.Sprintf("/submissions/%d", frozen.SubmissionID)
	strangers := map[string]*webtest.Browser{"a visitor": s.Browser(), "another person": s.BrowserOf(s.other),
		"the task's author": s.BrowserOf(s.author)}
	look := func(when string) {
		t.Helper()
		s.runs = map[string]work.Run{when: frozen}
		for _, surface := range s.surfaces() {
			for who, b := range strangers {
				b.Timeout = 30 * time.Second
				resp := b.Get(surface)
				text := webtest.Body(t, resp)
				for _, message := range []string{"987654", "987.65", ">988", "988 <", `"` + path + `"`, "frozen_kernel"} {
					if strings.Contains(text, message) {
						t.Errorf("%s, %s at %s: %s tells %q", when, who, surface, resp.Status, message)
					}
				}
			}
		}
	}
	for who, b := range strangers {
		if resp := b.Get(path); resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s gets %s while it waits", who, resp.Status)
		}
	}
	s.End(s.Attempt(frozen), score)
	look("held")
	for who, b := range map[string]*webtest.Browser{"the person": s.BrowserOf(s.person),
		"an admin": s.BrowserOf(s.Admin)} {
		if text := webtest.Body(t, b.Get(path)); !strings.Contains(text, "987654") {
			t.Errorf("%s does not see the result", who)
		}
	}
	webtest.WantText(t, s.BrowserOf(s.person).Page(path, http.StatusOK), "[data-held]", "Its event was frozen")

	organizer := s.BrowserOf(s.Admin)
	webtest.WantText(t, organizer.Page("/events/"+e.Slug, http.StatusOK), "#reveal",
		"1 person has hidden results (1 submission).")
	webtest.WantText(t, s.Browser().Page("/events/"+e.Slug, http.StatusOK), "[data-phase]", "Frozen since")
	webtest.WantStatus(t, organizer.Post("/events/"+e.Slug+"/reveal", url.Values{"who": {"next"}}), http.StatusConflict)
	s.Ended(e)
	look("ended")
	webtest.WantStatus(t, s.BrowserOf(s.person).Post("/events/"+e.Slug+"/reveal", url.Values{"who": {"next"}}),
		http.StatusForbidden)
	revealed := webtest.Document(t,
		organizer.Post("/events/"+e.Slug+"/reveal", url.Values{"who": {"next"}, "waiting": {"1"}}), http.StatusOK)
	webtest.WantText(t, revealed, "#standings tbody tr:first-child", "Pat 5")
	if revealed.Find("#reveal").Length() != 0 {
		t.Error("there is more to reveal")
	}
	for who, b := range strangers {
		if text := webtest.Body(t, b.Get(path)); !strings.Contains(text, "987654") {
			t.Errorf("%s does not see the revealed result", who)
		}
	}
}
