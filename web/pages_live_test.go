package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"warpboard/evaluator/job"
	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/web/browsertest"
	"warpboard/web/site"
)

// window is a page in a real Chromium, which notes everything that the content security policy refuses.
type window struct{ *browsertest.Window }

func (s *scene) window() *window {
	s.t.Helper()
	return &window{chromium.Open(s.t, s.url)}
}

// as gives the window the session of a signed-in browser.
func (w *window) as(b *browser) *window {
	w.T.Helper()
	_, err := chromedp.Call(w.Ctx, network.SetCookie, network.SetCookieParams{Name: site.SessionCookie, Value: b.cookie(site.SessionCookie), URL: w.URL})
	if err != nil {
		w.T.Fatal(err)
	}
	return w
}

// open loads a page and starts to note what its policy refuses.
func (w *window) open(path string) {
	w.T.Helper()
	w.Open(path)
	w.Eval(`addEventListener("securitypolicyviolation", (e) => (window.refused ??= []).push(e.violatedDirective + " " + e.blockedURI))`)
}

func (w *window) refusedNothing() {
	w.T.Helper()
	refused, err := chromedp.Run(w.Ctx, chromedp.Evaluate[[]string]("window.refused ?? []"))
	if err != nil || len(refused) > 0 {
		w.T.Errorf("the policy refused %v (%v)", refused, err)
	}
}

// TestAPartThatCannotBeRenewedStaysAndSaysWhy: an error's page in its place would never be renewed again.
func TestAPartThatCannotBeRenewedStaysAndSaysWhy(t *testing.T) {
	s := newScene(t)
	w := s.window()
	w.open("/devices")
	w.Until(`document.querySelector("[data-device=H200]")`)
	// The part that the stream's first word renews may come in the meantime, and has its own address again.
	eventually(t, "the part is asked for where there is nothing", func() bool {
		w.Eval(`(part => part.getAttribute("hx-get") == "/nothing" || (part.setAttribute("hx-get", "/nothing"), htmx.process(part)))(document.querySelector("#devices"))`)
		s.site.Hub.QueueChanged()
		return strings.Contains(w.Eval(`document.querySelector("#connection").textContent`), "may be old")
	})
	w.Shows("#connection", "What stands here may be old. There is nothing at this address.")
	w.Until(`document.querySelector("[data-device=H200]") && document.querySelectorAll("main h1").length == 1`)
	resp := s.browserOf(s.ada).post("/tasks/nothing/solve", url.Values{"source": {"int x;"}}, "HX-Request", "true")
	if text := body(t, resp); resp.StatusCode < 400 || !strings.HasPrefix(text, `<p class="callout`) {
		t.Errorf("a form that a script sent is answered with %s, %.200s", resp.Status, text)
	}
}

func TestSubmissionPageShowsEventsAsTheyCome(t *testing.T) {
	s := newScene(t)
	card := fmt.Sprintf("#run-%d", s.working.ID)
	stage := func(name job.Stage) string { return card + ` [data-stage="` + string(name) + `"]` }
	w := s.window().as(s.browserOf(s.ada))
	w.open(fmt.Sprintf("/submissions/%d", s.working.SubmissionID))
	w.Shows(stage(job.StageBenchmark), "1 of 3 done, ")
	w.Shows(card+" pre.output", "warming up")

	w.Eval(fmt.Sprintf(`document.querySelector(%q).open = true`, card+` [data-cases="test"]`))
	s.worker.say(job.Event{Type: job.EventCase, Stage: job.StageBenchmark, Total: 3, Case: &timedCases(12e3)[1]})
	w.Shows(stage(job.StageBenchmark), "2 of 3 done, ")
	w.Until(fmt.Sprintf(`document.querySelectorAll(%q).length == 2`, card+` [data-cases="benchmark"] tbody tr`))
	w.Until(fmt.Sprintf(`document.querySelector(%q).open`, card+` [data-cases="test"]`)) // as its reader left it

	s.worker.log("<b>two</b>\n")
	w.Shows(card+" pre.output", "warming up\n<b>two</b>")

	s.end(s.worker.attempt, 11.5e3)
	w.Shows(card+" [data-score]", "11.50")
	w.Until(fmt.Sprintf(`document.querySelector(%q).dataset.state == "done"`, card))
	w.Shows(card+` [data-output="build"]`, "nvcc -O3") // only who may see the source
	w.Shows("#live-status", "passed, 11.50")
	w.Until(`document.title.startsWith("H200: passed, 11.50")`) // for a person who looks at another tab
	w.Until(`!document.querySelector("#cancel")`)
	w.refusedNothing()
}

func TestOpenBoardShowsANewEntry(t *testing.T) {
	s := newScene(t)
	w := s.window()
	w.open("/tasks/" + s.task.Slug + "/boards/H200")
	row := fmt.Sprintf("#entry-%d", s.ada.ID)
	w.Shows(row, "11.91")
	s.finish(s.queued, 9.87e3)
	w.Shows(row, "9.870")
	w.Until(fmt.Sprintf(`document.querySelector(%q).dataset.rank == "1"`, row))
	w.refusedNothing()
}

