package operation_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/chromedp/chromedp"

	"warpboard/models/switches"
	"warpboard/web/webtest"
)

// TestATaskThatIsOffSaysSoBeforeOneSubmits checks that the pages of a task that is switched off say so instead of
// offering to submit. Switches of the whole site affect all tasks and the playground.
func TestATaskThatIsOffSaysSoBeforeOneSubmits(t *testing.T) {
	s := webtest.NewScene(t)
	admin, ada := s.BrowserOf(s.Admin), s.BrowserOf(s.Ada)
	task := "/tasks/" + s.Task.Slug
	pages := []string{task, task + "/solve", task + "/boards/H200"}
	says := func(path, want string) {
		t.Helper()
		doc := ada.Page(path, http.StatusOK)
		if got := webtest.Words(doc.Find("[data-switched-off]")); got != want {
			t.Errorf("%s says %q, want %q", path, got, want)
		}
		send := doc.Find("[data-key], .bench-more-list button")
		if all, off := send.Length(), send.Filter("[disabled]").Length(); want != "" && off != all || want == "" &&
			off > 0 {
			t.Errorf("%s: %d of %d buttons are disabled", path, off, all)
		}
	}
	for what, one := range map[string]struct {
		pages      []string
		says, name string
	}{
		switches.TaskSwitchName(s.Task.ID): {pages, "This task accepts no submissions for now. We move.",
			s.Task.Title + " is"},
		switches.SubmissionsSwitch: {pages, "The site accepts no submissions for now. We move.",
			"New submissions are"},
		switches.EvaluationsSwitch: {[]string{"/playground"}, "The site accepts no evaluations for now. We move.",
			"Evaluations (API, MCP, playground) are"},
	} {
		notice(t, admin.Post("/operate/off", url.Values{"what": {what}, "why": {"We move."}}), one.name+" off.")
		for _, path := range one.pages {
			says(path, one.says)
		}
		notice(t, admin.Post("/operate/on", url.Values{"what": {what}}), one.name+" on again.")
		for _, path := range append(pages, "/playground") {
			says(path, "")
		}
	}
}

// notice checks that a page confirms a change of a switch, and that its form lists tasks by title.
func notice(t *testing.T, resp *http.Response, want string) {
	t.Helper()
	doc := webtest.Document(t, resp, http.StatusOK)
	webtest.WantText(t, doc, "main > [role=status]", want)
	title, _, _ := strings.Cut(want, " is ")
	if title != want && doc.Find("#switch-what option").FilterFunction(func(_ int,
		e *goquery.Selection) bool {
		return webtest.Words(e) == title
	}).Length() != 1 {
		t.Errorf("no choice is called %q", title)
	}
}

func TestSwitchesAndTeamsLookRight(t *testing.T) {
	s := webtest.NewScene(t)
	admin := s.BrowserOf(s.Admin)
	for _, person := range []string{s.Ada.Name, s.Admin.Name} {
		admin.Post("/operate/teams", url.Values{"team": {"Kernels"}, "person": {person}, "seconds": {"500"}})
	}
	for _, what := range []string{switches.TaskSwitchName(s.Task.ID), switches.EvaluationsSwitch} {
		admin.Post("/operate/off", url.Values{"what": {what}, "why": {"The machines are being moved; back on Monday."}})
	}
	w := s.Window().As(s.BrowserOf(s.Ada))
	task := "/tasks/" + s.Task.Slug
	for path, name := range map[string]string{task: "off-task", task + "/solve": "off-bench",
		task + "/boards/H200": "off-board", "/playground": "off-playground"} {
		w.Visit(path)
		w.LooksRight(name)
	}
	w = s.Window().As(admin)
	w.Visit("/operate?switched=" + switches.TaskSwitchName(s.Task.ID))
	w.LooksRight("off-operate")
	w.Do(chromedp.EmulateViewport(390, 900))
	// the tabs have one row, which scrolls sideways
	w.Until(`document.querySelector("nav[aria-label=Admin]").offsetHeight < 60`)
	w.RefusedNothing()
}
