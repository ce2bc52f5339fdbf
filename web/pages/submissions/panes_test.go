package submissions_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"warpboard/web/webtest"
)

// TestWorkbenchShowsOnePartOfTheResult checks that only the part of the selected tab is visible, and that the sizes of
// the panes are remembered.
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

// TestTheProfileTabSaysThatACPUHasNoProfile checks that a note in the tab says so, above the timeline of the run.
func TestTheProfileTabSaysThatACPUHasNoProfile(t *testing.T) {
	s := webtest.NewScene(t)
	run := s.Submit(s.Ada, "CPU", webtest.GoodKernel)
	s.Finish(run, 5e3)
	w := s.Window().As(s.BrowserOf(s.Ada))
	w.Do(chromedp.EmulateViewport(1440, 900))
	says := func(visible bool) {
		t.Helper()
		w.Until(fmt.Sprintf(`!!document.querySelector("[data-no-profile]").offsetHeight == %t`, visible))
	}
	w.Bench(s, fmt.Sprintf("?run=%d", run.SubmissionID))
	says(false)
	w.Eval(`document.querySelector("#tab-profile").click()`)
	says(true)
	w.Shows("[data-no-profile]", "Nsight Compute profiles GPUs only")
	w.Visit(fmt.Sprintf("/submissions/%d", run.SubmissionID))
	says(false)
}

// TestWorkbenchFillsTheWindowWithoutAScript checks that without JavaScript both panes fill the width, with a gap
// between them.
func TestWorkbenchFillsTheWindowWithoutAScript(t *testing.T) {
	s := webtest.NewScene(t)
	w := s.Window().As(s.BrowserOf(s.Ada))
	w.Do(chromedp.EmulateViewport(1280, 900))
	scripts := func(off bool) {
		if _, err := chromedp.Call(w.Ctx, emulation.SetScriptExecutionDisabled,
			emulation.SetScriptExecutionDisabledParams{Value: off}); err != nil {
			t.Fatal(err)
		}
	}
	scripts(true)
	w.Open("/tasks/" + s.Task.Slug + "/solve")
	scripts(false) // for this test's own scripts; the page has loaded without its own
	w.LooksRight("bench-without-script")
	const box = `((e) => document.querySelector(e).getBoundingClientRect())`
	for _, fits := range []string{
		box + `(".bench-right").right >= ` + box + `(".bench").right - 1`,
		box + `(".bench-left").left <= ` + box + `(".bench").left + 1`,
		box + `(".bench-right").left - ` + box + `(".bench-left").right >= 8`,
		box + `(".bench-right").left - ` + box + `(".bench-left").right <= 32`,
		box + `(".bench-panel").top - ` + box + `(".bench-form").bottom <= 24`,
		box + `(".bench-panel").bottom <= innerHeight`,
	} {
		if w.Eval(fits) != "true" {
			t.Errorf("the page does not have %s", fits)
		}
	}
}

// TestTheSplitterStaysWhereItIs checks that the splitter between editor and result does not move when the first result
// appears.
func TestTheSplitterStaysWhereItIs(t *testing.T) {
	s := webtest.NewScene(t)
	w := s.Window().As(s.BrowserOf(s.Ada))
	w.Do(chromedp.EmulateViewport(1440, 900))
	w.Bench(s, "")
	const top = `Math.round(document.querySelector("[data-split=panel]").getBoundingClientRect().top)`
	before := w.Eval(top)
	w.Types(webtest.GoodKernel)
	w.Eval(`document.querySelector("[data-key=enter]").click()`)
	w.Until(`document.querySelector("#bench-run [data-run][data-state=queued]")`)
	if after := w.Eval(top); after != before {
		t.Errorf("it was at %s px and is at %s px", before, after)
	}
	s.Fail(s.Newest(s.Ada), webtest.WrongAnswer())
	w.Until(`document.querySelector("#bench-run [data-failure]")`)
	if after := w.Eval(top); after != before {
		t.Errorf("it was at %s px and after a failure is at %s px", before, after)
	}
	w.Until(`Math.abs(document.querySelector("#bench-panel").offsetHeight / document.querySelector(".bench-right").offsetHeight - document.querySelector("[data-split=panel]").getAttribute("aria-valuenow") / 100) < 0.02`)
}
