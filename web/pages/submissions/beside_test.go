package submissions_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"warpboard/models/work"
	"warpboard/web/webtest"
)

// lined creates a profiled run of a build with line information. Groups of four instructions belong to one source line,
// and the order of the lines in the file differs from the order of their instructions.
func lined(s *webtest.ProfiledScene) work.Run {
	s.T.Helper()
	run := s.Submit(s.Ada, "H200", webtest.GoodKernel)
	s.Finish(run, 9.5e3)
	held := webtest.FixtureReport(s.T, "cuda4")
	for k := range held.Kernels {
		for i := range held.Kernels[k].Source.Lines {
			l := &held.Kernels[k].Source.Lines[i]
			l.SourceFile, l.SourceLine = "/in/submission.cu", 10+(i/4*7)%53
			l.SourceText = fmt.Sprintf("    acc[%d] += tile_a[row][%d] * tile_b[%d][col];", i/4, i/4, i/4)
		}
	}
	s.EndProfile(run, held)
	return run
}

func TestSourceAndInstructionsScrollTogether(t *testing.T) {
	s := webtest.NewProfiledScene(t)
	w := s.Window().As(s.BrowserOf(s.Admin))
	w.Visit(webtest.ProfilePath(lined(s)) + "?kernel=1")
	w.LooksRight("profile-lines")
	// shown() returns true if the source line of the first visible instruction is visible, too.
	w.Eval(`window.shown = () => { const [source, sass] = [...document.querySelectorAll("[data-pane]")], head = (pane) => pane.getBoundingClientRect().top + pane.querySelector("thead").offsetHeight;
		const first = [...sass.querySelectorAll("[data-line]")].find((row) => row.getBoundingClientRect().bottom > head(sass));
		const beside = source.querySelector('[data-line="' + first.dataset.line + '"]').getBoundingClientRect();
		return beside.bottom > head(source) && beside.top < source.getBoundingClientRect().bottom }`)
	w.Until(`document.querySelector("[data-together]").led !== undefined`)
	w.Eval(`((lead) => (lead.dispatchEvent(new PointerEvent("pointerenter")), (lead.scrollTop = 300)))(document.querySelectorAll("[data-pane]")[1])`)
	w.Until(`document.querySelectorAll("[data-pane]")[1].scrollTop == 300 && document.querySelector("[data-pane]").scrollTop > 0 && shown()`)
	w.Click("[data-hottest] a:last-of-type")
	w.Until(`document.querySelector("#hottest-line").getBoundingClientRect().top < innerHeight && document.querySelector("#hottest-line.pf-here")`)
	w.Click("[data-hottest] a")
	w.Until(`document.querySelector("[data-pane] tr:target.pf-here td.pf-index")`)
	w.RefusedNothing()
}

func TestARooflineZoomsInPlace(t *testing.T) {
	s := webtest.NewProfiledScene(t)
	w := s.Window().As(s.BrowserOf(s.Admin))
	w.Visit(fmt.Sprintf("%s?pin=%d", webtest.ProfilePath(s.Second), s.First.ID))
	w.Eval(`(document.querySelector("#roofline").scrollIntoView(), (window.kept = true))`)
	w.Click("#zoom-in")
	w.Until(`window.kept && location.search.includes("zoom=1") && location.search.includes("pin=") && document.querySelector("a#zoom-whole")`)
	w.Until(`document.querySelector(".pf-rail [data-section=roofline]").getAttribute("aria-current") == "true"`)
	w.LooksRight("profile-zoomed")
	// overlaps counts overlapping texts in the drawing. Rotated texts are omitted, because their bounding boxes are
	// larger than the texts.
	overlaps := `(() => { const boxes = [...document.querySelectorAll("#roofline svg.pf-chart text:not([transform])")].map((e) => e.getBoundingClientRect()).filter((b) => b.width > 0);
		return boxes.filter((a, i) => boxes.some((b, n) => n < i && a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 4 && b.top < a.bottom - 4)).length })()`
	for _, zoom := range []string{"", "zoom=1,700,600", "zoom=2,800,800", "zoom=4,900,800"} {
		for _, width := range []int64{1440, 1280, 390} {
			w.Do(chromedp.EmulateViewport(width, 900))
			w.Visit(webtest.ProfilePath(s.First) + "?kernel=1&" + zoom)
			w.Until(overlaps + ` == 0 && document.querySelectorAll("#roofline svg.pf-chart text").length > 8`)
		}
	}
	w.RefusedNothing()
}
