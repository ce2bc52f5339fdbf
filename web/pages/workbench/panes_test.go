package workbench_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"warpboard/web/webtest"
)

// TestWorkbenchShowsOnePartOfTheResult, and remembers the sizes of its panes.
func TestWorkbenchShowsOnePartOfTheResult(t *testing.T) {
	s := webtest.NewScene(t)
	w := s.Window().As(s.BrowserOf(s.Ada))
	w.Do(chromedp.EmulateViewport(1440, 900))
	w.Bench(s, fmt.Sprintf("?run=%d", s.Failed.SubmissionID))
	shown := `[...document.querySelectorAll("#bench-run [data-part]")].filter((part) => part.offsetHeight).map((part) => part.dataset.part).join()`
	for _, tab := range []struct{ name, shows string }{{"output", "output"}, {"verdict", "verdict"}, {"cases", ""}} {
		w.Eval(fmt.Sprintf(`document.querySelector("#tab-%s").click()`, tab.name))
		w.Until(fmt.Sprintf("%s == %q", shown, tab.shows))
	}
	w.Shows(".bench-nothing", "No case has run yet.")
	w.Eval(`document.querySelector("#tab-history").click()`)
	w.Shows("#pane-history", fmt.Sprintf("#%d", s.Failed.SubmissionID))
	w.Until(`document.querySelector("#bench-run").hidden`)
	w.Until(fmt.Sprintf(`document.querySelector("#pane-history a[href$='solve?from=%d']")`, s.Failed.SubmissionID))

	w.Eval(`document.querySelector("[data-split=left]").focus()`)
	for range 5 {
		w.Do(chromedp.KeyEvent(kb.ArrowRight))
	}
	w.Until(`document.querySelector("[data-split=left]").getAttribute("aria-valuenow") == "50"`)
	w.Bench(s, "")
	w.Until(`Math.abs(document.querySelector("#bench-left").offsetWidth / document.querySelector("[data-bench]").offsetWidth - 0.5) < 0.02`)
	w.RefusedNothing()
}