func TestWaitingRunMovesUpInItsQueue(t *testing.T) {
	s := newScene(t)
	other := s.submit(s.admin, "H200", goodKernel)
	mine := s.submit(s.ada, "H200", goodKernel)
	w := s.window()
	w.open(fmt.Sprintf("/submissions/%d", mine.SubmissionID))
	w.Shows(fmt.Sprintf("#run-%d", mine.ID), "Number 3 in the queue")
	wantStatus(t, s.browserOf(s.admin).post(fmt.Sprintf("/submissions/%d/cancel", other.SubmissionID), nil), http.StatusOK)
	w.Shows(fmt.Sprintf("#run-%d", mine.ID), "Number 2 in the queue")
}

func TestEditorFillsTheForm(t *testing.T) {
	s := newScene(t)
	w := s.window().as(s.browserOf(s.ada))
	w.open("/tasks/" + s.task.Slug)
	w.Eval(`document.querySelector("#source").scrollIntoView()`)
	w.Until(`document.querySelector(".cm-editor")`)
	w.Shows(".cm-content", "custom_kernel") // the template
	w.Eval(`document.querySelector(".cm-content").focus()`)
	w.Do(chromedp.KeyEvent("// by hand"))
	w.Until(`document.querySelector("#source").value.includes("// by hand")`)
	w.Until(`getComputedStyle(document.querySelector(".cm-gutters")).display == "flex"`) // its styles are let in
	w.Eval(`document.querySelector("#submit button.btn-main").click()`)
	w.Until(`location.pathname.startsWith("/submissions/")`)
	w.refusedNothing()
}

func TestThemeIsRememberedByTheServer(t *testing.T) {
	s := newScene(t)
	w := s.window()
	w.open("/")
	w.Eval(`document.querySelector("[data-theme-toggle]").click()`)
	w.Until(`document.documentElement.dataset.theme`)
	w.Eval(`sessionStorage.setItem("chosen", document.documentElement.dataset.theme)`)
	w.open("/devices")
	w.Until(`document.documentElement.dataset.theme == sessionStorage.getItem("chosen")`)
	w.refusedNothing()
}

// browserOf is a browser in which this person is signed in.
func (s *scene) browserOf(user accounts.User) *browser {
	s.t.Helper()
	secret, _, err := s.site.Store.Accounts.StartSession(context.Background(), accounts.NewSession{UserID: user.ID, Provider: "test", Life: time.Hour})
	if err != nil {
		s.t.Fatal(err)
	}
	b := s.browser()
	b.setCookie(site.SessionCookie, secret)
	return b
}

// TestPhoneShowsWhatMatters holds that a score is seen without scrolling however long names are, and
// that what points at columns is not wrapped.
func TestPhoneShowsWhatMatters(t *testing.T) {
	s := newScene(t)
	long := modelstest.Person(t, s.site.Store, "Bartholomew Maximilian Featherstonehaugh", accounts.RoleUser)
	s.finish(s.submit(long, "H200", goodKernel), 9e3)
	w := s.window().as(s.browserOf(s.ada))
	w.Do(chromedp.EmulateViewport(390, 844))
	w.open("/tasks/" + s.task.Slug + "/boards/H200")
	w.Until(fmt.Sprintf(`document.querySelector("#entry-%d td:nth-child(3)").getBoundingClientRect().right < innerWidth`, long.ID))
	w.Until(`document.documentElement.scrollWidth == innerWidth`)
	w.open(fmt.Sprintf("/submissions/%d", s.failed.SubmissionID))
	w.Until(`(({scrollWidth, clientWidth}) => scrollWidth > clientWidth)(document.querySelector("[data-output=build] pre"))`)
	w.Until(`document.documentElement.scrollWidth == innerWidth`)
}

func TestOpenBoardDrawsANewRecord(t *testing.T) {
	s := newScene(t)
	w := s.window()
	w.open("/tasks/" + s.task.Slug + "/boards/CPU")
	w.Shows("#board", "This board has no entries yet")
	s.finish(s.submit(s.ada, "CPU", goodKernel), 9.87e3)
	w.Shows("#history-live", "Best score over time")
	w.Until(`document.querySelectorAll(".chart .point").length == 1`)
	w.refusedNothing()
}

// A run that hangs shows nothing new for as long as it may.
func TestARunThatGoesOnCountsItsSeconds(t *testing.T) {
	s := newScene(t)
	w := s.window()
	w.open(submissionPath(s.working))
	clock := `document.querySelector("[data-stage=benchmark] [data-elapsed]").textContent`
	w.Until(`/^\d+ s of 180 s$/.test(` + clock + `)`)
	w.Eval(`window.first = parseInt(` + clock + `)`)
	w.Until(`parseInt(` + clock + `) > first`)
}

func TestALivePageSaysThatItsServerIsGone(t *testing.T) {
	s := newScene(t)
	w := s.window()
	w.open(submissionPath(s.working))
	w.Until(`document.querySelector("#connection").textContent == ""`)
	s.stop()
	w.Shows("#connection", "The connection is lost")
}

func TestLivePagesWithoutJavaScriptSayToReload(t *testing.T) {
	s := newScene(t)
	task := "/tasks/" + s.task.Slug
	for _, path := range []string{"/", "/devices", submissionPath(s.working), submissionPath(s.queued), task + "/boards/H200"} {
		wantText(t, s.browser().page(path, http.StatusOK), "noscript", "reload it")
	}
	if s.browser().page(submissionPath(s.done), http.StatusOK).Find("noscript").Length() != 0 {
		t.Error("the page of a run that is over says to reload it")
	}
}
