package web

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/modelstest"
	"warpboard/web/site"
)

// patience is how long a page gets for what it does at once: enough for a machine with much else to do.
const patience = 30 * time.Second

// window is a page in a real Chromium, which notes everything that the content security policy refuses.
type window struct {
	t   testing.TB
	ctx context.Context
	url string
}

func (s *scene) window() *window {
	s.t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox) // Chromium's own sandbox refuses root
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	s.t.Cleanup(stop)
	ctx, closeWindow := chromedp.NewContext(allocator)
	s.t.Cleanup(closeWindow)
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil { // it starts the browser, so it must have no deadline
		s.t.Fatal(err)
	}
	return &window{t: s.t, ctx: ctx, url: s.url}
}

// as gives the window the session of a signed-in browser.
func (w *window) as(b *browser) *window {
	w.t.Helper()
	_, err := chromedp.Call(w.ctx, network.SetCookie, network.SetCookieParams{Name: site.SessionCookie, Value: b.cookie(site.SessionCookie), URL: w.url})
	if err != nil {
		w.t.Fatal(err)
	}
	return w
}

func (w *window) do(steps ...chromedp.Action[chromedp.Void]) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		w.t.Fatal(err)
	}
}

// open loads a page and starts to note what its policy refuses.
func (w *window) open(path string) {
	w.t.Helper()
	w.do(chromedp.Navigate(w.url + path))
	w.eval(`addEventListener("securitypolicyviolation", (e) => (window.refused ??= []).push(e.violatedDirective + " " + e.blockedURI))`)
}

// eval runs an expression in the page.
func (w *window) eval(script string) {
	w.t.Helper()
	if _, err := chromedp.Run(w.ctx, chromedp.Evaluate[any](script)); err != nil {
		w.t.Fatalf("%s: %v", script, err)
	}
}

// until waits for an expression to be true in the page, or in the one that it leads to.
func (w *window) until(condition string) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, patience)
	defer cancel()
	var err error
	for ctx.Err() == nil {
		if _, err = chromedp.Run(ctx, chromedp.Poll[bool]("Boolean("+condition+")")); err == nil {
			return
		} // else the page has gone while it was asked: ask the next
	}
	page, _ := chromedp.Run(w.ctx, chromedp.OuterHTML("main"))
	w.t.Fatalf("the page never had %s: %v\n%s", condition, err, page)
}

func (w *window) refusedNothing() {
	w.t.Helper()
	refused, err := chromedp.Run(w.ctx, chromedp.Evaluate[[]string]("window.refused ?? []"))
	if err != nil || len(refused) > 0 {
		w.t.Errorf("the policy refused %v (%v)", refused, err)
	}
}

func (w *window) hasText(selector, text string) {
	w.t.Helper()
	w.until(fmt.Sprintf("document.querySelector(%q)?.textContent.includes(%q)", selector, text))
}

func TestSubmissionPageShowsEventsAsTheyCome(t *testing.T) {
	s := newScene(t)
	card := fmt.Sprintf("#run-%d", s.working.ID)
	stage := func(name job.Stage) string { return card + ` [data-stage="` + string(name) + `"]` }
	w := s.window().as(s.browserOf(s.ada))
	w.open(fmt.Sprintf("/submissions/%d", s.working.SubmissionID))
	w.hasText(stage(job.StageBenchmark), "1 of 3")
	w.hasText(card+" pre.output", "warming up")

	w.eval(fmt.Sprintf(`document.querySelector(%q).open = true`, card+` [data-cases="test"]`))
	s.worker.say(job.Event{Type: job.EventCase, Stage: job.StageBenchmark, Total: 3, Case: &timedCases(12e3)[1]})
	w.hasText(stage(job.StageBenchmark), "2 of 3")
	w.until(fmt.Sprintf(`document.querySelectorAll(%q).length == 2`, card+` [data-cases="benchmark"] tbody tr`))
	w.until(fmt.Sprintf(`document.querySelector(%q).open`, card+` [data-cases="test"]`)) // as its reader left it

	s.worker.log("<b>two</b>\n")
	w.hasText(card+" pre.output", "warming up\n<b>two</b>")

	s.end(s.worker.attempt, 11.5e3)
	w.hasText(card+" [data-score]", "11.50")
	w.until(fmt.Sprintf(`document.querySelector(%q).dataset.state == "done"`, card))
	w.hasText(card+` [data-output="build"]`, "nvcc -O3") // only who may see the source
	w.hasText("#live-status", "passed, 11.50")
	w.until(`document.title.startsWith("H200: passed, 11.50")`) // for whoever looks at another tab
	w.until(`!document.querySelector("#cancel")`)
	w.refusedNothing()
}

