package web

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/chromedp/chromedp"

	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/modelstest"
)

// outcomeOf is what the strip of a run says, without its score.
func outcomeOf(doc *goquery.Document) string {
	var said []string
	for _, e := range doc.Find("[data-outcome] [data-fact]").EachIter() {
		said = append(said, words(e))
	}
	return strings.Join(said, "; ")
}

func TestTheEndOfARankedRunNamesItsPlaceTheBestAndTheNext(t *testing.T) {
	s := newScene(t)
	lin := modelstest.Person(t, s.site.Store, "Lin Chen", accounts.RoleUser)
	slow := s.submit(lin, "H200", goodKernel)
	s.finish(slow, 50e3)
	mine, others := s.browserOf(lin), s.browser()
	if said := outcomeOf(mine.page(submissionPath(slow), http.StatusOK)); said != "62nd on H200 with your first ranked run; 34.8 % behind Barbara Liskov (61st)" {
		t.Errorf("the first run says %q", said)
	}
	fast := s.submit(lin, "H200", "// tiled\n"+goodKernel)
	s.finish(fast, 5e3)
	worse := s.submit(lin, "H200", goodKernel)
	s.finish(worse, 7.5e3)

	doc := mine.page(submissionPath(fast), http.StatusOK)
	want := fmt.Sprintf("Record; 62nd → 1st on H200; 10.0× faster than your best (#%d); 2.08× faster than ", slow.SubmissionID)
	if said := outcomeOf(doc); !strings.HasPrefix(said, want) || !strings.HasSuffix(said, " (2nd)") {
		t.Errorf("the record says %q, want %q …", said, want)
	}
	if doc.Find("[data-outcome].outcome-record").Length() != 1 {
		t.Error("the record looks like any run")
	}
	wantText(t, doc, "[data-outcome] [data-score]", "5.000 µs")
	if said := outcomeOf(others.page(submissionPath(fast), http.StatusOK)); !strings.Contains(said, fmt.Sprintf("faster than their best (#%d)", slow.SubmissionID)) {
		t.Errorf("others read %q", said)
	}
	if said := outcomeOf(mine.page(submissionPath(worse), http.StatusOK)); !strings.HasPrefix(said, fmt.Sprintf("Still 1st on H200; 1.50× slower than your best (#%d); ", fast.SubmissionID)) {
		t.Errorf("a slower run says %q", said)
	}

	compared := mine.page(href(t, doc, "What changed"), http.StatusOK)
	wantText(t, compared, ".pf-sides", fmt.Sprintf("A Submission %d by Lin Chen", slow.SubmissionID))
	wantText(t, compared, "#code", "// tiled")
	mine.page(href(t, doc, "Compare with next"), http.StatusOK)
	for _, link := range []string{"Picture", "Badge"} {
		if resp := others.get(href(t, doc, link)); resp.StatusCode != http.StatusOK {
			t.Errorf("Share, %s: %s", link, resp.Status)
		}
	}
}

// TestAnOutcomeHidesTheNextWhereTheTaskIsHidden: the person sees their own run, and not those of others.
func TestAnOutcomeHidesTheNextWhereTheTaskIsHidden(t *testing.T) {
	s := newScene(t)
	b := s.browserOf(s.ada)
	doc := b.page(submissionPath(s.done), http.StatusOK)
	if said := outcomeOf(doc); said != "5th on H200 with your first ranked run; 1.3 % behind kernel-52 (4th)" {
		t.Errorf("the run says %q", said)
	}
	wantText(t, doc, "[data-run] header", "Compare with 1st place")
	settings := s.task.Settings()
	settings.Visibility = catalog.Hidden
	if _, err := s.site.Store.Catalog.UpdateTask(t.Context(), s.admin, s.task.ID, settings); err != nil {
		t.Fatal(err)
	}
	doc = b.page(submissionPath(s.done), http.StatusOK)
	if said := outcomeOf(doc); said != "5th on H200 with your first ranked run" {
		t.Errorf("on a hidden task it says %q", said)
	}
	if doc.Find(".outcome-share").Length() != 0 {
		t.Error("a hidden run can be shared")
	}
	sub, err := s.api(s.ada).Get(t.Context(), s.done.SubmissionID)
	if err != nil {
		t.Fatal(err)
	}
	if o := sub.Runs[0].Outcome; o == nil || o.Rank != 5 || !o.First || o.NextUser != "" {
		t.Errorf("the API answers %+v", o)
	}
}

// TestTheOutcomeComesIntoTheOpenWorkbench when the run ends, before the eyes and without a reload.
func TestTheOutcomeComesIntoTheOpenWorkbench(t *testing.T) {
	s := newScene(t)
	w := s.window().as(s.browserOf(s.ada))
	w.Do(chromedp.EmulateViewport(1280, 800))
	w.bench(s, "")
	w.Eval("window.opened = true")
	w.types(goodKernel)
	w.Do(chromedp.KeyEvent("\r", chromedp.KeyModifiers(chromedp.ModifierCtrl|chromedp.ModifierShift)))
	w.Until(`document.querySelector("#bench-run [data-run][data-state=queued]")`)
	if w.Eval(`!!document.querySelector("#bench-run [data-outcome]")`) != "false" {
		t.Error("a waiting run has an outcome")
	}
	run := s.newest(s.ada)
	s.finish(run, 4.5e3)
	w.Shows("#bench-run [data-outcome] [data-fact=place]", "5th → 1st on H200")
	w.Shows("#bench-run [data-outcome] [data-fact=best]", fmt.Sprintf("2.65× faster than your best (#%d)", s.done.SubmissionID))
	w.Until(`document.querySelector("#tab-verdict").ariaSelected == "true" && document.querySelector("#bench-run [data-outcome]").getBoundingClientRect().bottom < innerHeight`)
	w.Until(`getComputedStyle(document.querySelector("[data-outcome]")).animationName == "shine"`)
	w.Until("window.opened")
	w.looksRight("outcome-bench")
	w.open(submissionPath(run))
	w.looksRight("outcome-run")
	w.refusedNothing()
}
