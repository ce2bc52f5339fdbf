package boards_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"warpboard/evaluator/job"
	"warpboard/internal/test/tier"
	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/web/webtest"
)

// TestAPartThatCannotBeRenewedStaysAndSaysWhy checks that a part of a page stays if the request for its update fails.
// The HTML of an error page in its place would never be updated again.
func TestAPartThatCannotBeRenewedStaysAndSaysWhy(t *testing.T) {
	s := webtest.NewScene(t)
	w := s.Window()
	w.Visit("/devices")
	w.Until(`document.querySelector("[data-device=H200]")`)
	// The test changes the URL of the part repeatedly, because the first message of the stream may replace the part by
	// one with the original URL.
	tier.Until(t, "the part is asked for where there is nothing", func() bool {
		w.Eval(`(part => part.getAttribute("hx-get") == "/nothing" || (part.setAttribute("hx-get", "/nothing"), htmx.process(part)))(document.querySelector("#devices"))`)
		s.Cfg.Hub.QueueChanged()
		return strings.Contains(w.Eval(`document.querySelector("#connection").textContent`), "may be old")
	})
	w.Shows("#connection", "What stands here may be old. There is nothing at this address.")
	w.Until(`document.querySelector("[data-device=H200]") && document.querySelectorAll("main h1").length == 1`)
	resp := s.BrowserOf(s.Ada).Post("/tasks/nothing/solve", url.Values{"source": {"int x;"}}, "HX-Request", "true")
	if text := webtest.Body(t, resp); resp.StatusCode < 400 || !strings.HasPrefix(text, `<p class="callout`) {
		t.Errorf("a form that a script sent is answered with %s, %.200s", resp.Status, text)
	}
}

func TestSubmissionPageShowsEventsAsTheyCome(t *testing.T) {
	s := webtest.NewScene(t)
	card := fmt.Sprintf("#run-%d", s.Working.ID)
	stage := func(name job.Stage) string { return card + ` [data-stage="` + string(name) + `"]` }
	w := s.Window().As(s.BrowserOf(s.Ada))
	w.Visit(fmt.Sprintf("/submissions/%d", s.Working.SubmissionID))
	w.Shows(stage(job.StageBenchmark), "1 of 3 done, ")
	w.Shows(card+" pre.output", "warming up")

	w.Eval(fmt.Sprintf(`document.querySelector(%q).open = true`, card+` [data-cases="test"]`))
	s.Worker.Say(job.Event{Type: job.EventCaseEnded, Stage: job.StageBenchmark, CaseCount: 3,
		Case: &webtest.TimedCases(12e3)[1]})
	w.Shows(stage(job.StageBenchmark), "2 of 3 done, ")
	w.Until(fmt.Sprintf(`document.querySelectorAll(%q).length == 2`, card+` [data-cases="benchmark"] tbody tr`))
	// still open, as the reader left it
	w.Until(fmt.Sprintf(`document.querySelector(%q).open`, card+` [data-cases="test"]`))

	s.Worker.Say(job.Event{Type: job.EventStageEnded, Stage: job.StageBenchmark,
		EndedStage: &job.StageResult{Stage: job.StageBenchmark, Status: job.StatusPass}})
	s.Worker.Say(job.Event{Type: job.EventStageStarted, Stage: job.StageRanked, CaseCount: 3})
	s.Worker.Say(job.Event{Type: job.EventCaseEnded, Stage: job.StageRanked, CaseCount: 3,
		Case: &webtest.TimedCases(12e3)[0]})
	w.Shows(stage(job.StageRanked), "process 1 of at least 5, case 2 of 3, ")

	s.Worker.Log("<b>two</b>\n")
	w.Shows(card+" pre.output", "warming up\n<b>two</b>")

	s.End(s.Worker.Attempt, 11.5e3)
	w.Shows(card+" [data-score]", "11.50")
	w.Until(fmt.Sprintf(`document.querySelector(%q).dataset.state == "done"`, card))
	w.Shows(card+` [data-output="build"]`, "nvcc -O3") // visible because Ada may see the source
	w.Shows("#live-status", "passed, 11.50")
	w.Until(`document.title.startsWith("H200: passed, 11.50")`) // so that it is visible from another tab
	w.Until(`!document.querySelector("#cancel")`)
	w.RefusedNothing()
}

func TestOpenBoardShowsANewEntry(t *testing.T) {
	s := webtest.NewScene(t)
	w := s.Window()
	w.Visit("/tasks/" + s.Task.Slug + "/boards/H200")
	row := fmt.Sprintf("#entry-%d", s.Ada.ID)
	w.Shows(row, "11.91")
	s.Finish(s.Queued, 9.87e3)
	w.Shows(row, "9.870")
	w.Until(fmt.Sprintf(`document.querySelector(%q).dataset.rank == "1"`, row))
	w.RefusedNothing()
}

func TestWaitingRunMovesUpInItsQueue(t *testing.T) {
	s := webtest.NewScene(t)
	other := s.Submit(s.Admin, "H200", webtest.GoodKernel)
	mine := s.Submit(s.Ada, "H200", webtest.GoodKernel)
	w := s.Window()
	w.Visit(fmt.Sprintf("/submissions/%d", mine.SubmissionID))
	w.Shows(fmt.Sprintf("#run-%d", mine.ID), "Number 3 in the queue")
	webtest.WantStatus(t, s.BrowserOf(s.Admin).Post(fmt.Sprintf("/submissions/%d/cancel", other.SubmissionID), nil),
		http.StatusOK)
	w.Shows(fmt.Sprintf("#run-%d", mine.ID), "Number 2 in the queue")
}