func TestOpenBoardShowsANewEntry(t *testing.T) {
	s := newScene(t)
	w := s.window()
	w.open("/tasks/" + s.task.Slug + "/boards/H200")
	row := fmt.Sprintf("#entry-%d", s.ada.ID)
	w.hasText(row, "11.91")
	s.finish(s.queued, 9.87e3)
	w.hasText(row, "9.870")
	w.until(fmt.Sprintf(`document.querySelector(%q).dataset.rank == "1"`, row))
	w.refusedNothing()
}

func TestWaitingRunMovesUpInItsQueue(t *testing.T) {
	s := newScene(t)
	other := s.submit(s.admin, "H200", goodKernel)
	mine := s.submit(s.ada, "H200", goodKernel)
	w := s.window()
	w.open(fmt.Sprintf("/submissions/%d", mine.SubmissionID))
	w.hasText(fmt.Sprintf("#run-%d", mine.ID), "Number 3 in the queue")
	if err := s.pages.Cancel(context.Background(), s.admin, other.SubmissionID); err != nil {
		t.Fatal(err)
	}
	w.hasText(fmt.Sprintf("#run-%d", mine.ID), "Number 2 in the queue")
}

func TestEditorFillsTheForm(t *testing.T) {
	s := newScene(t)
	w := s.window().as(s.browserOf(s.ada))
	w.open("/tasks/" + s.task.Slug)
	w.eval(`document.querySelector("#source").scrollIntoView()`)
	w.until(`document.querySelector(".cm-editor")`)
	w.hasText(".cm-content", "custom_kernel") // the template
	w.eval(`document.querySelector(".cm-content").focus()`)
	w.do(chromedp.KeyEvent("// by hand"))
	w.until(`document.querySelector("#source").value.includes("// by hand")`)
	w.until(`getComputedStyle(document.querySelector(".cm-gutters")).display == "flex"`) // its styles are let in
	w.eval(`document.querySelector("#submit button.btn-main").click()`)
	w.until(`location.pathname.startsWith("/submissions/")`)
	w.refusedNothing()
}

func TestThemeIsRememberedByTheServer(t *testing.T) {
	s := newScene(t)
	w := s.window()
	w.open("/")
	w.eval(`document.querySelector("[data-theme-toggle]").click()`)
	w.until(`document.documentElement.dataset.theme`)
	w.eval(`sessionStorage.setItem("chosen", document.documentElement.dataset.theme)`)
	w.open("/devices")
	w.until(`document.documentElement.dataset.theme == sessionStorage.getItem("chosen")`)
	w.refusedNothing()
}

// browserOf is a browser in which this person is signed in.
func (s *scene) browserOf(user models.User) *browser {
	s.t.Helper()
	secret, _, err := s.Store.StartSession(context.Background(), models.NewSession{UserID: user.ID, Provider: "test", Life: time.Hour})
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
	long := modelstest.Person(t, s.Store, "Bartholomew Maximilian Featherstonehaugh", models.RoleUser)
	s.finish(s.submit(long, "H200", goodKernel), 9e3)
	w := s.window().as(s.browserOf(s.ada))
	w.do(chromedp.EmulateViewport(390, 844))
	w.open("/tasks/" + s.task.Slug + "/boards/H200")
	w.until(fmt.Sprintf(`document.querySelector("#entry-%d td:nth-child(3)").getBoundingClientRect().right < innerWidth`, long.ID))
	w.until(`document.documentElement.scrollWidth == innerWidth`)
	w.open(fmt.Sprintf("/submissions/%d", s.failed.SubmissionID))
	w.until(`(({scrollWidth, clientWidth}) => scrollWidth > clientWidth)(document.querySelector("[data-output=build] pre"))`)
	w.until(`document.documentElement.scrollWidth == innerWidth`)
}

func TestOpenBoardDrawsANewRecord(t *testing.T) {
	s := newScene(t)
	w := s.window()
	w.open("/tasks/" + s.task.Slug + "/boards/CPU")
	w.hasText("#board", "Nobody is on this board yet")
	s.finish(s.submit(s.ada, "CPU", goodKernel), 9.87e3)
	w.hasText("#history-live", "Best score over time")
	w.until(`document.querySelectorAll(".chart .point").length == 1`)
	w.refusedNothing()
}

// A run that hangs shows nothing new for as long as it may.
func TestARunThatGoesOnCountsItsSeconds(t *testing.T) {
	s := newScene(t)
	w := s.window()
	w.open(submissionPath(s.working))
	clock := `document.querySelector("[data-stage=benchmark] [data-elapsed]").textContent`
	w.until(`/^\d+ s of 180 s$/.test(` + clock + `)`)
	w.eval(`window.first = parseInt(` + clock + `)`)
	w.until(`parseInt(` + clock + `) > first`)
}

func TestALivePageSaysThatItsServerIsGone(t *testing.T) {
	s := newScene(t)
	w := s.window()
	w.open(submissionPath(s.working))
	w.until(`document.querySelector("#connection").textContent == ""`)
	s.stop()
	w.hasText("#connection", "The connection is lost")
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
