package web

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"warpboard/clients/go"
	"warpboard/evaluator/job"
	"warpboard/models/accounts"
	"warpboard/models/modelstest"
)

func TestBoardShowsRankScoreSpreadGapAndDate(t *testing.T) {
	s := newScene(t)
	board := "/tasks/" + s.task.Slug + "/boards/H200"
	doc := s.browserOf(s.ada).page(board, http.StatusOK)
	if n := doc.Find("#board tbody tr").Length(); n != 50 {
		t.Errorf("the first page has %d rows, want %d", n, 50)
	}
	first := doc.Find("#board tbody tr").First()
	if got := words(first); !strings.HasPrefix(got, "1 kernel-13 † 10.40 µs ± 0.20 %") {
		t.Errorf("the first row says %q", got)
	}
	if first.Find(".rank-1").Length() != 1 {
		t.Error("the first has no medal")
	}
	mine := fmt.Sprintf("#entry-%d.mine", s.ada.ID)
	wantText(t, doc, mine, "5 Ada Lovelace you † 11.91 µs")
	wantText(t, doc, mine, "+14.5 %")
	wantText(t, doc, mine+" time", s.site.Now().Format("2 Jan 2006"))
	wantText(t, doc, "#history", "Best score over time")
	story := doc.Find("[aria-labelledby=history] tbody a[href^='/compare?']")
	if rows := doc.Find("[aria-labelledby=history] tbody tr").Length(); story.Length() != rows-1 {
		t.Errorf("%d of %d records lead to what changed from the one before", story.Length(), rows)
	}
	wantStatus(t, s.browser().get(story.Last().AttrOr("href", "")), http.StatusOK)
	if steps, rows := doc.Find(".chart .point").Length(), doc.Find("[aria-labelledby=history] tbody tr").Length(); steps < 2 || steps != rows {
		t.Errorf("the chart has %d steps and its table %d", steps, rows)
	}
	second := s.browser().page(board+"?page=2", http.StatusOK)
	if got := second.Find("#board tbody tr").First().AttrOr("data-rank", ""); got != "51" {
		t.Errorf("the second page begins at %s", got)
	}
	if second.Find("tfoot").Length() != 0 {
		t.Error("a visitor has a place")
	}
	elsewhere := s.browserOf(s.ada).page(board+"?page=2", http.StatusOK)
	checkSound(t, elsewhere)
	wantText(t, elsewhere, "#board tfoot .mine", "5 Ada Lovelace you † 11.91 µs")
	s.browser().page("/tasks/"+s.task.Slug+"/boards/T4", http.StatusNotFound)

	if doc.Find("[data-error]").Length() != 0 {
		t.Error("the board has a column of errors that no one asked for")
	}
	show, _ := doc.Find("[data-tools] a:contains('Show numerical errors')").Attr("href")
	exact := s.browserOf(s.ada).page(show, http.StatusOK)
	wantText(t, exact, mine+" [data-error]", "0.499 ULP")
	if next := exact.Find("a[rel=next]").AttrOr("href", ""); !strings.Contains(next, "columns=error") {
		t.Errorf("the next page with errors is %q", next)
	}
	s.browser().page(board+"?columns=colour", http.StatusUnprocessableEntity)
}

func TestBoardShowsAllScoresInOneUnit(t *testing.T) {
	s := newScene(t)
	s.finish(s.queued, 1e3)
	slow := s.submit(s.admin, "H200", goodKernel)
	s.finish(slow, 999.96e3)
	doc := s.browser().page("/tasks/"+s.task.Slug+"/boards/H200?page=2", http.StatusOK)
	wantText(t, doc, fmt.Sprintf("#entry-%d", s.admin.ID), "999.960 µs ×1000.0")
}

func TestBoardIsAskedForAgainOnlyWhenItChanged(t *testing.T) {
	s := newScene(t)
	board := "/tasks/" + s.task.Slug + "/boards/H200"
	b := s.browser()
	tag := b.get(board).Header.Get("ETag")
	if tag == "" {
		t.Fatal("the board has no ETag")
	}
	wantStatus(t, b.get(board, "If-None-Match", tag), http.StatusNotModified)
	wantStatus(t, b.get(board, "If-None-Match", tag, "HX-Request", "true"), http.StatusOK)
	wantStatus(t, s.browserOf(s.ada).get(board, "If-None-Match", tag), http.StatusOK)
	s.finish(s.queued, 9e3)
	wantStatus(t, b.get(board, "If-None-Match", tag), http.StatusOK)
}

func TestBoardFragmentIsTheTableAlone(t *testing.T) {
	s := newScene(t)
	resp := s.browser().get("/tasks/"+s.task.Slug+"/boards/H200", "HX-Request", "true")
	if text := body(t, resp); !strings.HasPrefix(text, `<div id="board"`) || strings.Contains(text, "<html") {
		t.Errorf("htmx gets %.120q", text)
	}
}

