package boards_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"warpboard/clients/go"
	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/models/work"
	"warpboard/web/webtest"
)

func TestBoardShowsRankScoreSpreadGapAndDate(t *testing.T) {
	s := webtest.NewScene(t)
	board := "/tasks/" + s.Task.Slug + "/boards/H200"
	doc := s.BrowserOf(s.Ada).Page(board, http.StatusOK)
	if n := doc.Find("#board tbody tr").Length(); n != 50 {
		t.Errorf("the first page has %d rows, want %d", n, 50)
	}
	first := doc.Find("#board tbody tr").First()
	if got := webtest.Words(first); !strings.HasPrefix(got, "1 kernel-13 10.40 µs –") {
		t.Errorf("the first row says %q", got)
	}
	if first.Find(".rank-1").Length() != 1 {
		t.Error("the first has no medal")
	}
	mine := fmt.Sprintf("#entry-%d.mine", s.Ada.ID)
	webtest.WantText(t, doc, mine, "5 Ada Lovelace you 11.91 µs")
	webtest.WantText(t, doc, mine, "+14.5 %")
	webtest.WantText(t, doc, mine+" time", s.Cfg.Now().Format("2 Jan 2006"))
	webtest.WantText(t, doc, "#history", "Best score over time")
	story := doc.Find("[aria-labelledby=history] tbody a[href^='/compare?']")
	if message := webtest.Words(doc.Find("[aria-labelledby=history] tbody")); strings.Contains(message, "faster") {
		t.Errorf("the table of records says what only a comparison shows: %s", message)
	}
	if rows := doc.Find("[aria-labelledby=history] tbody tr").Length(); story.Length() != rows-1 {
		t.Errorf("%d of %d records lead to what changed from the one before", story.Length(), rows)
	}
	webtest.WantStatus(t, s.Browser().Get(story.Last().AttrOr("href", "")), http.StatusOK)
	if steps, rows := doc.Find(".chart .point").Length(),
		doc.Find("[aria-labelledby=history] tbody tr").Length(); steps < 2 || steps != rows {
		t.Errorf("the chart has %d steps and its table %d", steps, rows)
	}
	second := s.Browser().Page(board+"?page=2", http.StatusOK)
	if got := second.Find("#board tbody tr").First().AttrOr("data-rank", ""); got != "51" {
		t.Errorf("the second page begins at %s", got)
	}
	if second.Find("tfoot").Length() != 0 {
		t.Error("a visitor has a place")
	}
	elsewhere := s.BrowserOf(s.Ada).Page(board+"?page=2", http.StatusOK)
	webtest.CheckSound(t, elsewhere)
	webtest.WantText(t, elsewhere, "#board tfoot .mine", "5 Ada Lovelace you 11.91 µs")
	s.Browser().Page("/tasks/"+s.Task.Slug+"/boards/T4", http.StatusNotFound)

	if doc.Find("[data-error]").Length() != 0 {
		t.Error("the board has a column of errors that no one asked for")
	}
	show, _ := doc.Find("[data-tools] a:contains('Show numerical errors')").Attr("href")
	exact := s.BrowserOf(s.Ada).Page(show, http.StatusOK)
	webtest.WantText(t, exact, mine+" [data-error]", "0.499 ULP")
	if next := exact.Find("a[rel=next]").AttrOr("href", ""); !strings.Contains(next, "columns=error") {
		t.Errorf("the next page with errors is %q", next)
	}
	s.Browser().Page(board+"?columns=colour", http.StatusUnprocessableEntity)
}

func TestTheMemoryOfRunsIsAColumnWhereItWasMeasured(t *testing.T) {
	s := webtest.NewScene(t)
	board := "/tasks/" + s.Task.Slug + "/boards/CPU"
	finish := func(user accounts.User, peak int64, ns float64) {
		r := modelstest.Result(s.Attempt(s.Submit(user, "CPU", webtest.GoodKernel)), ns)
		r.Stages[3].MemoryPeak = peak
		s.Record(r, &work.Score{NS: ns})
	}
	finish(s.Admin, 0, 9e3)
	if doc := s.Browser().Page(board, http.StatusOK); doc.Find("[data-tools] a:contains('memory')").Length() != 0 {
		t.Error("a board without measured memory offers the column")
	}
	finish(s.Ada, 300<<20, 1e4)
	show := s.Browser().Page(board, http.StatusOK).Find("[data-tools] a:contains('Show memory')").AttrOr("href", "")
	doc := s.Browser().Page(show, http.StatusOK)
	if got := webtest.Words(doc.Find("[data-memory]")); got != "– 300 MiB" {
		t.Errorf("the column says %q", got)
	}
	webtest.CheckSound(t, doc)
	var answers client.Board
	if err := json.Unmarshal([]byte(webtest.Body(t, s.Browser().Get("/api/v1/boards/"+s.Task.Slug+"/CPU"))),
		&answers); err != nil {
		t.Fatal(err)
	}
	if e := answers.Entries; e[0].MemoryPeak != nil || e[1].MemoryPeak == nil || *e[1].MemoryPeak != 300<<20 {
		t.Errorf("the API says %+v", e)
	}
}

func TestBoardShowsAllScoresInOneUnit(t *testing.T) {
	s := webtest.NewScene(t)
	s.Finish(s.Queued, 1e3)
	slow := s.Submit(s.Admin, "H200", webtest.GoodKernel)
	s.Finish(slow, 999.96e3)
	doc := s.Browser().Page("/tasks/"+s.Task.Slug+"/boards/H200?page=2", http.StatusOK)
	webtest.WantText(t, doc, fmt.Sprintf("#entry-%d", s.Admin.ID), "999.960 µs 1000.0×")
}

