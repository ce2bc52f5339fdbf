package submissions_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"warpboard/evaluator/job"
	"warpboard/models/modelstest"
	"warpboard/web/webtest"
)

func TestARunThatGoesOnNamesTheCaseThatRuns(t *testing.T) {
	s := webtest.NewScene(t)
	version, err := s.Cfg.Store.Catalog.Version(t.Context(), s.Task.VersionID)
	if err != nil {
		t.Fatal(err)
	}
	benchmarks := version.Definition.Benchmarks
	webtest.WantText(t, s.Browser().Page(webtest.SubmissionPath(s.Working), http.StatusOK),
		"[data-stage=benchmark] [data-now]", benchmarks[1].String())
	for i := 1; i < len(benchmarks); i++ {
		timed := webtest.TimedCases(12e3)[0]
		timed.Index = i
		s.Worker.Say(job.Event{Type: job.EventCaseEnded, Stage: job.StageBenchmark, CaseCount: len(benchmarks),
			Case: &timed})
	}
	if s.Browser().Page(webtest.SubmissionPath(s.Working), http.StatusOK).Find("[data-now]").Length() != 0 {
		t.Error("a case runs after the last")
	}
}

func TestAWaitingRunSaysAboutHowLongByPastRuns(t *testing.T) {
	s := webtest.NewScene(t)
	waiting := "article p"
	// The worker has not sent a heartbeat with its attempt yet.
	webtest.WantText(t, s.Browser().Page(webtest.SubmissionPath(s.Queued), http.StatusOK), waiting,
		"The only H200 slot is busy. Estimated wait: 1 s.")
	busy := job.Heartbeat{Worker: "rack-7", WorkerStartedAt: time.Now(),
		Slots: []job.Slot{{Device: "H200", AttemptID: s.Worker.Attempt.ID}}}
	modelstest.RecordHeartbeat(t, s.Cfg.Store, busy)
	webtest.WantText(t, s.Browser().Page(webtest.SubmissionPath(s.Queued), http.StatusOK), waiting,
		"The only H200 slot is busy. Estimated wait: 1 s.")
	s.End(s.Worker.Attempt, 11.5e3)
	s.Heartbeat()
	webtest.WantText(t, s.Browser().Page(webtest.SubmissionPath(s.Queued), http.StatusOK), waiting,
		"Next in the queue. A slot is free; it starts in a moment.")
	behind := s.Submit(s.Ada, "H200", webtest.GoodKernel)
	webtest.WantText(t, s.Browser().Page(webtest.SubmissionPath(behind), http.StatusOK), waiting,
		"Number 2 in the queue. The runs ahead of it take the free slots first.")
}

// askFirst is a script that replaces the browser's notifications, which a test cannot read, by a list of their texts.
const askFirst = `window.told = [];
window.Notification = class { static permission = "default";
	static async requestPermission() { return (this.permission = "granted"); }
	constructor(title, { body }) { told.push(body); } };`

func TestTheEndOfARunIsAnnouncedOnRequest(t *testing.T) {
	s := webtest.NewScene(t)
	w := s.Window().As(s.BrowserOf(s.Ada))
	if _, err := chromedp.Call(w.Ctx, page.AddScriptToEvaluateOnNewDocument,
		page.AddScriptToEvaluateOnNewDocumentParams{Source: askFirst}); err != nil {
		t.Fatal(err)
	}
	w.Visit(webtest.SubmissionPath(s.Working))
	w.Until(`document.querySelector("[data-notify]").ariaPressed == "false"`)
	w.Click("[data-notify]")
	w.Until(`document.querySelector("[data-notify]").ariaPressed == "true"`)
	w.Eval(`Object.defineProperty(document, "hidden", {value: true})`) // as if the person looked at another window
	s.End(s.Worker.Attempt, 11.5e3)
	w.Until(`told.length == 1 && told[0].replaceAll("\u00a0", " ").includes("H200: passed, 11.50")`)
	w.RefusedNothing()
}

// refuseTwice is a script that makes the first two connections to a stream of events fail: the first with a network
// error, the second with status 502, as from a proxy whose site is down.
const refuseTwice = `window.asked = 0;
const real = window.fetch;
window.fetch = (url, options) => {
	if (!String(url).includes("/events")) return real(url, options);
	asked++;
	if (asked == 1) return Promise.reject(new TypeError("Failed to fetch"));
	return asked == 2 ? Promise.resolve(new Response("Bad Gateway", {status: 502})) : real(url, options);
};`

func TestALivePageWhoseFirstConnectionFailsTriesAgain(t *testing.T) {
	s := webtest.NewScene(t)
	w := s.Window()
	if _, err := chromedp.Call(w.Ctx, page.AddScriptToEvaluateOnNewDocument,
		page.AddScriptToEvaluateOnNewDocumentParams{Source: refuseTwice}); err != nil {
		t.Fatal(err)
	}
	w.Visit(webtest.SubmissionPath(s.Working))
	w.Until(`asked == 3`)
	s.End(s.Worker.Attempt, 11.5e3)
	w.Shows("#runs", "Ranked")
	w.Shows("#live-status", "passed")
	w.Until(`document.querySelector("#connection").textContent == ""`)
}

func TestALivePageSaysThatItIsConnectedAgain(t *testing.T) {
	s := webtest.NewScene(t)
	w := s.Window()
	w.Visit(webtest.SubmissionPath(s.Working))
	w.Until(`document.querySelector("#connection").textContent == ""`)
	// The page shows these messages only for some seconds, so an observer records them in case the test is slow.
	w.Eval(`window.said = [], new MutationObserver(() => said.push(document.querySelector("#connection").textContent))
		.observe(document.querySelector("#connection"), {childList: true})`)
	s.Stop()
	w.Shows("#connection", "The connection is lost")
	webtest.StartAt(t, s.Cfg.Addr, s.Cfg.Store)
	w.Until(`said.some(text => text.includes("Connected again"))`)
	w.Until(`document.querySelector("#connection").textContent == ""`)
}