// TestBoardPageIsSmall counts what a browser that has nothing yet must load for a full board page.
func TestBoardPageIsSmall(t *testing.T) {
	s := newScene(t)
	doc := s.browserOf(s.ada).page("/tasks/"+s.task.Slug+"/boards/H200", http.StatusOK)
	paths := []string{"/tasks/" + s.task.Slug + "/boards/H200"}
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

// transferred is the size of an answer as it is sent, compressed.
func transferred(t *testing.T, s *scene, path string) int {
	t.Helper()
	resp := s.browser().get(path, "Accept-Encoding", "gzip")
	wantStatus(t, resp, http.StatusOK)
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

// TestATieIsShownWhereverARankIs: on the board, the person's page, the run's card and the task's page, in the API and in
// what agents and the command line read from it.
func TestATieIsShownWhereverARankIs(t *testing.T) {
	s := newScene(t)
	ben := modelstest.Person(t, s.site.Store, "Ben", accounts.RoleUser)
	run := s.submit(ben, "H200", goodKernel)
	s.finish(run, 10.41e3) // 0.1 % behind the first
	path := "/tasks/" + s.task.Slug + "/boards/H200"
	b := s.browser()
	board := b.page(path, http.StatusOK)
	wantText(t, board, fmt.Sprintf("#entry-%d td:first-child", ben.ID), "1=")
	wantText(t, board, "#board tbody tr:first-child td:first-child", "1=")
	wantText(t, board, "#board tbody tr:nth-child(3) td:first-child", "3")
	wantText(t, board, "[data-ties]", "the data show no difference")
	wantText(t, b.page(fmt.Sprintf("/users/%d", ben.ID), http.StatusOK), "[aria-labelledby=places] tbody td:first-child", "1=")
	wantText(t, b.page(fmt.Sprintf("/submissions/%d", run.SubmissionID), http.StatusOK), "[data-run] [data-fact=place]", "Tied 1st on ")
	wantText(t, b.page("/tasks/"+s.task.Slug, http.StatusOK), "[aria-labelledby=boards] li:nth-child(2) .rank", "1=")
	answer, err := s.api(accounts.User{}).Board(t.Context(), s.task.Slug, "H200", 1)
	if err != nil {
		t.Fatal(err)
	}
	if e := answer.Entries[1]; e.Rank != 1 || !e.Tied || answer.Entries[2].Rank != 3 {
		t.Errorf("the API says %+v", answer.Entries[:3])
	}
}

func TestAPageBeyondTheBoardsEndIsItsLast(t *testing.T) {
	s := newScene(t)
	resp := s.browser().get("/tasks/" + s.task.Slug + "/boards/H200?page=99")
	doc := document(t, resp, http.StatusOK)
	if got := resp.Request.URL.Query().Get("page"); got != "2" || doc.Find("#board tbody tr").Length() != 11 {
		t.Errorf("page 99 leads to page %s: %s", got, words(doc.Find("#board")))
	}
	wantText(t, s.browser().page("/tasks/"+s.task.Slug+"/boards/CPU?page=99", http.StatusOK), "#board", "This board has no entries yet")
}

func TestABoardHasASecondOrderByEnergy(t *testing.T) {
	s := newScene(t)
	board := "/tasks/" + s.task.Slug + "/boards/H200"
	if s.browser().page(board, http.StatusOK).Find("[data-energy], [data-tools] a:contains('Order by energy')").Length() > 0 {
		t.Error("the board shows energy that no one measured")
	}
	mallory := modelstest.Person(t, s.site.Store, "Mallory", accounts.RoleUser)
	s.energy = &job.Energy{Joules: 0.0042, Watts: 350, Calls: 60_000, MeanNS: 12_000, Case: "n: 4096; seed: 23"}
	s.finish(s.queued, 11e3)
	s.energy = &job.Energy{Joules: 0.00071, Watts: 100, Calls: 60_000, MeanNS: 7_100, Case: "n: 4096; seed: 23"}
	s.finish(s.submit(mallory, "H200", goodKernel), 20e3)
	s.energy = &job.Energy{Why: "The device's counter of energy did not move for long enough."}
	still := s.submit(s.admin, "H200", goodKernel)
	s.finish(still, 10.5e3)

	doc := s.browser().page(board, http.StatusOK)
	wantText(t, doc, fmt.Sprintf("#entry-%d [data-energy]", s.ada.ID), "4.2 mJ")
	wantText(t, doc, fmt.Sprintf("#entry-%d [data-energy]", s.admin.ID), "not measured")
	order, _ := doc.Find("[data-tools] a:contains('Order by energy')").Attr("href")
	doc = s.browser().page(order, http.StatusOK)
	checkSound(t, doc)
	var people []string
	doc.Find("#board tbody tr").Each(func(_ int, row *goquery.Selection) { people = append(people, words(row.Find(".who"))) })
	if got := strings.Join(people, ", "); got != "Mallory, Ada Lovelace" {
		t.Errorf("by energy: %s", got)
	}
	if doc.Find("[data-by-energy]").Length() != 1 || doc.Find("#board [hx-get], #board").First().AttrOr("hx-get", "") != board+"?page=1&order=energy" {
		t.Errorf("the second order is asked for again as %q", doc.Find("#board").AttrOr("hx-get", ""))
	}
	s.browser().page(board+"?order=colour", http.StatusUnprocessableEntity)

	wantText(t, s.browser().page(fmt.Sprintf("/submissions/%d", s.queued.SubmissionID), http.StatusOK), "[data-run] [data-energy]", "4.2 mJ a call of “n: 4096; seed: 23”: 350 W on average over")
	wantText(t, s.browser().page(fmt.Sprintf("/submissions/%d", still.SubmissionID), http.StatusOK), "[data-run] [data-energy]", "Not measured. The device's counter of energy did not move")
	var answer client.Board
	if err := json.Unmarshal([]byte(body(t, s.browser().get("/api/v1/boards/"+s.task.Slug+"/H200?order=energy"))), &answer); err != nil {
		t.Fatal(err)
	}
	if len(answer.Entries) != 2 || answer.Entries[0].User.Name != "Mallory" || *answer.Entries[0].EnergyJ != 0.00071 || answer.Entries[0].Rank < 20 {
		t.Errorf("the API says %+v", answer.Entries)
	}
	if rows := body(t, s.browser().get(board+"/entries.csv")); !strings.Contains(rows, ",0.499,5.96e-08,0.0042\n") {
		t.Errorf("the CSV lacks the energy: %.300s", rows)
	}
}
