package e2e

import (
	"testing"

	"github.com/chromedp/chromedp"

	"warpboard/internal/test/tier"
)

// TestATaskIsMadeFromAStarter acts like an author who has read nothing: from "New task" to a published task whose check
// was tried on real submissions.
func TestATaskIsMadeFromAStarter(t *testing.T) {
	tier.Needs(t, tier.Browser)
	s := startSite(t, "--cpu-slots", "1", "--warm-python", "0", "--ranked-processes", "2", "--baselines=false")
	w := s.window(t)
	w.signIn("Ada Lovelace")
	w.Click("header .menu summary")
	w.Click(`header a[href="/tasks/new"]`)
	w.Click(`main a[href="/tasks/new/vectoradd_cpp"]`)
	w.Do(chromedp.WaitVisible("#title"), chromedp.SendKeys("#title", "Add them up"))
	w.Shows("[data-checked] [role=status]", "No problems")
	w.shoot("starter")
	w.Click("#tab-preview")
	w.Until(`document.querySelector("iframe").contentDocument.querySelector(".prose")?.textContent.includes("Add two vectors")`)
	w.shoot("starter-preview")
	w.Click("#tab-problems")
	w.Until(`document.querySelector(".file-pane:not([hidden]) .cm-content")`)
	w.Eval(`(() => { document.querySelector(".file-pane:not([hidden]) .cm-content").focus(); document.execCommand("insertText", false, "timeout: 3\n"); })()`)
	// The editor shows the problem before the author tries the task.
	w.Shows("[data-checked] li", "task.yml, line 1: timeout: unknown key")
	w.shoot("starter-wrong")
	w.Do(chromedp.KeyEvent("z", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	w.Shows("[data-checked] [role=status]", "No problems")
	w.Click(".author-bar .btn-main") // select the bar, because the preview has buttons of this class, too
	w.Shows("h1", "Try the task")
	w.Shows("[data-summary]", "All results are as expected")
	w.Shows("[data-verdict='vectorised.cpp']", "passes, as expected")
	w.Shows("[data-verdict='forgets_tail.cpp']", "rejected, as expected")
	for _, made := range []string{"one percent off", "all zeros", "last element wrong", "in reverse order",
		"half precision", "not a number", "stale output", "one term missing"} {
		w.Shows("[data-verdict='"+made+"']", "rejected, as expected")
	}
	w.Shows("[data-verdict='the starter']", "compiles, and passes")
	w.Until(`document.querySelectorAll("[data-verdict='vectorised.cpp'] [data-cell=pass]").length == 8`)
	// The benchmarks of the correct solution have times.
	w.Until(`document.querySelectorAll("[data-verdict='vectorised.cpp'] [data-cell] .num").length == 3`)
	w.Shows("[data-proof='forgets_tail.cpp']", "Proved wrong by test 0 (size: 1; seed: 4242): element 0: expected ")
	w.Click("[data-verdict='forgets_tail.cpp'] .cell-proof")
	w.Until(`document.querySelector("[data-verdict='forgets_tail.cpp'] .pop:popover-open dd").textContent != ""`)
	w.shoot("trial")
	w.Eval(`document.querySelector(".pop:popover-open").hidePopover()`)
	w.Click("main form .btn-main")
	w.Shows("[role=status]", "Everyone can see the task now")

	w.Open("/tasks/new/softmax_numpy")
	w.Do(chromedp.WaitVisible("#title"), chromedp.SendKeys("#title", "Softmax again"))
	w.Click("main form .btn-main")
	w.Shows("[data-summary]", "All results are as expected")
	w.Shows("[data-verdict='the reference itself']", "passes, as expected")
	w.shoot("trial-python")
	w.clean()
}
