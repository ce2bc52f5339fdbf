package boards_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/chromedp/chromedp"

	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/modelstest"
	"warpboard/models/work"
	"warpboard/web/webtest"
)

// measured returns a score of ns with the interval ns ± half × ns, or without an interval if half is 0.
func measured(ns, half float64) work.Score {
	score := work.Score{NS: ns, DeviationNS: ns / 50, StandardErrorNS: ns / 500}
	if half > 0 {
		low, high := ns*(1-half), ns*(1+half)
		score.Interval = boards.Interval{LowNS: &low, HighNS: &high, Processes: 10, Noisy: half > 0.005}
	}
	return score
}

// drawn returns the SVG paths in a row: its bar, and its interval if there is one.
func drawn(doc *goquery.Document, row string) (lines []string) {
	for _, line := range doc.Find(row + " svg.speed path").EachIter() {
		lines = append(lines, line.AttrOr("d", ""))
	}
	return lines
}

// TestAScoreIsDrawnWithItsInterval checks the bars of scores on the front page and on a board. All bars have the same
// scale, and a faster score has a longer bar.
func TestAScoreIsDrawnWithItsInterval(t *testing.T) {
	s := webtest.Start(t)
	author := modelstest.Person(t, s.Cfg.Store, "author", accounts.RoleCreator)
	task := modelstest.Task(t, s.Cfg.Store, author, "sort", "CPU")
	names := []string{"Barbara Liskov", "Edsger Dijkstra", "Frances Allen", "Ken Thompson", "Radia Perlman",
		"Tony Hoare", "A name that is as long as a name on this site may ever be"}
	for i, score := range []work.Score{measured(50e3, 0.2), measured(80e3, 0.01), measured(80.1e3, 0.02),
		measured(100e3, 0), measured(160e3, 0.004), measured(2e6, 0.9), measured(3e6, 0.1)} {
		who := modelstest.Person(t, s.Cfg.Store, names[i], accounts.RoleUser)
		webtest.Scored(t, s.Cfg.Store, who, task, score)
	}
	b := s.Browser()
	front, board := b.Page("/", http.StatusOK), b.Page("/tasks/sort/boards/CPU", http.StatusOK)
	for _, test := range []struct {
		doc   *goquery.Document
		row   string
		lines string
	}{
		{board, "#board tbody tr:nth-child(1)", "M0 6H80.0|M66.7 2v8m0-4h33.3m0-4v8"},
		{board, "#board tbody tr:nth-child(2)", "M0 6H50.0|M49.5 2v8m0-4h1.0m0-4v8"},
		{board, "#board tbody tr:nth-child(4)", "M0 6H40.0"},
		// the interval is cut off at the minimum length
		{board, "#board tbody tr:nth-child(6)", "M0 6H2.0|M1.1 2v8m0-4h2.9m0-4v8"},
		{front, "[data-front-board] li:nth-child(1)", "M0 6H80.0|M66.7 2v8m0-4h33.3m0-4v8"},
		{front, "[data-front-board] li:nth-child(2)", "M0 6H50.0|M49.5 2v8m0-4h1.0m0-4v8"},
	} {
		if got := strings.Join(drawn(test.doc, test.row), "|"); got != test.lines {
			t.Errorf("%s is drawn as %q, want %q", test.row, got, test.lines)
		}
	}
	webtest.WantText(t, board, "#board thead", "Speed")
	webtest.WantText(t, board, "[data-bars]", "A longer bar is faster.")
	webtest.WantText(t, front, "[data-front-board]", "A longer bar is faster.")
	w := (&webtest.Scene{Site: s}).Window()
	w.Do(chromedp.EmulateViewport(1440, 900))
	w.Visit("/")
	w.LooksRight("front-intervals")
	w.Visit("/tasks/sort/boards/CPU")
	w.LooksRight("board-intervals")
	w.RefusedNothing()
}

