package submissions_test

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
	"warpboard/web/webtest"
)

// outcomeOf returns the sentences about the outcome of a run on its card, without the score.
func outcomeOf(doc *goquery.Document) string {
	var messages []string
	for _, e := range doc.Find("[data-outcome] [data-fact]").EachIter() {
		messages = append(messages, webtest.Words(e))
	}
	return strings.Join(messages, "; ")
}

func TestTheEndOfARankedRunNamesItsPlaceTheBestAndTheNext(t *testing.T) {
	s := webtest.NewScene(t)
	lin := modelstest.Person(t, s.Cfg.Store, "Lin Chen", accounts.RoleUser)
	slow := s.Submit(lin, "H200", webtest.GoodKernel)
	s.Finish(slow, 50e3)
	mine, others := s.BrowserOf(lin), s.Browser()
	if message := outcomeOf(mine.Page(webtest.SubmissionPath(slow),
		http.StatusOK)); message != "62nd on H200 in your first ranked run; 34.8 % behind Barbara Liskov (61st)" {
		t.Errorf("the first run says %q", message)
	}
	fast := s.Submit(lin, "H200", "// tiled\n"+webtest.GoodKernel)
	s.Finish(fast, 5e3)
	worse := s.Submit(lin, "H200", webtest.GoodKernel)
	s.Finish(worse, 7.5e3)

	doc := mine.Page(webtest.SubmissionPath(fast), http.StatusOK)
	want := fmt.Sprintf("Record; 62nd → 1st on H200; 10.0× faster than your previous best (#%d); 2.08× faster than ",
		slow.SubmissionID)
	message := outcomeOf(doc)
	if !strings.HasPrefix(message, want) || !strings.HasSuffix(message, " (2nd)") {
		t.Errorf("the record says %q, want %q …", message, want)
	}
	if to := webtest.Href(t, doc, "62nd → 1st on H200"); !strings.HasSuffix(to, "/boards/H200?find=me") {
		t.Errorf("the place leads to %s", to)
	}
	next := strings.TrimSuffix(strings.TrimPrefix(message, want), " (2nd)")
	if doc.Find("[data-outcome].outcome-record").Length() != 1 {
		t.Error("the record looks like any run")
	}
	webtest.WantText(t, doc, "[data-outcome] [data-score]", "5.000 µs")
	if message := outcomeOf(others.Page(webtest.SubmissionPath(fast), http.StatusOK)); !strings.Contains(message,
		fmt.Sprintf("faster than their previous best (#%d)", slow.SubmissionID)) {
		t.Errorf("others read %q", message)
	}
	if message := outcomeOf(mine.Page(webtest.SubmissionPath(worse),
		http.StatusOK)); message != fmt.Sprintf(
		"Your entry stays 1st on H200; This run is 1.50× slower than your entry (#%d)", fast.SubmissionID) {
		t.Errorf("a slower run says %q", message)
	}

	compared := mine.Page(webtest.Href(t, doc, "What changed"), http.StatusOK)
	webtest.WantText(t, compared, ".pf-sides",
		fmt.Sprintf("#%d Submission %d by Lin Chen", slow.SubmissionID, slow.SubmissionID))
	webtest.WantText(t, compared, "#code", "// tiled")
	mine.Page(webtest.Href(t, doc, "Compare with "+next), http.StatusOK)
	if resp := others.Get(webtest.Href(t, doc, "Badge")); resp.StatusCode != http.StatusOK {
		t.Errorf("Share, Badge: %s", resp.Status)
	}
}

// TestAnOutcomeHidesTheNextWhereTheTaskIsHidden checks that the outcome of a run of a hidden task does not mention the
// neighbors on the board.
func TestAnOutcomeHidesTheNextWhereTheTaskIsHidden(t *testing.T) {
	s := webtest.NewScene(t)
	b := s.BrowserOf(s.Ada)
	doc := b.Page(webtest.SubmissionPath(s.Done), http.StatusOK)
	if message := outcomeOf(doc); message != "5th on H200 in your first ranked run; 1.3 % behind kernel-52 (4th)" {
		t.Errorf("the run says %q", message)
	}
	webtest.WantText(t, doc, "[data-run] header", "Compare with 1st place")
	settings := s.Task.Settings()
	settings.Visibility = catalog.Hidden
	if _, err := s.Cfg.Store.Catalog.UpdateTask(t.Context(), s.Admin, s.Task.ID, settings); err != nil {
		t.Fatal(err)
	}
	doc = b.Page(webtest.SubmissionPath(s.Done), http.StatusOK)
	if message := outcomeOf(doc); message != "5th on H200 in your first ranked run" {
		t.Errorf("on a hidden task it says %q", message)
	}
	if doc.Find(".outcome-share").Length() != 0 {
		t.Error("a hidden run can be shared")
	}
	sub, err := s.API(s.Ada).Submission(t.Context(), s.Done.SubmissionID)
	if err != nil {
		t.Fatal(err)
	}
	if o := sub.Runs[0].Outcome; o == nil || o.Rank != 5 || !o.IsPersonsFirst || o.NextUser != "" {
		t.Errorf("the API answers %+v", o)
	}
}

// TestTheOutcomeComesIntoTheOpenWorkbench checks that the outcome of a run appears when the run ends, in the visible
// part of the page and without a reload.
func TestTheOutcomeComesIntoTheOpenWorkbench(t *testing.T) {
	s := webtest.NewScene(t)
	w := s.Window().As(s.BrowserOf(s.Ada))
	w.Do(chromedp.EmulateViewport(1280, 800))
	w.Bench(s, "")
	w.Eval("window.opened = true")
	w.Types(webtest.GoodKernel)
	w.Do(chromedp.KeyEvent("\r", chromedp.KeyModifiers(chromedp.ModifierCtrl|chromedp.ModifierShift)))
	w.Until(`document.querySelector("#bench-run [data-run][data-state=queued]")`)
	if w.Eval(`!!document.querySelector("#bench-run [data-outcome]")`) != "false" {
		t.Error("a waiting run has an outcome")
	}
	run := s.Newest(s.Ada)
	s.Finish(run, 4.5e3)
	w.Shows("#bench-run [data-outcome] [data-fact=place]", "5th → 1st on H200")
	w.Shows("#bench-run [data-outcome] [data-fact=best]",
		fmt.Sprintf("2.65× faster than your previous best (#%d)", s.Done.SubmissionID))
	w.Until(`document.querySelector("#tab-verdict").ariaSelected == "true" && document.querySelector("#bench-run [data-outcome]").getBoundingClientRect().bottom < innerHeight`)
	w.Until(`getComputedStyle(document.querySelector("[data-outcome]")).animationName == "shine"`)
	w.Until("window.opened")
	w.LooksRight("outcome-bench")
	w.Visit(webtest.SubmissionPath(run))
	w.LooksRight("outcome-run")
	w.RefusedNothing()
}
