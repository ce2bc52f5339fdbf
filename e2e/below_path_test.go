package e2e

import (
	"strings"

	"github.com/chromedp/chromedp"
)

// belowPath is the path under which some tests serve their site.
const belowPath = "/warpboard"

// worksBelowThePath signs in, solves the small task, and follows the run live. It uses only links, forms, streams, and
// scripts of the pages: a request outside the path fails.
func (w *window) worksBelowThePath() {
	w.T.Helper()
	w.Open("/me")
	w.Until(`location.pathname + location.search == "/warpboard/sign-in?next=%2Fme"`)
	w.opensLink()
	w.Until(`location.pathname == "/warpboard/"`)
	w.Open("/sign-in?next=%2Fme")
	w.Do(chromedp.WaitVisible("#name"), chromedp.SendKeys("#name", "Bea Low"))
	w.Click("main .btn-main")
	w.Until(`location.pathname == "/warpboard/me"`)
	w.Shows("header", "Bea Low")

	w.Click("[data-theme-toggle]")
	w.Click(`header a[aria-label="Warpboard"]`)
	// The server reads the theme from a cookie.
	w.Until(`location.pathname == "/warpboard/" && document.documentElement.dataset.theme == "dark"`)

	w.Until(`!document.querySelector("[data-theme-toggle]").hidden`) // wait until the page's script has run
	w.Do(chromedp.KeyEvent("k", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	w.Until(`document.querySelector("dialog.palette [role=option]")`)
	w.Do(chromedp.SendKeys("dialog.palette input", "submit"))
	w.Click(`dialog.palette [data-url="/warpboard/tasks/sum/solve"]`)
	w.Until(`location.pathname == "/warpboard/tasks/sum/solve" && document.querySelector(".cm-content")`)
	w.writes(kernel(""))
	w.Do(chromedp.KeyEvent("\r", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	w.Until(`document.querySelector("#bench-run [data-state=done]")`)

	w.paste(kernel("usleep(2000);"))
	w.Until(`location.pathname.startsWith("/warpboard/submissions/")`)
	w.Eval("window.opened = true")
	w.Until(`document.querySelector("[data-state=done]") && window.opened`) // a reload would delete window.opened
	w.Click(`main a[href="/warpboard/tasks/sum/boards/CPU"]`)
	w.Shows("#board .mine", "Bea Low")
	w.Eval(`document.querySelector("#board .mine td a").focus()`)
	w.clean()
	if asked := w.Eval(
		`performance.getEntriesByType("resource").map((e) => new URL(e.name).pathname).filter((p) => !p.startsWith("/warpboard/")).join(" ")`); strings.TrimSpace(asked) != "" {
		w.T.Errorf("the page asked for %s", asked)
	}
}