func TestEditorFillsTheForm(t *testing.T) {
	s := webtest.NewScene(t)
	w := s.Window().As(s.BrowserOf(s.Ada))
	w.Visit("/tasks/" + s.Task.Slug)
	w.Eval(`document.querySelector("[data-upload]").open = true, document.querySelector("#source").scrollIntoView()`)
	w.Until(`document.querySelector(".cm-editor")`)
	w.Shows(".cm-content", "custom_kernel") // the editor contains the template
	w.Eval(`document.querySelector(".cm-content").focus()`)
	w.Do(chromedp.KeyEvent("// by hand"))
	w.Until(`document.querySelector("#source").value.includes("// by hand")`)
	// the content security policy allows the editor's styles
	w.Until(`getComputedStyle(document.querySelector(".cm-gutters")).display == "flex"`)
	w.Eval(`document.querySelector("#submit button.btn-main").click()`)
	w.Until(`location.pathname.startsWith("/submissions/")`)
	w.RefusedNothing()
}

func TestThemeIsRememberedByTheServer(t *testing.T) {
	s := webtest.NewScene(t)
	w := s.Window()
	w.Visit("/")
	w.Eval(`document.querySelector("[data-theme-toggle]").click()`)
	w.Until(`document.documentElement.dataset.theme`)
	w.Eval(`sessionStorage.setItem("chosen", document.documentElement.dataset.theme)`)
	w.Visit("/devices")
	w.Until(`document.documentElement.dataset.theme == sessionStorage.getItem("chosen")`)
	w.RefusedNothing()
}

// TestPhoneShowsWhatMatters checks that scores are visible on a phone without scrolling, even next to long names, and
// that compiler output with markers below columns is not wrapped.
func TestPhoneShowsWhatMatters(t *testing.T) {
	s := webtest.NewScene(t)
	long := modelstest.Person(t, s.Cfg.Store, "Bartholomew Maximilian Featherstonehaugh", accounts.RoleUser)
	s.Finish(s.Submit(long, "H200", webtest.GoodKernel), 9e3)
	w := s.Window().As(s.BrowserOf(s.Ada))
	w.Do(chromedp.EmulateViewport(390, 844))
	w.Visit("/tasks/" + s.Task.Slug + "/boards/H200")
	w.Until(fmt.Sprintf(`document.querySelector("#entry-%d td:nth-child(3)").getBoundingClientRect().right < innerWidth`, long.ID))
	w.Until(`document.documentElement.scrollWidth == innerWidth`)
	w.Visit(fmt.Sprintf("/submissions/%d", s.Failed.SubmissionID))
	w.Until(`(({scrollWidth, clientWidth}) => scrollWidth > clientWidth)(document.querySelector("[data-output=build] pre"))`)
	w.Until(`document.documentElement.scrollWidth == innerWidth`)
}

func TestOpenBoardDrawsANewRecord(t *testing.T) {
	s := webtest.NewScene(t)
	w := s.Window()
	w.Visit("/tasks/" + s.Task.Slug + "/boards/CPU")
	w.Shows("#board", "No entries yet")
	s.Finish(s.Submit(s.Ada, "CPU", webtest.GoodKernel), 9.87e3)
	w.Shows("#history-live", "Best score over time")
	w.Until(`document.querySelectorAll(".chart .point").length == 1`)
	w.RefusedNothing()
}

// TestARunThatGoesOnCountsItsSeconds checks that the elapsed time of a stage advances in the browser, because a run
// that hangs sends no events.
func TestARunThatGoesOnCountsItsSeconds(t *testing.T) {
	s := webtest.NewScene(t)
	w := s.Window()
	w.Visit(webtest.SubmissionPath(s.Working))
	clock := `document.querySelector("[data-stage=benchmark] [data-elapsed]").textContent`
	w.Until(`/^\d+ s of 180 s$/.test(` + clock + `)`)
	w.Eval(`window.first = parseInt(` + clock + `)`)
	w.Until(`parseInt(` + clock + `) > first`)
}

func TestALivePageSaysThatItsServerIsGone(t *testing.T) {
	s := webtest.NewScene(t)
	w := s.Window()
	w.Visit(webtest.SubmissionPath(s.Working))
	w.Until(`document.querySelector("#connection").textContent == ""`)
	s.Stop()
	w.Shows("#connection", "The connection is lost")
}

func TestLivePagesWithoutJavaScriptSayToReload(t *testing.T) {
	s := webtest.NewScene(t)
	task := "/tasks/" + s.Task.Slug
	for _, path := range []string{"/", "/devices", webtest.SubmissionPath(s.Working), webtest.SubmissionPath(s.Queued),
		task + "/boards/H200"} {
		webtest.WantText(t, s.Browser().Page(path, http.StatusOK), "noscript", "reload it")
	}
	if s.Browser().Page(webtest.SubmissionPath(s.Done), http.StatusOK).Find("noscript").Length() != 0 {
		t.Error("the page of a run that is over says to reload it")
	}
}
