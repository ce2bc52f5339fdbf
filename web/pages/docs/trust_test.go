package docs_test

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
	"warpboard/views"
	"warpboard/web"
	"warpboard/web/webtest"
)

func TestPagesSayByWhichClockAScoreCounts(t *testing.T) {
	s := webtest.NewScene(t)
	run := s.Judge("CPU", webtest.JudgedCases(), 12e3)
	b := s.Browser()
	page := b.Page(fmt.Sprintf("/submissions/%d", run.SubmissionID), http.StatusOK)
	webtest.CheckSound(t, page)

	t.Run("the run", func(t *testing.T) {
		const ranked = "[data-cases=ranked] "
		webtest.WantText(t, page, ranked+"summary", "each by its median")
		webtest.WantText(t, page, ranked+"[data-case='0'] [data-clock=event]", "runner's")
		webtest.WantText(t, page, ranked+"[data-case='1'] [data-clock=wall]", "judge's")
		webtest.WantText(t, page, ranked+"[data-case='1'] td:nth-child(2)", "196.2")
		webtest.WantText(t, page, ranked+"[data-clocks='1']", "Judge: 206.2 µs (counts,")
		webtest.WantText(t, page, ranked+"[data-clocks='2']", "Released after 10 ms: it waits for the device on the host (100 of 100 calls)")
		if page.Find(ranked+"[data-clocks='0']").Length() > 0 {
			t.Error("clocks that agree are explained")
		}
		if page.Find("[data-unjudged]").Length() > 0 || page.Find("[data-self-measured]").Length() > 0 {
			t.Error("a judged run is said to have measured itself")
		}
		webtest.WantText(t, b.Page(fmt.Sprintf("/submissions/%d", s.Done.SubmissionID), http.StatusOK), "[data-unjudged]", "No judge timed this run")
	})
	t.Run("a short score is marked", func(t *testing.T) {
		board := b.Page("/tasks/"+s.Task.Slug+"/boards/CPU", http.StatusOK)
		for name, link := range map[string]string{
			"run":   page.Find("[data-score] a").AttrOr("href", ""),
			"board": board.Find("#board > * a[href='/trust#short']").AttrOr("href", ""),
			"home":  b.Page("/tasks", http.StatusOK).Find("[data-task] a[href='/trust#short']").AttrOr("href", ""),
		} {
			if link != "/trust#short" {
				t.Errorf("the %s's mark leads to %q", name, link)
			}
		}
		doc := b.Page("/tasks/"+s.Task.Slug+"/boards/H200", http.StatusOK)
		if count := doc.Find("#board a[href='/trust#short']").Length(); count != 1 {
			t.Errorf("a board with scores from 10 to 37 µs says %d times that short ones are claims", count)
		}
	})
	t.Run("the API", func(t *testing.T) {
		sub, err := s.API(s.Ada).Submission(t.Context(), run.SubmissionID)
		if err != nil {
			t.Fatal(err)
		}
		got := sub.Runs[0]
		if c := got.Stages[3].Cases[1].ClockTimes; got.Clock != "event+wall" || c.CountedClock != job.ClockWall || c.EventTime != 1250 || c.WallTime != 206200 {
			t.Errorf("the run counts by %q, its case by %+v", got.Clock, c)
		}
		board, err := s.API(s.Ada).Board(t.Context(), s.Task.Slug, "CPU", 1)
		if err != nil || len(board.Entries) != 1 || board.Entries[0].Clock != "event+wall" {
			t.Errorf("board: %+v, %v", board, err)
		}
	})
	t.Run("the CSV", func(t *testing.T) {
		rows, err := csv.NewReader(strings.NewReader(webtest.Body(t, b.Get(fmt.Sprintf("/compare.csv?a=%d&b=%d", s.Done.ID, run.ID))))).ReadAll()
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
}

func TestATaskWithItsOwnProgramIsMarkedAsSelfMeasured(t *testing.T) {
	s := webtest.NewScene(t)
	bundle := modelstest.Bundle("ours")
	ownHarness(bundle)
	task, err := s.Cfg.Store.Catalog.CreateTask(t.Context(), s.Admin, catalog.NewTask{
		TaskSettings: catalog.TaskSettings{Devices: []string{"CPU"}},
		Bundle:       bundle,
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Task = task
	run := s.Submit(s.Ada, "CPU", webtest.GoodKernel)
	for _, path := range []string{"/tasks/" + task.Slug + "/boards/CPU", fmt.Sprintf("/submissions/%d", run.SubmissionID)} {
		doc := s.Browser().Page(path, http.StatusOK)
		webtest.WantText(t, doc, "main [data-self-measured]", "times the kernel in the kernel's process")
		if at := doc.Find("[data-self-measured] a").AttrOr("href", ""); at != "/trust#bundle" {
			t.Errorf("%s leads to %q", path, at)
		}
	}
}

func TestTrustSaysWhatIsProvedAndWhatIsNot(t *testing.T) {
	at := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	s := webtest.NewScene(t, func(c *web.Config) {
		c.SecurityContact = "security@example.org"
		c.Attacks = []views.Attack{
			{Name: "unjoined-stream", Title: "Work beside the stream", Family: "Done too early", Platform: "Python on a GPU", Description: "works on a stream that nothing joins", ExpectedVerdict: "scored honestly",
				Results: []views.AttackResult{
					{Harness: "1.4.0", Device: "H200", Verdict: "scored honestly", EndedAsExpected: true, ClaimedNS: 1250, ShownNS: 98.1e3, MeasuredAt: at},
					{Harness: "1.3.0", Device: "H200", Verdict: "ranked", ClaimedNS: 1250, ShownNS: 1250, MeasuredAt: at, IsFromOtherVersion: true},
				}},
			{Name: "early-done", Title: "Done at once", Family: "Done too early", Description: "says done at once", ExpectedVerdict: "refused", Results: []views.AttackResult{{Harness: "1.4.0", Device: "CPU", Verdict: "refused", EndedAsExpected: true, MeasuredAt: at}}},
			{Name: "nvml-clocks", Title: "Other clocks", Family: "False clocks", Description: "asks for other clocks", ExpectedVerdict: "limit"},
		}
	})
	doc := s.Browser().Page("/trust", http.StatusOK)
	webtest.CheckSound(t, doc)
	for _, id := range []string{"clocks", "proved", "open", "short", "bundle", "unjudged", "sandbox", "attacks", "report"} {
		if doc.Find("main #"+id).Length() != 1 {
			t.Errorf("there is not one #%s, though pages link to it", id)
		}
	}
	webtest.WantText(t, doc, "[data-worker=rack-7]", "killed at 512 MiB")
	webtest.WantText(t, doc, "[data-attack=unjoined-stream]", "Work beside the stream Python on a GPU Works on a stream that nothing joins. scored honestly scored honestly H200 1.4.0 1.250 µs 98.10 µs 21 Nov 2026")
	webtest.WantText(t, doc, "[data-attack=unjoined-stream] .tag-fail", "ranked")
	webtest.WantText(t, doc, "[data-attack=nvml-clocks]", "not tried")
	webtest.WantText(t, doc, "[data-attack=unjoined-stream]:has(.tag-fail)", "1.3.0 older")
	webtest.WantText(t, doc, "[data-family='Done too early'] summary", "Done too early 2 attacks · largest false claim: 1.250 µs, shown as 98.10 µs")
	if families := doc.Find("details[data-family]"); families.Length() != 2 || families.Filter("[open]").Length() > 0 {
		t.Errorf("%d families of attacks, or some begin open", families.Length())
	}
	webtest.WantText(t, doc, "main", "2 of 2 end as expected on every device that they were run on")
	webtest.WantText(t, doc, "#report p + p", "Write to security@example.org")
	if at := doc.Find("#report p a").AttrOr("href", ""); at != "mailto:security@example.org" {
		t.Errorf("the contact leads to %q", at)
	}
	webtest.WantText(t, doc, "[data-summary]", "3 published attacks. All 2 that were run with this version were refused or timed truthfully.")
	webtest.WantText(t, doc, "[data-summary]", "1 connected worker")
	webtest.WantText(t, doc, "[data-summary] a[href='#report']", "Report a vulnerability")
	doc.Find("[data-summary] a").Each(func(_ int, a *goquery.Selection) {
		if doc.Find("main "+a.AttrOr("href", "")).Length() != 1 {
			t.Errorf("the summary leads to %s, which is not on the page", a.AttrOr("href", ""))
		}
	})
	if doc.Find("footer a[href='/trust']").Length() != 1 {
		t.Error("no page leads to it")
	}
	webtest.WantText(t, webtest.NewScene(t).Browser().Page("/trust", http.StatusOK), "main", "built without the results of the attacks")
}

func TestTrustBeginsWithASummaryOnOneScreen(t *testing.T) {
	s := webtest.NewScene(t, webtest.SomeAttacks)
	w := s.Window()
	w.Do(chromedp.EmulateViewport(1440, 900))
	w.Visit("/trust")
	w.Until(`document.querySelector("[data-summary]").getBoundingClientRect().bottom < innerHeight`)
	w.Do(chromedp.EmulateViewport(390, 844))
	w.Until(`document.querySelector("[data-summary]").getBoundingClientRect().bottom < innerHeight`)
	w.LooksRight("trust")
	w.RefusedNothing()
	w.Visit("/trust#disturbed-clock") // a fragment opens the collapsed part with its target
	w.Until(`document.querySelector("#disturbed-clock").checkVisibility() && document.querySelectorAll("main details[open]").length == 1`)
}
