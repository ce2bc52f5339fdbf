package submissions_test

import (
	"fmt"
	"net/http"
	"testing"

	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/models/work"
	"warpboard/web/webtest"
)

func TestOwnRunsAreComparedBySubmissionOrFromAList(t *testing.T) {
	s := webtest.NewScene(t)
	lin := modelstest.Person(t, s.Cfg.Store, "Lin Chen", accounts.RoleUser)
	var own []work.Run
	for _, ns := range []float64{30e3, 20e3, 25e3} {
		run := s.Submit(lin, "H200", webtest.GoodKernel)
		s.Finish(run, ns)
		own = append(own, run)
	}
	b := s.BrowserOf(lin)
	for who, page := range map[string]*webtest.Browser{"visitor": s.Browser(), "person": b} {
		doc := page.Page("/compare", http.StatusOK)
		webtest.CheckSound(t, doc)
		if offered := doc.Find("[data-offer]").Length(); offered != map[string]int{"visitor": 0, "person": 3}[who] {
			t.Errorf("%s: %d runs are on offer", who, offered)
		}
	}
	doc := b.Page(webtest.Href(t, b.Page(webtest.SubmissionPath(own[2]), http.StatusOK), "Compare with another run"),
		http.StatusOK)
	webtest.CheckSound(t, doc)
	for run, note := range map[int64]string{own[1].ID: "your best", own[2].ID: "this run", own[0].ID: ""} {
		webtest.WantText(t, doc, fmt.Sprintf("[data-offer='%d']", run), note)
	}
	webtest.WantText(t, doc, "main", "the first")
	webtest.WantText(t, doc, "main", "one place above you")
	form := webtest.Fields(doc.Find("form[action='/compare']"))
	if form.Get("b") != fmt.Sprint(own[2].ID) || form.Get("a") == form.Get("b") || form.Get("a") == "" {
		t.Errorf("the form begins with %v", form)
	}
	resp := b.Get("/compare?" + form.Encode())
	webtest.WantText(t, webtest.Document(t, resp, http.StatusOK), "h1", fmt.Sprintf("vs #%d", own[2].SubmissionID))
	byNumber := b.Get(fmt.Sprintf("/compare?a=%d&b=%d&as=%d&bs=%d", own[2].ID, own[2].ID, own[0].SubmissionID,
		own[1].SubmissionID))
	webtest.CheckSound(t, webtest.Document(t, byNumber, http.StatusOK))
	if got, want := byNumber.Request.URL.RequestURI(),
		fmt.Sprintf("/compare?a=%d&b=%d", own[0].ID, own[1].ID); got != want {
		t.Errorf("numbers of submissions lead to %s, want %s", got, want)
	}
	other := b.Page(fmt.Sprintf("/compare?a=%d&b=%d", s.Done.ID, own[0].ID), http.StatusOK)
	if got, want := webtest.Href(t, other, fmt.Sprintf("#%d with your best", s.Done.SubmissionID)),
		fmt.Sprintf("/compare?a=%d&b=%d", s.Done.ID, own[1].ID); got != want {
		t.Errorf("the own best is at %s, want %s", got, want)
	}
	same := b.Page(fmt.Sprintf("/compare?a=%d&b=%[1]d", own[0].ID), http.StatusOK)
	webtest.CheckSound(t, same)
	webtest.WantText(t, same, "[role=alert]", "Choose two different runs.")
	webtest.WantStatus(t, b.Get("/compare?as=999999"), http.StatusNotFound)
}
