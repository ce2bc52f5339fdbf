package boards_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"warpboard/web/webtest"
)

func TestABoardIsDrawnOverItsTable(t *testing.T) {
	s := webtest.NewScene(t)
	board := "/tasks/" + s.Task.Slug + "/boards/H200"
	doc := s.BrowserOf(s.Ada).Page(board, http.StatusOK)
	if picture, table := doc.Find("figure.chart").Index(), doc.Find("figure.chart, #board").First(); picture < 0 ||
		!table.Is("figure") {
		t.Error("the picture does not come before the table")
	}
	names := webtest.Words(doc.Find(".point-name"))
	if !strings.Contains(names, "kernel-13") {
		t.Errorf("the record line names %q", names)
	}
	dots := doc.Find(".strip a[href^='/runs/']")
	if dots.Length() < 24 || dots.Find(".dot-mine").Length() != 1 {
		t.Errorf("%d dots, %d of them Ada's", dots.Length(), dots.Find(".dot-mine").Length())
	}
	mine := dots.Has(".dot-mine").AttrOr("href", "")
	resp := s.Browser().Get(mine)
	if got, want := resp.Request.URL.Path, fmt.Sprintf("/submissions/%d", s.Done.SubmissionID); got != want {
		t.Errorf("Ada's dot %s leads to %s, want %s", mine, got, want)
	}
	first := doc.Find("#board tbody tr").First()
	if bar := first.Find(".bar path").AttrOr("d", ""); bar != "M0 6H100.0" {
		t.Errorf("the bar of the first is %q", bar)
	}
	webtest.WantText(t, doc, fmt.Sprintf("#entry-%d", s.Ada.ID), "new 1")
}

// overlapping counts the pairs of texts in a board's picture that cover each other.
const overlapping = `(() => { const boxes = [...document.querySelectorAll(".chart text")].map((e) => e.getBoundingClientRect()).filter((b) => b.width > 0);
	return boxes.flatMap((a, i) => boxes.slice(i + 1).filter((b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)).length; })()`

func TestABaselineNearTheRecordCoversNoName(t *testing.T) {
	s := webtest.NewScene(t)
	for _, ns := range []float64{2.4e6, 2.1e6} {
		s.Finish(s.Submit(s.Ada, "CPU", fmt.Sprintf("%s// %v\n", webtest.GoodKernel, ns)), ns)
	}
	s.Measured("CPU", 2.177e6)
	w := s.Window()
	for _, width := range []int64{1440, 768, 390} {
		w.Do(chromedp.EmulateViewport(width, 900))
		w.Visit("/tasks/" + s.Task.Slug + "/boards/CPU")
		w.Shows(".mark-name", "naive, 2.177 ms")
		w.Shows(".point-name", "Ada Lovelace")
		if n := w.Eval(overlapping); n != "0" {
			t.Errorf("%s pairs of texts cover each other at %d px", n, width)
		}
	}
	w.Do(chromedp.EmulateViewport(1440, 900))
	w.Until(`document.querySelector("#board tbody tr").getBoundingClientRect().bottom < 900`)
	w.LooksRight("board-young")
}

func TestAShortScoreIsExplainedOnceOnABoard(t *testing.T) {
	s := webtest.NewScene(t)
	doc := s.Browser().Page("/tasks/"+s.Task.Slug+"/boards/H200", http.StatusOK)
	webtest.WantText(t, doc, "#board [data-short]", "Scores under 30 µs are not proven")
	if marks := doc.Find("#board a.mark").Length(); marks > 0 {
		t.Errorf("%d rows explain it, too", marks)
	}
}

func TestAPersonIsFoundOnTheBoard(t *testing.T) {
	s := webtest.NewScene(t)
	board := "/tasks/" + s.Task.Slug + "/boards/H200"
	last := s.Browser().Page(board+"?page=2", http.StatusOK).Find("#board tbody tr").Last()
	name := strings.Fields(webtest.Words(last))[1]
	resp := s.Browser().Get(board + "?find=" + strings.ToUpper(name))
	doc := webtest.Document(t, resp, http.StatusOK)
	if resp.Request.URL.Query().Get("page") != "2" || doc.Find("#"+resp.Request.URL.Fragment).Length() != 1 {
		t.Errorf("%s is unknown at %s", name, resp.Request.URL)
	}
	unknown := s.Browser().Page(board+"?find=Unknown+person", http.StatusOK)
	webtest.WantText(t, unknown, "[role=status]", "Unknown person")
	me := s.BrowserOf(s.Ada).Get(board + "?page=2&find=me")
	if want := fmt.Sprintf("entry-%d", s.Ada.ID); me.Request.URL.Fragment != want ||
		me.Request.URL.Query().Get("page") != "1" {
		t.Errorf("Ada is sent to %s", me.Request.URL)
	}
	webtest.WantText(t, s.BrowserOf(s.Ada).Page(board+"?page=2", http.StatusOK), "main h1 + div a", "Jump to me")
}

