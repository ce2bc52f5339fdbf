package web

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/chromedp/chromedp"

	"warpboard/evaluator/job"
	"warpboard/models/catalog"
	"warpboard/models/modelstest"
	"warpboard/models/work"
	"warpboard/views"
)

// judgedCases are three cases that a judge timed: the first honest, the second with work on a stream that nothing
// joins, the third waiting for the device on the host.
func judgedCases() []job.CaseResult {
	cases := timedCases(12e3)
	for i := range cases {
		c := &cases[i]
		c.Clocks = job.Clocks{Counts: job.ClockEvent, Event: c.Median, Wall: c.Median + 1500, Snapshot: c.Median + 1200, Tolerance: 10e3, Handover: 154e3}
	}
	cases[1].Median, cases[1].Clocks = 196.2e3, job.Clocks{Counts: job.ClockWall, Event: 1.25e3, Wall: 206.2e3, Snapshot: 205.9e3, Tolerance: 10e3, Handover: 154e3}
	cases[2].Median, cases[2].Clocks = 119e3, job.Clocks{Counts: job.ClockWall, Event: 228e3, Wall: 119e3, Snapshot: 119e3, Late: 100, Tolerance: 10e3, Handover: 154e3}
	return cases
}

// judge ends a run of ada's with the numbers of a judge.
func (s *scene) judge(device string, cases []job.CaseResult, score float64) work.Run {
	s.t.Helper()
	run := s.submit(s.ada, device, goodKernel)
	attempt := s.attempt(run)
	result := modelstest.Result(attempt, score)
	result.Stages[2].Cases, result.Stages[3].Cases = cases, cases
	s.record(result, &work.Score{NS: score, StdNS: score / 50, ErrNS: score / 500})
	return run
}

