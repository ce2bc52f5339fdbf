package e2e

import (
	"testing"

	"github.com/chromedp/chromedp"

	"warpboard/internal/test/tier"
)

// TestAFirstRankedEntryTakesThreeClicks acts like a new person who has just signed in: from home to an entry on the
// board of a built-in task, with the site's default measuring.
func TestAFirstRankedEntryTakesThreeClicks(t *testing.T) {
	tier.Needs(t, tier.Browser)
	const mostClicks = 3
	s := startSite(t, "--cpu-slots", "1", "--warm-python", "0")
	w := s.window(t)
	w.signIn("Grace Hopper")
	clicks := 0
	click := func(target string) {
		t.Helper()
		w.Do(chromedp.WaitVisible(target))
		w.Click(target)
		clicks++
	}
	click(`main [aria-label="Solve Vector add (C++)"]`)
	w.Until(`document.querySelector(".cm-content") && document.querySelector("input[name=device][value=CPU]").checked`)
	click(`main button[name=mode][value=ranked]`)
	w.Until(`document.querySelector("#bench-run [data-state=done]")`)
	w.Open("/tasks/vectoradd-cpp/boards/CPU") // not counted as a click: the workbench shows the rank, too
	w.Shows(`#board tr[data-rank="1"].mine`, "Grace Hopper")
	t.Logf("from sign-in to a first entry: %d clicks", clicks)
	if clicks > mostClicks {
		t.Errorf("a first entry took %d clicks, want at most %d", clicks, mostClicks)
	}
	w.clean()
}
