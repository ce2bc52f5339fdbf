package submissions_test

import (
	"testing"

	"warpboard/web/webtest"
)

// TestRankComesNextAfterATestThatPassed checks that Rank becomes the highlighted button, and Test again once the text
// changes.
func TestRankComesNextAfterATestThatPassed(t *testing.T) {
	s := webtest.NewScene(t)
	w := s.Window().As(s.BrowserOf(s.Ada))
	filled := func(label string) {
		t.Helper()
		w.Until(`[...document.querySelectorAll(".bench-bar > .btn-main")].map((b) => b.textContent.trim()).join() == "` + label + `"`)
	}
	w.Bench(s, "")
	w.Types(webtest.GoodKernel)
	filled("Test")
	w.Eval(`document.querySelector("[data-key=enter]").click()`)
	w.Until(`document.querySelector("#bench-run [data-run][data-state=queued]")`)
	filled("Test")
	result := resultWithoutScore(s)
	result.Stages = result.Stages[:2]
	result.Stages[1].Cases = webtest.PassedCases(5)
	s.Record(result, nil)
	w.Shows("#bench-run .card-head", "Passed, 5 of 5 tests")
	filled("Rank")
	w.LooksRight("bench-passed")
	w.Types(webtest.GoodKernel + "// changed")
	filled("Test")
	w.RefusedNothing()
}
