package operation_test

import (
	"fmt"
	"net/http"
	"testing"

	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/web/webtest"
)

func TestAClockFlagShowsTheNumbersItRestsOn(t *testing.T) {
	s := webtest.NewScene(t)
	s.Flag(0, "clocks", "")
	s.Flag(1, "clocks", "")
	doc := s.BrowserOf(s.Admin).Page("/review", http.StatusOK)
	webtest.CheckSound(t, doc)
	for n, want := range []string{
		"runner's clock 10.00 µs judge's clock 14.00 µs difference 4.000 µs tolerance 1.500 µs size: 1 in the ranked stage, and 1 case more",
		"runner's clock 10.00 µs judge's clock 15.00 µs difference 5.000 µs tolerance 1.500 µs size: 2 in the ranked stage, and 1 case more",
	} {
		if got := webtest.Words(doc.Find("[data-flag=clocks] [data-differs]").Eq(n)); got != want {
			t.Errorf("flag %d says %q, want %q", n, got, want)
		}
	}
	run := doc.Find("[data-group=clocks] [data-run] a").First().AttrOr("href", "")
	webtest.WantText(t, s.BrowserOf(s.Admin).Page(run, http.StatusOK), "[data-flag=clocks] [data-differs]",
		"difference")
	if n := s.Browser().Page(run, http.StatusOK).Find("[data-differs]").Length(); n != 0 {
		t.Error("everyone reads why the site flagged the run")
	}
}

func TestClocksIsAFilterOfTheReview(t *testing.T) {
	s := webtest.NewScene(t)
	s.Flag(0, "clocks", "")
	s.Flag(1, "clocks", "another program on the GPU")
	s.Flag(2, "source", "")
	if _, err := s.Cfg.Store.SQL().ExecContext(t.Context(),
		"update clock_differences set clock = 'event' where spec = 'size: 1'"); err != nil {
		t.Fatal(err)
	}
	doc := s.BrowserOf(s.Admin).Page("/clocks", http.StatusOK)
	webtest.WantText(t, doc, "[data-run]:first-child [data-differs]", "The runner's time counts")
	if rows := doc.Find("[data-group=clocks] [data-run]"); rows.Length() != 2 || doc.Find("[data-run]").Length() != 2 {
		t.Errorf("/clocks lists %q", webtest.Words(rows))
	}
}

func TestSeveralRunsAreDisqualifiedOnlyAfterAConfirmation(t *testing.T) {
	s := webtest.NewScene(t)
	for n := range 3 {
		s.Flag(n, "source", "")
	}
	b := s.BrowserOf(s.Admin)
	list := b.Page("/review?tick=source", http.StatusOK)
	webtest.WantText(t, list, "[data-group=source] [formaction='/review/disqualify']", "Disqualify …")
	form := webtest.Fields(list.Find("[data-group=source] form"))
	form["run"] = form["run"][:2]
	form.Set("reason", "It returns a constant.")
	ask := webtest.Document(t, b.Post("/review/disqualify", form), http.StatusOK)
	webtest.CheckSound(t, ask)
	webtest.WantText(t, ask, "h1", "Disqualify 2 runs?")
	webtest.WantText(t, ask, "button.btn-danger", "Disqualify 2 runs")
	if n := ask.Find("main [data-run]").Length(); n != 2 {
		t.Errorf("the question names %d runs, want 2", n)
	}
	left := b.Page(webtest.Href(t, ask, "Cancel"), http.StatusOK)
	if n := left.Find("[data-group=source] [data-run]").Length(); n != 3 {
		t.Errorf("%d runs wait after the question, want all 3", n)
	}
	sure := webtest.Fields(ask.Find("form[action='/review/disqualify']"))
	if got := sure.Get("reason"); got != "It returns a constant." {
		t.Errorf("the question keeps the reason %q", got)
	}
	left = webtest.Document(t, b.Post("/review/disqualify", sure), http.StatusOK)
	if n := left.Find("[data-group=source] [data-run]").Length(); n != 1 {
		t.Errorf("%d runs wait after two were disqualified, want 1", n)
	}
	// these runs have been reviewed already
	webtest.WantStatus(t, b.Post("/review/disqualify", form), http.StatusUnprocessableEntity)
}

func TestReviewersReadTheSourceBesideTheDecision(t *testing.T) {
	s := webtest.NewScene(t)
	run := s.Submit(s.Ada, "H200", "// <script>alert(1)</script>\n"+webtest.GoodKernel)
	s.Finish(run, 12.5e3)
	s.Flag(0, "source", "")
	s.SQL("update flags set detail = 'reads a clock in line 2', run_id = $1", run.ID)
	path := fmt.Sprintf("/runs/%d/moderation", run.ID)
	doc := s.BrowserOf(s.Admin).Page(path, http.StatusOK)
	webtest.CheckSound(t, doc)
	webtest.WantText(t, doc, "[data-reviewed-source] .remark", "reads a clock in line 2")
	webtest.WantText(t, doc, "details[data-reviewed-source][open] .source", "// <script>alert(1)</script>")
	webtest.WantText(t, doc, "details[data-reviewed-source] .source", "__global__ void tile")
	if n := s.BrowserOf(modelstest.Person(t, s.Cfg.Store, "Ben", accounts.RoleUser)).Page(path,
		http.StatusOK).Find("[data-reviewed-source]").Length(); n != 0 {
		t.Error("everyone reads the source")
	}
	if n := s.BrowserOf(s.Ada).Page(path, http.StatusOK).Find("[data-reviewed-source]").Length(); n != 0 {
		t.Error("its owner, who reviews nothing, has the source on the page of the review")
	}
	w := s.Window().As(s.BrowserOf(s.Admin))
	w.Visit(path)
	w.Eval(`document.querySelector("[data-reviewed-source]").open = true`)
	w.LooksRight("run-review")
	w.RefusedNothing()
}
