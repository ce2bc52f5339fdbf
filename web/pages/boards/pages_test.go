package boards_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"warpboard/models/catalog"
	"warpboard/web/webtest"
)

func TestEveryPageIsSoundHTML(t *testing.T) {
	s := webtest.NewScene(t)
	for who, b := range map[string]*webtest.Browser{"visitor": s.Browser(), "user": s.BrowserOf(s.Ada),
		"admin": s.BrowserOf(s.Admin)} {
		for _, path := range s.All() {
			t.Run(who+path, func(t *testing.T) {
				resp := b.Get(path)
				webtest.CheckSound(t, webtest.Document(t, resp, resp.StatusCode))
			})
		}
	}
}

func TestHiddenTaskIsNotThereForOthers(t *testing.T) {
	s := webtest.NewScene(t)
	_, err := s.Cfg.Store.Catalog.UpdateTask(t.Context(), s.Admin, s.Task.ID, catalog.TaskSettings{
		Title: s.Task.Title, Devices: s.Task.Devices, Visibility: catalog.Hidden})
	if err != nil {
		t.Fatal(err)
	}
	visitor := s.Browser()
	for _, path := range []string{"", "/edit", "/bundle.zip", "/file?path=reference.cuh", "/boards/H200"} {
		resp := visitor.Get("/tasks/" + s.Task.Slug + path)
		if resp.StatusCode != http.StatusNotFound && resp.Request.URL.Path != "/sign-in" {
			t.Errorf("%s answered %s", path, resp.Status)
		}
	}
	visitor.Page(fmt.Sprintf("/submissions/%d", s.Done.SubmissionID), http.StatusNotFound)
	for _, path := range []string{"/", "/tasks", "/devices", fmt.Sprintf("/users/%d", s.Ada.ID)} {
		if text := visitor.Page(path, http.StatusOK).Text(); strings.Contains(text, s.Task.Title) {
			t.Errorf("%s names the hidden task", path)
		}
	}
	s.BrowserOf(s.Admin).Page("/tasks/"+s.Task.Slug, http.StatusOK)
}

func TestShortAddressesLeadToTheirPages(t *testing.T) {
	s := webtest.NewScene(t)
	b := s.BrowserOf(s.Admin)
	for path, want := range map[string]string{
		"/operate/review": "/review", "/operate/people": "/people", "/clocks": "/review", "/operate/audit": "/audit",
		"/operate/devices": "/devices",
		"/tags":            "/tasks", "/queue": "/devices", "/users": "/tasks", "/submissions": "/me",
		fmt.Sprintf("/submissions/%d/runs/%d", s.Done.SubmissionID, s.Done.ID): webtest.SubmissionPath(s.Done),
	} {
		resp := b.Get(path)
		webtest.CheckSound(t, webtest.Document(t, resp, http.StatusOK))
		if got := resp.Request.URL.Path; got != want {
			t.Errorf("%s leads to %s, want %s", path, got, want)
		}
	}
	card := b.Get(fmt.Sprintf("/submissions/%d/runs/%d", s.Done.SubmissionID, s.Done.ID), "HX-Request", "true")
	if text := webtest.Body(t, card); !strings.HasPrefix(text, "<article") {
		t.Errorf("htmx gets %.60q", text)
	}
}

func TestErrorPagesAreCompressed(t *testing.T) {
	s := webtest.NewScene(t)
	for _, path := range []string{"/nothing", "/tasks/nothing", "/submissions/0"} {
		resp := s.Browser().Get(path, "Accept-Encoding", "gzip")
		if got := resp.Header.Get("Content-Encoding"); got != "gzip" || resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %s, encoded as %q", path, resp.Status, got)
		}
	}
}

func TestOneStatisticHasOneName(t *testing.T) {
	s := webtest.NewProfiledScene(t)
	b := s.BrowserOf(s.Admin)
	for _, path := range []string{webtest.SubmissionPath(s.Second), webtest.SubmissionPath(s.Failed),
		"/tasks/" + s.Task.Slug + "/boards/H200"} {
		doc := b.Page(path, http.StatusOK)
		doc.Find("th").Each(func(_ int, e *goquery.Selection) {
			if text := webtest.Words(e); text == "Spread" || text == "Error" || text == "Std" {
				t.Errorf("%s heads a column with %q", path, text)
			}
		})
		if hint := webtest.Words(doc.Find(".hint")); strings.Contains(hint, "Standard error") {
			t.Errorf("%s calls what was printed %q", path, hint)
		}
	}
}
