package web_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"warpboard/web/webtest"
)

// TestTextsFitWhereTheyAre checks that texts fit into the main pages, each at the width at which it has the least
// space.
func TestTextsFitWhereTheyAre(t *testing.T) {
	s := webtest.NewProfiledScene(t)
	w := s.Window().As(s.BrowserOf(s.Admin))
	holds(w, "/", 1280, "no tag is cut",
		`[...document.querySelectorAll("[data-task] .truncate")].every((e) => e.scrollWidth <= e.clientWidth)`)
	holds(w, "/tasks/"+s.Task.Slug+"/boards/H200", 390, "links end where the row's text ends",
		`[...document.querySelectorAll(".board tbody tr")].every((row) => row.lastElementChild.scrollWidth <= row.lastElementChild.clientWidth)`)
	holds(w, fmt.Sprintf("/users/%d", s.Ada.ID), 390, "a device has one line",
		`[...document.querySelectorAll("main .device")].every((e) => e.getClientRects().length <= 1)`)
	for _, path := range []string{"/tasks/" + s.Task.Slug, fmt.Sprintf("/users/%d", s.Admin.ID),
		fmt.Sprintf("/users/%d", s.Ada.ID), "/devices"} {
		holds(w, path, 390, "no table scrolls sideways",
			`[...document.querySelectorAll("main .scroll:has(.table)")].every((e) => !e.checkVisibility() || e.scrollWidth <= e.clientWidth)`)
	}
	holds(w, "/tasks", 390, "the tasks begin on the first screen",
		`document.querySelector("#tasks").getBoundingClientRect().top < 420`)
	holds(w, "/tasks/"+s.Task.Slug+"/solve", 390, "the note beside a device is whole",
		`document.querySelector("#bench-queue .device-chip") && document.querySelector("#bench-queue").scrollWidth <= document.querySelector("#bench-queue").clientWidth`)
	holds(w, "/trust", 1280, "code in a sentence stands out from a dark page",
		`((document.documentElement.dataset.theme = "dark"), getComputedStyle(document.querySelector(".prose p > code")).backgroundColor != "rgb(12, 14, 16)")`)
	holds(w, webtest.SubmissionPath(s.Second), 390, "the texts of a line below a title stand on one line",
		`[...document.querySelectorAll("p.meta")].every((line) => new Set([...line.children].slice(0, 2).map((e) => { const r = document.createRange(); r.selectNodeContents(e); return Math.round(r.getClientRects()[0].bottom); })).size == 1)`)
	if _, err := s.Cfg.Store.Disqualify(t.Context(), s.Admin, s.First.ID, "for a test"); err != nil {
		t.Fatal(err)
	}
	holds(w, webtest.ProfilePath(s.First), 1280, "no dot stands in a badge",
		`document.querySelector(".meta > .tag-fail") && [...document.querySelectorAll(".meta > .tag")].every((e) => getComputedStyle(e, "::after").content == "none")`)
	holds(w, webtest.ProfilePath(s.Second), 1280, "only a page's main action is filled",
		`[...document.querySelectorAll(".pf button")].every((e) => getComputedStyle(e).backgroundColor == "rgba(0, 0, 0, 0)")`)
	holds(w, webtest.ProfilePath(s.Second), 390, "the kernels need no sideways scrolling",
		`document.querySelector(".pf-kernels").parentElement.scrollWidth <= document.querySelector(".pf-kernels").parentElement.clientWidth`)
	holds(w, webtest.ProfilePath(s.Second), 390, "instructions need no sideways scrolling",
		`document.querySelector(".pf-sass").parentElement.scrollWidth <= document.querySelector(".pf-sass").parentElement.clientWidth`)
	compared := webtest.NewComparedScene(s)
	holds(w, compared.Path(), 390, "a counter's name has a line of its own",
		`[...document.querySelectorAll(".pf-vs tbody th")].every((e) => !e.checkVisibility() || e.getBoundingClientRect().width > 280)`)
	holds(w, compared.Path(), 390, "no table scrolls sideways",
		`(document.querySelectorAll("#times details").forEach((e) => (e.open = true)), 1) && [...document.querySelectorAll("#times .pf-scroll")].every((e) => e.checkVisibility() && e.scrollWidth <= e.clientWidth)`)
	holds(w, compared.Path(), 390, "the verdict is on the first screen",
		`document.querySelector(".pf-headline + p").getBoundingClientRect().bottom < 700`)
}

// holds opens a page in a window of a width in pixels, and fails the test unless a JavaScript condition is true.
func holds(w *webtest.Window, path string, width int64, what, condition string) {
	w.T.Helper()
	w.Do(chromedp.EmulateViewport(width, 900))
	w.Visit(path)
	if w.Eval(condition) != "true" {
		w.T.Errorf("%s at %d px: not so that %s", path, width, what)
	}
}
