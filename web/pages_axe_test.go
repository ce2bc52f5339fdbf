package web_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"warpboard/web/webtest"
)

// look is one of the four ways in which a page is seen.
type look struct {
	theme string
	width int64
}

// lookedAt are the pages that axe looks at: each kind once, as someone sees it who may do everything. What a fragment
// names is chosen.
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

// TestAxeFindsNothing holds every page to all rules of axe-core, light on a desk, and to those that see colour or
// layout twice more: dark on a phone, and in turns dark on a desk or light on a phone. What only one width shows has
// its colours in both themes; the layout does not depend on them. No page is wider than the narrowest phone.
func TestAxeFindsNothing(t *testing.T) {
	s := webtest.NewProfiledScene(t)
	w := s.Window().As(s.BrowserOf(s.Admin))
	for n, path := range lookedAt(s) {
		began := time.Now()
		w.Visit(path)
		w.Eval(`document.getElementById(location.hash.slice(1))?.click()`)
		w.Do(chromedp.EmulateViewport(320, 700)) // the narrowest phone; WCAG 1.4.10 asks for it, too
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

// cut finds a card that hides a part of what it has.
const cut = `[...document.querySelectorAll(".card.overflow-hidden")].find((card) => card.scrollWidth > card.clientWidth)?.innerText.slice(0, 60) ?? ""`

// alike selects repeated parts of a page, from the sixth on: lines of source, rows of tables, keys, and operations.
// Checking each takes a minute on some pages, and finds nothing more. axe skips folded parts anyway, but walks them.
const alike = ".source .line:nth-child(n+6), tbody tr:nth-child(n+6), article.card:nth-child(n+6), [data-key]:nth-child(n+6), details:not([open]) > :not(summary)"