// TestABoardWithManyMarksLooksRight checks a board with ties, a baseline, and entries with several marks. On a phone,
// too, all bars must have the same scale.
func TestABoardWithManyMarksLooksRight(t *testing.T) {
	s := webtest.NewScene(t)
	for i, score := range []work.Score{measured(81.2e3, 0.002), measured(81.3e3, 0.003), measured(81.4e3, 0.02),
		measured(84e3, 0.001), measured(90.2e3, 0.012), measured(90.3e3, 0.004), measured(101e3, 0.004),
		measured(122e3, 0.03), measured(180e3, 0.001)} {
		if i%3 == 2 {
			score.DisturbedReason = "another program used the GPU"
		}
		who, err := s.Cfg.Store.Accounts.SignIn(t.Context(),
			accounts.ProviderSignIn{Provider: "test", Subject: fmt.Sprint("who", i),
				Name: strings.Repeat("Kernel Author ", 1+i%2) + fmt.Sprint(i)})
		if err != nil {
			t.Fatal(err)
		}
		attempt := s.Attempt(s.Submit(who, "CPU", webtest.GoodKernel))
		s.Record(modelstest.Result(attempt, score.NS), &score)
	}
	s.Measured("CPU", 95e3)
	w := s.Window().As(s.BrowserOf(s.Admin))
	w.Do(chromedp.EmulateViewport(390, 900))
	w.Visit("/tasks/" + s.Task.Slug + "/boards/CPU")
	// All bars have the same scale, so they have the same width.
	w.Until(`new Set([...document.querySelectorAll(".board svg.speed")].map((e) => e.getBoundingClientRect().width)).size == 1`)
	w.Shows(".board tr:nth-child(3)", "disturbed")
	w.Shows(".board tr:nth-child(3)", "noisy")
	w.LooksRight("board-marks")
}

// TestABoardOfIntervalsIsSmall limits the bytes that a browser with an empty cache loads for a board with a baseline
// and fifty intervals.
func TestABoardOfIntervalsIsSmall(t *testing.T) {
	s := webtest.NewScene(t)
	s.Measured("H200", 11e3)
	s.SQL("update entries set interval_low = score_ns * 0.9971, interval_high = score_ns * 1.0037, processes = 10")
	path := "/tasks/" + s.Task.Slug + "/boards/H200"
	doc, total := s.Browser().Page(path, http.StatusOK), transferred(t, s, path)
	for _, e := range doc.Find("script[src], link[rel=stylesheet], link[rel=preload], link[rel=icon]").EachIter() {
		total += transferred(t, s, e.AttrOr("src", e.AttrOr("href", "")))
	}
	if n := doc.Find("#board svg.speed path + path").Length(); n != 50 || total >= 60_000 {
		t.Errorf("a cold board with %d intervals takes %d bytes", n, total)
	}
}

// TestABoardOfNoisyScoresSaysItOnce checks that one line above the table says that most scores are noisy. It also
// checks that the rank of an entry, and its page, explain why it ranks behind another entry without a clear difference.
func TestABoardOfNoisyScoresSaysItOnce(t *testing.T) {
	s := webtest.NewScene(t)
	var last work.Run
	for i, score := range []work.Score{measured(641e3, 0.002), measured(650e3, 0.002), measured(658.9e3, 0.6),
		measured(663e3, 0.9), measured(677.3e3, 0.7), measured(900e3, 0.4), measured(3e6, 0.99)} {
		if i > 2 {
			score.DisturbedReason = "another program used the GPU"
		}
		last = s.Submit(modelstest.Person(t, s.Cfg.Store, fmt.Sprint("Kernel Author ", i), accounts.RoleUser), "CPU",
			webtest.GoodKernel)
		s.Record(modelstest.Result(s.Attempt(last), score.NS), &score)
	}
	b, board := s.Browser(), "/tasks/"+s.Task.Slug+"/boards/CPU"
	doc := b.Page(board, http.StatusOK)
	webtest.WantText(t, doc, "[data-most]",
		"Most scores here were measured under bad conditions, such as heat or a busy machine, and are noisy; small differences mean little.")
	if n := doc.Find("#board tbody [data-status]").Length(); n != 0 {
		t.Errorf("rows have %d marks of their own", n)
	}
	webtest.WantText(t, doc, "#board tbody tr:nth-child(3) td:first-child", "3=?")
	webtest.WantText(t, b.Page(webtest.SubmissionPath(last), http.StatusOK), "[data-fact=why]",
		"may be tied for 6th place, but the measurement is too noisy to say")
	w := s.Window()
	w.Visit(board)
	w.LooksRight("board-noisy")
	w.Visit(webtest.SubmissionPath(last))
	w.LooksRight("outcome-why")
}