func TestPagesSayByWhichClockAScoreCounts(t *testing.T) {
	s := newScene(t)
	run := s.judge("CPU", judgedCases(), 12e3)
	b, admin := s.browser(), s.browserOf(s.admin)
	page := b.page(fmt.Sprintf("/submissions/%d", run.SubmissionID), http.StatusOK)
	checkSound(t, page)

	t.Run("the run", func(t *testing.T) {
		const ranked = "[data-cases=ranked] "
		wantText(t, page, ranked+"summary", "each by its median")
		wantText(t, page, ranked+"[data-case='0'] [data-clock=event]", "event")
		wantText(t, page, ranked+"[data-case='1'] [data-clock=wall]", "wall")
		wantText(t, page, ranked+"[data-case='1'] td:nth-child(2)", "196.2")
		wantText(t, page, ranked+"[data-clocks='1']", "shows 1.250 µs, the judge's clock 206.2 µs")
		wantText(t, page, ranked+"[data-clocks='2']", "Released after 10 ms: it waits for the device on the host (100 of 100 calls)")
		if page.Find(ranked+"[data-clocks='0']").Length() > 0 {
			t.Error("clocks that agree are explained")
		}
		if page.Find("[data-unjudged]").Length() > 0 || page.Find("[data-self-measured]").Length() > 0 {
			t.Error("a judged run is said to have measured itself")
		}
		wantText(t, b.page(fmt.Sprintf("/submissions/%d", s.done.SubmissionID), http.StatusOK), "[data-unjudged]", "No judge timed this run")
	})
	t.Run("a short score is marked", func(t *testing.T) {
		board := b.page("/tasks/"+s.task.Slug+"/boards/CPU", http.StatusOK)
		for name, link := range map[string]string{
			"run":   page.Find("[data-score] a").AttrOr("href", ""),
			"board": board.Find("[data-rank='1'] a[href='/trust#short']").AttrOr("href", ""),
			"home":  b.page("/tasks", http.StatusOK).Find("[data-task] a[href='/trust#short']").AttrOr("href", ""),
		} {
			if link != "/trust#short" {
				t.Errorf("the %s's mark leads to %q", name, link)
			}
		}
		doc := b.page("/tasks/"+s.task.Slug+"/boards/H200", http.StatusOK)
		if marks, rows := doc.Find("[data-rank] a[href='/trust#short']").Length(), doc.Find("[data-rank]").Length(); marks == 0 || marks >= rows {
			t.Errorf("%d of %d scores from 10 to 37 µs are marked", marks, rows)
		}
	})
	t.Run("the API", func(t *testing.T) {
		sub, err := s.api(s.ada).Get(t.Context(), run.SubmissionID)
		if err != nil {
			t.Fatal(err)
		}
		got := sub.Runs[0]
		if c := got.Stages[3].Cases[1].Clocks; got.Clock != "event+wall" || c.Counts != job.ClockWall || c.Event != 1250 || c.Wall != 206200 {
			t.Errorf("the run counts by %q, its case by %+v", got.Clock, c)
		}
		board, err := s.api(s.ada).Board(t.Context(), s.task.Slug, "CPU", 1)
		if err != nil || len(board.Entries) != 1 || board.Entries[0].Clock != "event+wall" {
			t.Errorf("board: %+v, %v", board, err)
		}
	})
	t.Run("the CSV", func(t *testing.T) {
		rows, err := csv.NewReader(strings.NewReader(body(t, b.get(fmt.Sprintf("/compare.csv?a=%d&b=%d", s.done.ID, run.ID))))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		cells := map[string]string{}
		for _, row := range rows {
			if strings.HasPrefix(row[2], "n: 2048") {
				cells[row[1]] = row[4] + "|" + row[5]
			}
		}
		if cells["clock"] != "|wall" || cells["time"] != "|196200" || cells["event"] != "|1250" || cells["wall"] != "|206200" {
			t.Errorf("cells of the second case: %v", cells)
		}
	})
	t.Run("the operator's list", func(t *testing.T) {
		doc := admin.page("/clocks", http.StatusOK)
		checkSound(t, doc)
		row := fmt.Sprintf("[data-run='%d']", run.ID)
		wantText(t, doc, row, "Matrix multiply (CUDA C++) on CPU n: 2048; seed: 12 in the ranked stage Ada Lovelace 1.250 µs 206.2 µs 205.9 µs 10.00 µs 12.00 µs")
		if n := doc.Find("[data-run]").Length(); n != 1 {
			t.Errorf("%d runs are listed", n)
		}
		s.browserOf(s.ada).page("/clocks", http.StatusForbidden)
		if admin.page("/devices", http.StatusOK).Find("a[href='/clocks']").Length() != 1 || b.page("/devices", http.StatusOK).Find("a[href='/clocks']").Length() != 0 {
			t.Error("the list is not linked for admins alone")
		}
	})
}

func TestTheListOfDifferingClocksIsPaged(t *testing.T) {
	s := newScene(t)
	for range 50 + 1 {
		s.judge("CPU", judgedCases()[1:2], 196.2e3)
	}
	admin := s.browserOf(s.admin)
	doc := admin.page("/clocks", http.StatusOK)
	next := doc.Find("a[rel=next]").AttrOr("href", "none")
	if n := doc.Find("[data-run]").Length(); n != 50 {
		t.Errorf("the first page has %d runs", n)
	}
	doc = admin.page(next, http.StatusOK)
	if n := doc.Find("[data-run]").Length(); n != 1 || doc.Find("a[rel=next]").Length() != 0 {
		t.Errorf("the last page has %d runs", n)
	}
}

func TestATaskWithItsOwnProgramIsMarkedAsSelfMeasured(t *testing.T) {
	s := newScene(t)
	bundle := modelstest.Bundle("ours")
	ownHarness(bundle)
	task, err := s.site.Store.Catalog.CreateTask(t.Context(), s.admin, catalog.NewTask{TaskSettings: catalog.TaskSettings{Devices: []string{"CPU"}}, Bundle: bundle})
	if err != nil {
		t.Fatal(err)
	}
	s.task = task
	run := s.submit(s.ada, "CPU", goodKernel)
	for _, path := range []string{"/tasks/" + task.Slug + "/boards/CPU", fmt.Sprintf("/submissions/%d", run.SubmissionID)} {
		doc := s.browser().page(path, http.StatusOK)
		wantText(t, doc, "main [data-self-measured]", "the kernel measures itself here")
		if at := doc.Find("[data-self-measured] a").AttrOr("href", ""); at != "/trust#bundle" {
			t.Errorf("%s leads to %q", path, at)
		}
	}
}

func TestTrustSaysWhatIsProvedAndWhatIsNot(t *testing.T) {
	at := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	s := newScene(t, func(c *Config) {
		c.Contact = "security@example.org"
		c.Attacks = []views.Attack{
			{Name: "unjoined-stream", Title: "Work beside the stream", Where: "Python on a GPU", Tries: "works on a stream that nothing joins", Expected: "scored honestly",
				Results: []views.AttackResult{
					{Harness: "1.4.0", Device: "H200", Verdict: "scored honestly", Held: true, ClaimedNS: 1250, ShownNS: 98.1e3, At: at},
					{Harness: "1.3.0", Device: "H200", Verdict: "ranked", ClaimedNS: 1250, ShownNS: 1250, At: at, Older: true},
				}},
			{Name: "early-done", Title: "Done at once", Tries: "says done at once", Expected: "refused", Results: []views.AttackResult{{Harness: "1.4.0", Device: "CPU", Verdict: "refused", Held: true, At: at}}},
			{Name: "nvml-clocks", Title: "Other clocks", Tries: "asks for other clocks", Expected: "limit"},
		}
	})
	doc := s.browser().page("/trust", http.StatusOK)
	checkSound(t, doc)
	for _, id := range []string{"clocks", "proved", "open", "short", "bundle", "unjudged", "sandbox", "attacks", "report"} {
		if doc.Find("main #"+id).Length() != 1 {
			t.Errorf("there is not one #%s, though pages link to it", id)
		}
	}
	wantText(t, doc, "[data-worker=rack-7]", "killed at 512 MiB")
	wantText(t, doc, "[data-attack=unjoined-stream]", "Work beside the stream Python on a GPU Works on a stream that nothing joins. scored honestly scored honestly H200 1.4.0 1.250 µs 98.10 µs 21 Nov 2026")
	wantText(t, doc, "[data-attack=unjoined-stream] .tag-fail", "ranked")
	wantText(t, doc, "[data-attack=nvml-clocks]", "not tried")
	wantText(t, doc, "[data-attack=unjoined-stream]:has(.tag-fail)", "1.3.0 older")
	wantText(t, doc, "main", "2 of 2 end as expected on every device that they were run on")
	wantText(t, doc, "#report ~ p + p", "Write to security@example.org")
	if at := doc.Find("#report ~ p a").AttrOr("href", ""); at != "mailto:security@example.org" {
		t.Errorf("the contact leads to %q", at)
	}
	wantText(t, doc, "[data-summary]", "3 published attacks. 2 of the 2 that were run with this site's harness end as expected.")
	wantText(t, doc, "[data-summary]", "1 connected worker")
	doc.Find("[data-summary] a").Each(func(_ int, a *goquery.Selection) {
		if doc.Find("main "+a.AttrOr("href", "")).Length() != 1 {
			t.Errorf("the summary leads to %s, which is not on the page", a.AttrOr("href", ""))
		}
	})
	if doc.Find("footer a[href='/trust']").Length() != 1 {
		t.Error("no page leads to it")
	}
	wantText(t, newScene(t).browser().page("/trust", http.StatusOK), "main", "built without the results of the attacks")
}

func TestTrustBeginsWithASummaryOnOneScreen(t *testing.T) {
	s := newScene(t, someAttacks)
	w := s.window()
	w.Do(chromedp.EmulateViewport(1440, 900))
	w.open("/trust")
	w.Until(`document.querySelector("[data-summary]").getBoundingClientRect().bottom < innerHeight`)
	w.looksRight("trust")
	w.refusedNothing()
}