func TestABoardIsShownAsOfADate(t *testing.T) {
	s := webtest.NewScene(t)
	board := "/tasks/" + s.Task.Slug + "/boards/H200"
	b := s.BrowserOf(s.Ada)
	today := b.Page(board+"?at="+s.Cfg.Now().Format(time.DateOnly), http.StatusOK)
	webtest.CheckSound(t, today)
	webtest.WantText(t, today, "[data-past]", "as it stood at the end of")
	now := b.Page(board, http.StatusOK)
	if got, want := webtest.Words(today.Find("#board tbody tr:first-child")),
		webtest.Words(now.Find("#board tbody tr:first-child")); strings.Fields(got)[1] != strings.Fields(want)[1] {
		t.Errorf("at the end of the day %q leads, now %q", got, want)
	}
	if today.Find("[hx-sse\\:connect]").Length() != 0 ||
		!strings.Contains(today.Find("a[rel=next]").AttrOr("href", ""), "&at=") {
		t.Error("a past board is live, or its next page shows another time")
	}
	second := b.Page(board+"?page=2&at="+s.Cfg.Now().Format(time.DateOnly), http.StatusOK)
	if n := second.Find("#board tbody tr").Length(); n != 11 || second.Find("tfoot .mine").Length() != 1 {
		t.Errorf("the second page has %d rows, and Ada below %d times", n, second.Find("tfoot .mine").Length())
	}
	before := b.Page(board+"?at=2020-01-01", http.StatusOK)
	webtest.WantText(t, before, "#board", "This board had no entries then")
	webtest.WantStatus(t, b.Get(board+"?at=yesterday"), http.StatusUnprocessableEntity)
}

// TestTheTableOfABoardIsOnTheFirstScreen checks that the chart above the table leaves enough height for it: it is low
// in a large window, and collapsed on a phone.
func TestTheTableOfABoardIsOnTheFirstScreen(t *testing.T) {
	s := webtest.NewScene(t)
	w := s.Window()
	board := "/tasks/" + s.Task.Slug + "/boards/H200"
	const fits = `document.querySelector("#board tbody tr:nth-child(2)").getBoundingClientRect().bottom <= innerHeight`
	w.Do(chromedp.EmulateViewport(1440, 900))
	w.Visit(board)
	w.Until(`document.querySelector(".chart > svg").getBoundingClientRect().height == 128`)
	w.Until(fits)
	w.LooksRight("board-first-screen")
	w.Do(chromedp.EmulateViewport(390, 844))
	w.Visit(board)
	w.Until(fits)
	w.Until(`!document.querySelector(".chart").checkVisibility()`)
	w.Eval(`document.querySelector(".picture > summary").click()`)
	w.Until(`document.querySelector(".chart").checkVisibility()`)
	w.LooksRight("board-unfolded")
}

// TestAnEmptyBoardNamesTheTimeToBeat checks that an empty board shows the time of the baseline and no chart, and that
// the chart of a single record is collapsed.
func TestAnEmptyBoardNamesTheTimeToBeat(t *testing.T) {
	s := webtest.NewScene(t)
	s.Measured("CPU", 3.022e6)
	board := "/tasks/" + s.Task.Slug + "/boards/CPU"
	doc := s.Browser().Page(board, http.StatusOK)
	webtest.WantText(t, doc, "#board",
		"Rank a kernel that passes to take 1st place; the naive baseline takes 3.022 ms.")
	if doc.Find("figure.chart, #history").Length() > 0 {
		t.Error("a board without records has a picture")
	}
	w := s.Window()
	w.Visit(board)
	w.LooksRight("board-empty")
	s.Finish(s.Submit(s.Ada, "CPU", webtest.GoodKernel), 2.1e6)
	w.Do(chromedp.EmulateViewport(1440, 900))
	w.Visit(board)
	w.Until(`!document.querySelector(".chart").checkVisibility()`)
	w.Eval(`document.querySelector("#history-live summary").click()`)
	w.Until(`document.querySelector(".chart").checkVisibility()`)
	w.LooksRight("board-one-record")
}

// TestAFingerFindsTheLinksOfABoard checks that each link of a board is at least 24 pixels high on a phone.
func TestAFingerFindsTheLinksOfABoard(t *testing.T) {
	s := webtest.NewScene(t)
	w := s.Window()
	w.Do(chromedp.EmulateViewport(390, 844))
	w.Visit("/tasks/" + s.Task.Slug + "/boards/H200")
	const small = `[...document.querySelectorAll("#board tr a")].filter((a) => a.checkVisibility()).map((a) => {
		const box = a.getBoundingClientRect(), grown = getComputedStyle(a, "::after");
		return [a.textContent.trim(), box.height + (grown.content === "none" ? 0 : -parseFloat(grown.top) - parseFloat(grown.bottom))];
	}).filter(([, high]) => high < 24).slice(0, 5).join("; ")`
	if found := w.Eval(small); found != `""` && found != "" {
		t.Errorf("too low for a finger: %s", found)
	}
	w.LooksRight("board-fingers")
}
