package submissions_test

import (
	"testing"

	"github.com/chromedp/chromedp"

	"warpboard/web/webtest"
)

// TestResultsBeginAtTheirHeading checks that the heading of the result is visible in a small window after a run begins
// or ends, or a tab is opened. If a person has scrolled, the position stays.
func TestResultsBeginAtTheirHeading(t *testing.T) {
	s := webtest.NewScene(t)
	w := s.Window().As(s.BrowserOf(s.Ada))
	const heading = `(() => {
		const box = document.querySelector("#bench-run h2").getBoundingClientRect(), panel = document.querySelector("#bench-run").getBoundingClientRect();
		return box.height && box.top >= Math.max(panel.top, 0) && box.bottom <= Math.min(panel.bottom, innerHeight);
	})()`
	test := func() {
		w.Eval(`document.querySelector("[data-key=enter]").click()`)
		w.Until(`document.querySelector("#bench-run [data-run][data-state=queued]")`)
		w.Until(heading)
	}
	for _, size := range [][2]int64{{1280, 560}, {390, 844}} {
		w.Do(chromedp.EmulateViewport(size[0], size[1]))
		w.Bench(s, "")
		w.Types("void custom_kernel() {}\n") // typing leaves the focus in the editor
		test()
		s.Fail(s.Newest(s.Ada), webtest.WrongAnswer())
		w.Until(`document.querySelector("#bench-run [data-failure]")`)
		w.Until(heading)
		w.Eval(`document.activeElement.blur()`)
		test()
		s.Fail(s.Newest(s.Ada), webtest.WrongAnswer())
		w.Until(`document.querySelector("#bench-run [data-failure]")`)
		w.Until(heading)
	}
	w.Do(chromedp.EmulateViewport(1280, 560))
	w.Until(`(document.querySelector("#bench-run").scrollTop = 40) == 40`)
	w.Eval(`document.querySelector("#tab-cases").click()`)
	w.Until(`document.querySelector("#bench-run").scrollTop == 0 && document.querySelector("#bench-run [data-cases] summary").getBoundingClientRect().top >= document.querySelector("#bench-run").getBoundingClientRect().top`)
	w.Eval(`document.querySelector("#tab-verdict").click()`)
	test()
	w.Eval(`document.querySelector("#bench-run").style.paddingBottom = "40rem", document.querySelector("#bench-run").scrollTop = 40`)
	s.Fail(s.Newest(s.Ada), webtest.WrongAnswer())
	w.Until(`document.querySelector("#bench-run [data-failure]") && document.querySelector("#bench-run").scrollTop > 0`)
	w.RefusedNothing()
}
