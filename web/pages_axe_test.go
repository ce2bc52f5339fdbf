package web_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"warpboard/web/webtest"
)

// look is a combination of color theme and window width in which pages are checked.
type look struct {
	theme string
	width int64
}

// lookedAt returns the URLs of the pages that axe checks, one of each kind, with all permissions. A fragment is the ID
// of an element that the test clicks first.
func lookedAt(s *webtest.ProfiledScene) []string {
	run := s.Second
	return append(s.All(), "/compare", fmt.Sprintf("/compare?b=%d", run.ID),
		fmt.Sprintf("/compare?a=%d&b=%d", s.First.ID, run.ID),
		webtest.SubmissionPath(run), webtest.ProfilePath(run), "/playground", "/search?q=matrix", "/operate",
		"/operate/storage", "/webhooks", s.Webhook(), "/devices/CPU/sentinel", "/api", "/tags/beginner",
		"/leaderboards", "/docs/tasks", "/docs", "/docs/proxy", "/docs/measuring", "/harness/eval/py",
		"/tasks/new/softmax_numpy", "/tasks/"+s.Task.Slug+"/trial",
		fmt.Sprintf("/tasks/%s/solve?run=%d#tab-profile", s.Task.Slug, run.SubmissionID),
		"/events", "/events/new", "/events/"+s.Event(0).Slug, "/tasks/"+s.Task.Slug+"/boards/H200/embed",
		"/tasks/"+s.Task.Slug+"/boards/H200?columns=error")
}

// TestAxeFindsNothing checks every page with all rules of axe-core in a wide light window. Rules about color or layout
// are checked twice more: dark on a phone, and alternately dark in a wide window or light on a phone. This covers the
// colors of parts that only one width shows; the layout does not depend on the theme. No page may be wider than the
// narrowest phone.
func TestAxeFindsNothing(t *testing.T) {
	s := webtest.NewProfiledScene(t)
	w := s.Window().As(s.BrowserOf(s.Admin))
	for n, path := range lookedAt(s) {
		began := time.Now()
		w.Visit(path)
		w.Eval(`document.getElementById(location.hash.slice(1))?.click()`)
		w.Do(chromedp.EmulateViewport(320, 700)) // the narrowest phone, and the width that WCAG 1.4.10 requires
		if over := w.Eval("document.documentElement.scrollWidth - innerWidth"); over != "0" {
			t.Errorf("%s at 320 px: the page is %s px wider than the window", path, over)
		}
		if text := w.Eval(cut); text != "" {
			t.Errorf("%s at 320 px: text is cut off: %s", path, text)
		}
		w.Do(chromedp.EmulateViewport(1280, 900))
		w.Eval(fmt.Sprintf("document.querySelectorAll(%q).forEach((e) => e.remove())", alike))
		w.LoadAxe()
		for i, look := range []look{{"light", 1280}, {"dark", 390}, []look{{"dark", 1280}, {"light", 390}}[n%2]} {
			w.Do(chromedp.EmulateViewport(look.width, 900))
			for _, f := range w.Axe(look.theme, i == 0) {
				t.Errorf("%s, %s at %d px: %s (%s), %d times, first at %v: %s\n%s", path, look.theme, look.width,
					f.Help, f.ID, len(f.Nodes), f.Nodes[0].Target, f.Nodes[0].HTML, f.Nodes[0].Summary)
			}
		}
		t.Logf("%6d ms %s", time.Since(began).Milliseconds(), path)
	}
}

// cut is a script that returns the text of a card whose content is wider than the card, or "".
const cut = `[...document.querySelectorAll(".card.overflow-hidden")].find((card) => card.scrollWidth > card.clientWidth)?.innerText.slice(0, 60) ?? ""`

// alike selects parts of a page that the test removes before axe checks it: repeated parts from the sixth on (lines of
// source, rows of tables, cards, and keys), because checking each takes a minute on some pages and finds nothing more,
// and collapsed parts, which axe visits without checking them.
const alike = ".source .line:nth-child(n+6), tbody tr:nth-child(n+6), article.card:nth-child(n+6), [data-key]:nth-child(n+6), details:not([open]) > :not(summary)"
