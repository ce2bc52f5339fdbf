package web

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// finding is one rule of axe-core that a page breaks.
type finding struct {
	ID    string
	Help  string
	Nodes []struct {
		Target  []any
		HTML    string
		Summary string `json:"failureSummary"`
	}
}

// look is one of the four ways in which a page is seen.
type look struct {
	theme string
	width int64
}

// lookedAt are the pages that axe looks at: each kind once, as someone sees it who may do everything.
func (s *profiledScene) lookedAt() []string {
	run := s.second
	return append(s.all(), "/compare", fmt.Sprintf("/compare?b=%d", run.ID), fmt.Sprintf("/compare?a=%d&b=%d", s.first.ID, run.ID),
		submissionPath(run), profilePath(run), "/playground", "/operate", "/operate/storage", "/webhooks", s.webhook(), "/devices/CPU/sentinel", "/api", "/tags/beginner", "/leaderboards", "/docs/tasks", "/docs", "/docs/proxy", "/docs/measuring", "/harness/eval/py",
		"/tasks/new/softmax_numpy", "/tasks/"+s.task.Slug+"/trial",
		"/events", "/events/new", "/events/"+s.event(0).Slug, "/tasks/"+s.task.Slug+"/boards/H200/embed", "/tasks/"+s.task.Slug+"/boards/H200?columns=error")
}

// TestAxeFindsNothing holds every page to all rules of axe-core, light on a desk, and to those that see colour or layout
// twice more: dark on a phone, and in turns dark on a desk or light on a phone. What only one width shows has its colours in
// both themes; the layout does not depend on them.
func TestAxeFindsNothing(t *testing.T) {
	s := newProfiledScene(t)
	w := s.window().as(s.browserOf(s.admin))
	for n, path := range s.lookedAt() {
		began := time.Now()
		w.Do(chromedp.EmulateViewport(1280, 900))
		w.open(path)
		w.Eval(fmt.Sprintf("document.querySelectorAll(%q).forEach((e) => e.remove())", alike))
		w.loadAxe()
		for i, look := range []look{{"light", 1280}, {"dark", 390}, []look{{"dark", 1280}, {"light", 390}}[n%2]} {
			w.Do(chromedp.EmulateViewport(look.width, 900))
			for _, f := range w.axe(look.theme, i == 0) {
				t.Errorf("%s, %s at %d px: %s (%s), %d times, first at %v: %s\n%s", path, look.theme, look.width, f.Help, f.ID, len(f.Nodes), f.Nodes[0].Target, f.Nodes[0].HTML, f.Nodes[0].Summary)
			}
		}
		t.Logf("%6d ms %s", time.Since(began).Milliseconds(), path)
	}
}

// alike is what repeats on a page, from the sixth on: lines of source, rows of tables, keys and operations. To look at each
// takes a minute on some pages, and finds no more. What is folded away is not seen by axe anyway, only walked.
const alike = ".source .line:nth-child(n+6), tbody tr:nth-child(n+6), article.card:nth-child(n+6), [data-key]:nth-child(n+6), details:not([open]) > :not(summary)"

// loadAxe loads axe-core: a copy of the npm package, made by the build of static/.
func (w *window) loadAxe() {
	w.T.Helper()
	program, err := os.ReadFile(moduleFile(w.T, "web/testdata/axe.min.js"))
	if err == nil {
		_, err = chromedp.Run(w.Ctx, chromedp.Evaluate[bool](string(program)+"; true"))
	}
	if err != nil {
		w.T.Fatal(err)
	}
}

// axe asks the loaded page, in a theme, for what is wrong: by all rules, or by those that colour and width can change.
func (w *window) axe(theme string, all bool) (found []finding) {
	w.T.Helper()
	options := `{resultTypes: ["violations"], preload: false}`
	if !all {
		options = `{resultTypes: ["violations"], preload: false, runOnly: ["color-contrast", "link-in-text-block", "scrollable-region-focusable", "target-size"]}`
	}
	script := fmt.Sprintf(`document.documentElement.dataset.theme = %q; axe.run(document, %s).then((r) => JSON.stringify(r.violations))`, theme, options)
	text, err := chromedp.Run(w.Ctx, chromedp.Evaluate[string](script, chromedp.EvalAwaitPromise))
	if err == nil {
		err = json.NewDecoder(strings.NewReader(text)).Decode(&found)
	}
	if err != nil {
		w.T.Fatal(err)
	}
	return found
}
