package pages_test

import (
	"fmt"
	"net/http"
	"testing"

	"warpboard/evaluator/job"
	"warpboard/models/modelstest"
	"warpboard/models/submissions"
	"warpboard/models/work"
	"warpboard/web/webtest"
)

// differs ends a run whose runner's clock counts, because the clocks agreed in other processes.
func differs(s *webtest.Scene, run work.Run, disturbed string) {
	cases := webtest.JudgedCases()[1:2]
	cases[0].Median, cases[0].Clocks.Counts = 1.25e3, job.ClockEvent
	result := modelstest.Result(s.Attempt(run), 1.25e3)
	result.Stages[3].Cases = cases
	s.Record(result, &work.Score{NS: 1.25e3, StdNS: 10, ErrNS: 1, Disturbed: disturbed})
}

func TestClockMismatchesSayWhichTimeCountsAndWhy(t *testing.T) {
	s := webtest.NewScene(t)
	_, runs, err := s.Cfg.Store.Submissions.Submit(t.Context(), submissions.NewSubmission{
		User: s.Ada, TaskID: s.Task.ID, Devices: []string{"CPU", "H200"}, Mode: job.ModeRanked, Source: []byte(webtest.GoodKernel + "// two\n"), Via: "test"})
	if err != nil {
		t.Fatal(err)
	}
	differs(s, runs[0], "")
	wall := s.Judge("CPU", webtest.JudgedCases(), 12e3)
	differs(s, runs[1], "")
	differs(s, s.Submit(s.Admin, "CPU", webtest.GoodKernel), "another program on the GPU")

	_, tried, err := s.Cfg.Store.Submissions.Submit(t.Context(), submissions.NewSubmission{
		User: s.Admin, TaskID: s.Task.ID, Devices: []string{"CPU"}, Mode: job.ModeRanked, Source: []byte(webtest.GoodKernel), Via: submissions.ViaTrial})
	if err != nil {
		t.Fatal(err)
	}
	differs(s, tried[0], "")

	doc := s.BrowserOf(s.Admin).Page("/clocks", http.StatusOK)
	webtest.CheckSound(t, doc)
	webtest.WantText(t, doc, "[data-bold]", "The time in bold counts")
	webtest.WantText(t, doc, "thead", "Score, all cases")
	webtest.WantText(t, doc, "[data-decided]", "Nothing here waits for a decision: runs that do are under Runs to review")
	of := func(run work.Run) string { return fmt.Sprintf("[data-run='%d'] ", run.ID) }
	webtest.WantText(t, doc, of(runs[0])+"td.font-semibold", "1.250 µs")
	webtest.WantText(t, doc, of(runs[0])+".line", "The runner's time counts: both clocks agreed on it in other processes of this run.")
	webtest.WantText(t, doc, of(wall)+"td.font-semibold", "206.2 µs")
	if doc.Find(of(runs[0])+"+ "+of(runs[1])).Length()+doc.Find(of(runs[1])+"+ "+of(runs[0])).Length() != 1 || doc.Find("[data-run].same").Length() != 1 {
		t.Error("the runs of one submission do not stand together")
	}
	webtest.WantText(t, doc, "[data-disturbed]", "Show 1 disturbed run")
	if n := doc.Find("[data-run]").Length(); n != 3 {
		t.Errorf("%d runs are listed", n)
	}
	all := s.BrowserOf(s.Admin).Page("/clocks?disturbed=true", http.StatusOK)
	webtest.WantText(t, all, "[data-run]", "Disturbed: another program on the GPU")
	webtest.WantText(t, all, "[data-disturbed]", "Hide them")

	w := s.Window().As(s.BrowserOf(s.Admin))
	w.Visit("/clocks?disturbed=true")
	w.LooksRight("clocks")
}
