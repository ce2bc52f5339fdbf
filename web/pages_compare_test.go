package web

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

func submissionPath(run work.Run) string { return fmt.Sprintf("/submissions/%d", run.SubmissionID) }

// href is where the link of these words leads.
func href(t *testing.T, doc *goquery.Document, text string) string {
	t.Helper()
	found := doc.Find("main a").FilterFunction(func(_ int, e *goquery.Selection) bool { return words(e) == text })
	if found.Length() == 0 {
		t.Fatalf("no link says %q", text)
	}
	return found.First().AttrOr("href", "")
}

func TestOwnRunsAreComparedBySubmissionOrFromAList(t *testing.T) {
	s := newScene(t)
	lin := modelstest.Person(t, s.site.Store, "Lin Chen", accounts.RoleUser)
	var own []work.Run
	for _, ns := range []float64{30e3, 20e3, 25e3} {
		run := s.submit(lin, "H200", goodKernel)
		s.finish(run, ns)
		own = append(own, run)
	}
	b := s.browserOf(lin)
	for who, page := range map[string]*browser{"visitor": s.browser(), "person": b} {
		doc := page.page("/compare", http.StatusOK)
		checkSound(t, doc)
		if offered := doc.Find("[data-offer]").Length(); offered != map[string]int{"visitor": 0, "person": 3}[who] {
			t.Errorf("%s: %d runs are on offer", who, offered)
		}
	}
	doc := b.page(href(t, b.page(submissionPath(own[2]), http.StatusOK), "Compare…"), http.StatusOK)
	checkSound(t, doc)
	for run, note := range map[int64]string{own[1].ID: "your best", own[2].ID: "this run", own[0].ID: ""} {
		wantText(t, doc, fmt.Sprintf("[data-offer='%d']", run), note)
	}
	wantText(t, doc, "main", "the first")
	wantText(t, doc, "main", "one place above you")
	form := fields(doc.Find("form[action='/compare']"))
	if form.Get("b") != fmt.Sprint(own[2].ID) || form.Get("a") == form.Get("b") || form.Get("a") == "" {
		t.Errorf("the form begins with %v", form)
	}
	resp := b.get("/compare?" + form.Encode())
	wantText(t, document(t, resp, http.StatusOK), "h1", fmt.Sprintf("vs #%d", own[2].SubmissionID))
	byNumber := b.get(fmt.Sprintf("/compare?a=%d&b=%d&as=%d&bs=%d", own[2].ID, own[2].ID, own[0].SubmissionID, own[1].SubmissionID))
	checkSound(t, document(t, byNumber, http.StatusOK))
	if got, want := byNumber.Request.URL.RequestURI(), fmt.Sprintf("/compare?a=%d&b=%d", own[0].ID, own[1].ID); got != want {
		t.Errorf("numbers of submissions lead to %s, want %s", got, want)
	}
	other := b.page(fmt.Sprintf("/compare?a=%d&b=%d", s.done.ID, own[0].ID), http.StatusOK)
	if got, want := href(t, other, "A with your best"), fmt.Sprintf("/compare?a=%d&b=%d", s.done.ID, own[1].ID); got != want {
		t.Errorf("the own best is at %s, want %s", got, want)
	}
	wantStatus(t, b.get("/compare?as=999999"), http.StatusNotFound)
}
