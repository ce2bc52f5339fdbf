package web

import (
	"net/http"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"warpboard/evaluator/job"
	"warpboard/models/modelstest"
)

func TestARunThatGoesOnNamesTheCaseThatRuns(t *testing.T) {
	s := newScene(t)
	version, err := s.site.Store.Catalog.Version(t.Context(), s.task.VersionID)
	if err != nil {
		t.Fatal(err)
	}
	benchmarks := version.Definition.Benchmarks
	wantText(t, s.browser().page(submissionPath(s.working), http.StatusOK), "[data-stage=benchmark] [data-now]", benchmarks[1].String())
	for i := 1; i < len(benchmarks); i++ {
		timed := timedCases(12e3)[0]
		timed.Index = i
		s.worker.say(job.Event{Type: job.EventCase, Stage: job.StageBenchmark, Total: len(benchmarks), Case: &timed})
	}
	if s.browser().page(submissionPath(s.working), http.StatusOK).Find("[data-now]").Length() != 0 {
		t.Error("a case runs after the last")
	}
}

func TestAWaitingRunSaysAboutHowLongByPastRuns(t *testing.T) {
	s := newScene(t)
	waiting := "article p"
	wantText(t, s.browser().page(submissionPath(s.queued), http.StatusOK), waiting, "The only H200 slot is busy. Estimated wait: 1 s.") // the worker has not told yet
	busy := job.Heartbeat{Worker: "rack-7", Started: time.Now(), Slots: []job.Slot{{Device: "H200", Attempt: s.worker.attempt.ID}}}
	modelstest.Heard(t, s.site.Store, busy)
	wantText(t, s.browser().page(submissionPath(s.queued), http.StatusOK), waiting, "The only H200 slot is busy. Estimated wait: 1 s.")
	s.end(s.worker.attempt, 11.5e3)
	s.heartbeat()
	wantText(t, s.browser().page(submissionPath(s.queued), http.StatusOK), waiting, "Next in the queue. A slot is free; it starts in a moment.")
	behind := s.submit(s.ada, "H200", goodKernel)
	wantText(t, s.browser().page(submissionPath(behind), http.StatusOK), waiting, "Number 2 in the queue. The runs before it take the free slots first.")
}

// askFirst stands for the browser's notices, whose window cannot be looked at.
const askFirst = `window.told = [];
window.Notification = class { static permission = "default";
	static async requestPermission() { return (this.permission = "granted"); }
	constructor(title, { body }) { told.push(body); } };`

func TestWhoWantsItIsToldHowARunEnded(t *testing.T) {
	s := newScene(t)
	w := s.window().as(s.browserOf(s.ada))
	if _, err := chromedp.Call(w.Ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: askFirst}); err != nil {
		t.Fatal(err)
	}
	w.open(submissionPath(s.working))
	w.Until(`document.querySelector("[data-notify]").ariaPressed == "false"`)
	w.Click("[data-notify]")
	w.Until(`document.querySelector("[data-notify]").ariaPressed == "true"`)
	w.Eval(`Object.defineProperty(document, "hidden", {value: true})`) // another window is before the eyes
	s.end(s.worker.attempt, 11.5e3)
	w.Until(`told.length == 1 && told[0].replaceAll("\u00a0", " ").includes("H200: passed, 11.50")`)
	w.refusedNothing()
}

func TestALivePageSaysThatItIsConnectedAgain(t *testing.T) {
	s := newScene(t)
	w := s.window()
	w.open(submissionPath(s.working))
	w.Until(`document.querySelector("#connection").textContent == ""`)
	// It says so for some seconds, which a busy machine may take to look.
	w.Eval(`window.said = [], new MutationObserver(() => said.push(document.querySelector("#connection").textContent))
		.observe(document.querySelector("#connection"), {childList: true})`)
	s.stop()
	w.Shows("#connection", "The connection is lost")
	startSiteAt(t, s.cfg.Addr, s.site.Store)
	w.Until(`said.some(text => text.includes("Connected again"))`)
	w.Until(`document.querySelector("#connection").textContent == ""`)
}