func TestBoardIsAskedForAgainOnlyWhenItChanged(t *testing.T) {
	s := webtest.NewScene(t)
	board := "/tasks/" + s.Task.Slug + "/boards/H200"
	b := s.Browser()
	tag := b.Get(board).Header.Get("ETag")
	if tag == "" {
		t.Fatal("the board has no ETag")
	}
	webtest.WantStatus(t, b.Get(board, "If-None-Match", tag), http.StatusNotModified)
	webtest.WantStatus(t, b.Get(board, "If-None-Match", tag, "HX-Request", "true"), http.StatusOK)
	webtest.WantStatus(t, s.BrowserOf(s.Ada).Get(board, "If-None-Match", tag), http.StatusOK)
	s.Finish(s.Queued, 9e3)
	webtest.WantStatus(t, b.Get(board, "If-None-Match", tag), http.StatusOK)
}

func TestBoardFragmentIsTheTableAlone(t *testing.T) {
	s := webtest.NewScene(t)
	resp := s.Browser().Get("/tasks/"+s.Task.Slug+"/boards/H200", "HX-Request", "true")
	if text := webtest.Body(t, resp); !strings.HasPrefix(text, `<div id="board"`) || strings.Contains(text, "<html") {
		t.Errorf("htmx gets %.120q", text)
	}
}

// TestBoardPageIsSmall limits the bytes that a browser with an empty cache loads for a full board page.
func TestBoardPageIsSmall(t *testing.T) {
	s := webtest.NewScene(t)
	doc := s.BrowserOf(s.Ada).Page("/tasks/"+s.Task.Slug+"/boards/H200", http.StatusOK)
	paths := []string{"/tasks/" + s.Task.Slug + "/boards/H200"}
	for _, selector := range []string{"script[src]", "link[rel=stylesheet], link[rel=preload], link[rel=icon]"} {
		for _, node := range doc.Find(selector).Nodes {
			for _, a := range node.Attr {
				if a.Key == "src" || a.Key == "href" {
					paths = append(paths, a.Val)
				}
			}
		}
	}
	total := 0
	for _, path := range paths {
		n := transferred(t, s, path)
		t.Logf("%6d bytes %s", n, path)
		total += n
	}
	if const60kB := 60_000; total >= const60kB {
		t.Errorf("a cold board page takes %d bytes, want less than %d", total, const60kB)
	}
	if len(paths) < 5 {
		t.Errorf("only %v were found to load", paths)
	}
}

// transferred returns the size of a gzip-compressed response, in bytes.
func transferred(t *testing.T, s *webtest.Scene, path string) int {
	t.Helper()
	resp := s.Browser().Get(path, "Accept-Encoding", "gzip")
	webtest.WantStatus(t, resp, http.StatusOK)
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if resp.Header.Get("Content-Encoding") == "gzip" {
		if _, err := gzip.NewReader(strings.NewReader(string(data))); err != nil {
			t.Fatal(err)
		}
	}
	return len(data)
}

// TestATieIsShownWhereverARankIs checks the mark of a shared rank on all pages with ranks, in the API, in MCP, and in
// the command line.
func TestATieIsShownWhereverARankIs(t *testing.T) {
	s := webtest.NewScene(t)
	ben := modelstest.Person(t, s.Cfg.Store, "Ben", accounts.RoleUser)
	run := s.Submit(ben, "H200", webtest.GoodKernel)
	s.Finish(run, 10.41e3) // 0.1 % slower than the 1st place
	path := "/tasks/" + s.Task.Slug + "/boards/H200"
	b := s.Browser()
	board := b.Page(path, http.StatusOK)
	webtest.WantText(t, board, fmt.Sprintf("#entry-%d td:first-child", ben.ID), "1=")
	webtest.WantText(t, board, "#board tbody tr:first-child td:first-child", "1=")
	webtest.WantText(t, board, "#board tbody tr:nth-child(3) td:first-child", "3")
	webtest.WantText(t, board, "[data-ties]", "no clear difference")
	webtest.WantText(t, b.Page(fmt.Sprintf("/users/%d", ben.ID), http.StatusOK),
		"[aria-labelledby=places] tbody td:first-child", "1=")
	webtest.WantText(t, b.Page(fmt.Sprintf("/submissions/%d", run.SubmissionID), http.StatusOK),
		"[data-run] [data-fact=place]", "Tied 1st on ")
	webtest.WantText(t, b.Page("/tasks/"+s.Task.Slug, http.StatusOK), "[aria-labelledby=boards] li:nth-child(2) .rank",
		"1=")
	answer, err := s.API(accounts.User{}).Board(t.Context(), s.Task.Slug, "H200", 1)
	if err != nil {
		t.Fatal(err)
	}
	if e := answer.Entries[1]; e.Rank != 1 || !e.Tied || answer.Entries[2].Rank != 3 {
		t.Errorf("the API says %+v", answer.Entries[:3])
	}
}

func TestAPageBeyondTheBoardsEndIsItsLast(t *testing.T) {
	s := webtest.NewScene(t)
	resp := s.Browser().Get("/tasks/" + s.Task.Slug + "/boards/H200?page=99")
	doc := webtest.Document(t, resp, http.StatusOK)
	if got := resp.Request.URL.Query().Get("page"); got != "2" || doc.Find("#board tbody tr").Length() != 11 {
		t.Errorf("page 99 leads to page %s: %s", got, webtest.Words(doc.Find("#board")))
	}
	webtest.WantText(t, s.Browser().Page("/tasks/"+s.Task.Slug+"/boards/CPU?page=99", http.StatusOK), "#board",
		"No entries yet")
}
