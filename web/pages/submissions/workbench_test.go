package submissions_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"warpboard/evaluator/job"
	"warpboard/models/catalog"
	"warpboard/models/modelstest"
	"warpboard/web/webtest"
)

// TestWorkbenchTestsWithoutLeavingThePage submits a kernel that does not compile, corrects it, and ranks it, all in the
// workbench.
func TestWorkbenchTestsWithoutLeavingThePage(t *testing.T) {
	s := webtest.NewScene(t)
	w := s.Window().As(s.BrowserOf(s.Ada))
	w.Bench(s, "")
	w.Eval("window.opened = true")
	w.Types("#include \"task.h\"\nvoid custom_kernel() {\n  int row = 1\n}\n")
	w.Do(chromedp.KeyEvent("\r", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	w.Until(`document.querySelector("#bench-run [data-run][data-state=queued]")`)
	w.Until(`new URLSearchParams(location.search).get("run")`)
	w.Eval(`document.querySelector("#tab-history").click()`)
	broken := s.Newest(s.Ada)
	if broken.Mode != "test" {
		t.Errorf("Ctrl+Enter made a %s run", broken.Mode)
	}
	s.Fail(broken, webtest.BuildFailure())
	w.Until(`document.querySelector(".cm-lintRange-error")`)
	w.Until(`document.querySelector(".cm-lintRange-error").closest(".cm-line").textContent == "  int row = 1"`)
	w.Until(fmt.Sprintf(`document.querySelector("#pane-history [data-submission='%d'] .tag-fail")`,
		broken.SubmissionID))

	w.Types(webtest.GoodKernel)
	w.Do(chromedp.KeyEvent("\r", chromedp.KeyModifiers(chromedp.ModifierCtrl|chromedp.ModifierShift)))
	w.Until(fmt.Sprintf(`document.querySelector("#bench-run [data-submission]").dataset.submission != "%d"`,
		broken.SubmissionID))
	right := s.Newest(s.Ada)
	if right.Mode != "ranked" {
		t.Errorf("Ctrl+Shift+Enter made a %s run", right.Mode)
	}
	s.Finish(right, 9.5e3)
	w.Shows("#bench-run [data-score]", "9.500")
	w.Until(`!document.querySelector(".cm-lintRange-error")`)
	w.Until("window.opened")
	w.RefusedNothing()
}

// TestAWrongAnswerIsShownOnce checks that a wrong answer is described only in the verdict, visible on a phone without
// scrolling, and removed when the next run starts.
func TestAWrongAnswerIsShownOnce(t *testing.T) {
	s := webtest.NewScene(t)
	w := s.Window().As(s.BrowserOf(s.Ada))
	w.Bench(s, "")
	w.Types("// first\nvoid custom_kernel() {}\n")
	w.Do(chromedp.EmulateViewport(390, 600))
	w.Eval(`document.activeElement.blur(), document.querySelector("[data-key=enter]").click()`)
	w.Until(`document.querySelector("#bench-run [data-run]")`)
	w.Eval("scrollTo(0, 0)")
	s.Fail(s.Newest(s.Ada), webtest.WrongAnswer())
	// visible without scrolling
	w.Until(`document.querySelector("#bench-run [data-failure]")?.getBoundingClientRect().bottom <= document.querySelector(".bench-bar").getBoundingClientRect().top`)
	w.Shows("#bench-run [data-failure]",
		"Test case 3 (n: 512; seed: 24) gave a wrong answer: mismatch at (17, 480): expected 128.25, got 127.75")
	if n := w.Eval(`document.body.innerText.split("expected 128.25").length - 1`); n != "1" {
		t.Errorf("the page says it %s times", n)
	}
	w.Until(`document.querySelector(".cm-lintRange-error").closest(".cm-line").textContent.startsWith("void custom_kernel")`)
	// htmx may update another part of the page before the response with the run.
	w.Eval(`document.querySelector("[data-key=enter]").click(), document.dispatchEvent(new CustomEvent("htmx:after:swap"))`)
	w.Until(`document.querySelector("#bench-run [data-run][data-state=queued]")`)
	// the marks of the previous run are gone
	w.Until(`!document.querySelector(".cm-lintRange-error, #bench-run [data-failure]")`)
	w.RefusedNothing()
}

func TestSigningInKeepsWhatAVisitorWrote(t *testing.T) {
	s := webtest.NewScene(t)
	w := s.Window()
	w.Bench(s, "")
	w.Types("// written by no one yet")
	w.Until(fmt.Sprintf(`document.querySelector("[data-bench-form] a.btn-main").getAttribute("href") == "/sign-in?next=%s"`, url.QueryEscape("/tasks/"+s.Task.Slug+"/solve")))
	w.As(s.BrowserOf(s.Ada))
	w.Bench(s, "")
	w.Until(shownText + ` == "// written by no one yet"`)
	w.Visit("/") // the front page links to the latest draft
	w.Until(`new URL(document.querySelector("[data-last-draft]:not([hidden]) a").href).pathname == "/tasks/` +
		s.Task.Slug + `/solve"`)
	w.Shows("[data-last-draft]", "Your last draft: "+s.Task.Title)
	w.Eval(`document.querySelector("[data-last-draft] a").click()`)
	w.Until(`document.querySelector("[data-kept]:not([hidden]) [data-discard]")`)
	w.Until(shownText + ` == "// written by no one yet"`)
	w.Eval(`document.querySelector("[data-discard]").click()`)
	w.Visit("/")
	w.Until(`document.querySelector("[data-last-draft]").hidden`)
	w.RefusedNothing()
}

func TestWorkbenchShowsOneTabAtATime(t *testing.T) {
	s := webtest.NewScene(t)
	w := s.Window().As(s.BrowserOf(s.Ada))
	w.Bench(s, "")
	shown := `[...document.querySelectorAll(".bench-pane")].filter((pane) => !pane.hidden).map((pane) => pane.id).join()`
	w.Until(shown + ` == "pane-task"`)
	w.Eval(`document.querySelector("#tab-task").focus()`)
	w.Do(chromedp.KeyEvent(kb.ArrowRight))
	w.Until(shown + ` == "pane-reference" && document.activeElement.id == "tab-reference"`)
	w.Eval(`document.querySelector("#tab-board").click()`)
	w.Shows("#pane-board", "10.40")
	w.Shows("#pane-board .tag", "you")
	for _, width := range []int64{1280, 390} {
		w.Do(chromedp.EmulateViewport(width, 900))
		w.Until(`document.documentElement.scrollWidth == innerWidth`)
		w.Until(`[...document.querySelectorAll(".tabs")].every((list) => list.scrollHeight == list.clientHeight)`)
	}
	w.RefusedNothing()
}

func TestNoDotStandsBelowTheBreadcrumbs(t *testing.T) {
	s := webtest.NewScene(t)
	page := s.Browser().Page("/tasks/"+s.Task.Slug+"/solve", http.StatusOK)
	if page.Find("[aria-label=Breadcrumb]").Length() != 1 || page.Find(".meta [aria-label=Breadcrumb]").Length() != 0 {
		t.Error("the breadcrumbs are among the facts that dots separate")
	}
}

// TestWorkbenchSaysHowItsDevicesStandNow checks that the states of the devices are updated in the open workbench, and
// that the selection of devices stays.
func TestWorkbenchSaysHowItsDevicesStandNow(t *testing.T) {
	s := webtest.NewScene(t)
	beat := func(off string) {
		h := job.Heartbeat{
			Worker:          "rack-7",
			WorkerStartedAt: time.Now(),
			Slots:           []job.Slot{{Device: "CPU", DisabledReason: off}},
		}
		modelstest.RecordHeartbeat(t, s.Cfg.Store, h)
		s.Cfg.Hub.QueueChanged()
	}
	beat("tested")
	w := s.Window().As(s.BrowserOf(s.Ada))
	w.Bench(s, "")
	w.Shows("[data-device=CPU]", "not ready")
	w.Eval(`document.querySelector("[data-device=CPU] input").click()`)
	ticked := w.Eval(`document.querySelector("[data-device=CPU] input").checked`)
	beat("")
	w.Shows("[data-device=CPU]", "1 free")
	w.Shows("[data-device=H200]", "offline")
	w.Until(`document.querySelector("[data-device=CPU] input").checked == ` + ticked)
	w.RefusedNothing()
}

// TestNotesOnCasesFitTheBoxThatScrolls checks that notes below a case are not wider than the visible part of the table,
// even in the narrow column of the workbench.
func TestNotesOnCasesFitTheBoxThatScrolls(t *testing.T) {
	s := webtest.NewScene(t)
	run := s.Judge("CPU", webtest.JudgedCases(), 12e3)
	w := s.Window().As(s.BrowserOf(s.Ada))
	w.Bench(s, fmt.Sprintf("?run=%d", run.SubmissionID))
	w.Eval(`document.querySelectorAll("[data-cases]").forEach((cases) => (cases.open = true))`)
	w.Until(`document.querySelectorAll(".said p").length > 1`)
	for _, width := range []int64{1280, 1030, 390} {
		w.Do(chromedp.EmulateViewport(width, 900))
		w.Until(`[...document.querySelectorAll(".said p")].every((note) => note.getBoundingClientRect().right <= note.closest(".scroll").getBoundingClientRect().right)`)
	}
	w.LooksRight("bench-clocks")
}

// TestWorkbenchServesWithoutJavaScript submits the workbench's form as a browser without JavaScript does.
func TestWorkbenchServesWithoutJavaScript(t *testing.T) {
	s := webtest.NewScene(t)
	b := s.BrowserOf(s.Ada)
	path := "/tasks/" + s.Task.Slug + "/solve"
	doc := b.Page(path, http.StatusOK)
	webtest.CheckSound(t, doc)
	webtest.WantText(t, doc, "title", "Solve "+s.Task.Title)
	if doc.Find("[role=tablist]:not([hidden]), .bench-pane[hidden], .bench-shown[hidden]").Length() != 0 ||
		doc.Find(".bench-pane, .bench-shown").Length() != 5 {
		t.Error("a part of the page is missing or hidden without a script")
	}
	form := doc.Find("[data-bench-form]")
	values := webtest.Fields(form)
	values.Set("mode", "test")
	values.Set("source", "// by a plain form")
	values["device"] = []string{"H200"}
	resp := b.Upload(form.AttrOr("action", ""), "", "", nil, values)
	if !strings.HasPrefix(resp.Request.URL.Path, "/submissions/") {
		t.Errorf("the form leads to %s, %s", resp.Request.URL, resp.Status)
	}
	values.Del("device")
	resp = b.Upload(form.AttrOr("action", ""), "", "", nil, values)
	webtest.WantStatus(t, resp, http.StatusUnprocessableEntity)
	if text := webtest.Body(t, resp); !strings.Contains(text, "// by a plain form") ||
		!strings.Contains(text, `role="alert"`) {
		t.Error("what was refused does not come back with its reason")
	}
}

func TestEditAndResubmitLeadsToTheWorkbenchWithTheRun(t *testing.T) {
	s := webtest.NewScene(t)
	b := s.BrowserOf(s.Ada)
	doc := b.Page(fmt.Sprintf("/submissions/%d", s.Failed.SubmissionID), http.StatusOK)
	again := doc.Find("a:contains('Edit and resubmit')").AttrOr("href", "")
	w := s.Window().As(b)
	w.Visit(again)
	w.Until(`document.querySelector(".cm-content")`)
	w.Until(shownText + ` == "int main("`)
	w.Shows("#bench-run [data-failure]", "does not compile")
	doc = s.Browser().Page(again, http.StatusOK) // as a visitor
	if text := doc.Text(); strings.Contains(text, "int main(") || strings.Contains(text, "submission.cu(3)") {
		t.Error("a visitor reads a source that is its author's")
	}
}

// TestWorkbenchKeepsCodeButtonsAndResultInTheWindow checks that buttons, queue, and score are visible without scrolling
// after a ranked run.
func TestWorkbenchKeepsCodeButtonsAndResultInTheWindow(t *testing.T) {
	s := webtest.NewScene(t)
	w := s.Window().As(s.BrowserOf(s.Ada))
	inside := `["[data-key=enter]", "[data-key=shift-enter]", "#bench-queue", "#bench-run [data-score]"].every((part) => {
		const box = document.querySelector(part)?.getBoundingClientRect();
		return box && box.top >= 0 && box.bottom <= innerHeight;
	})`
	for _, size := range [][2]int64{{1440, 900}, {1280, 720}, {390, 844}} {
		w.Do(chromedp.EmulateViewport(size[0], size[1]))
		w.Bench(s, "")
		w.Types(strings.Repeat("// a long kernel\n", 200) + webtest.GoodKernel)
		w.Eval(`document.querySelector("[data-key=shift-enter]").click()`)
		w.Until(`document.querySelector("#bench-run [data-run][data-state=queued]")`)
		s.Finish(s.Newest(s.Ada), 9.5e3)
		w.Until(inside)
		w.Until(`document.documentElement.scrollWidth == innerWidth`)
	}
	w.LooksRight("bench-ranked")
	w.RefusedNothing()
}

// TestADisturbedScoreIsExplainedWithoutScrolling checks that the score, its explanation, and the stages of the run are
// visible without scrolling.
func TestADisturbedScoreIsExplainedWithoutScrolling(t *testing.T) {
	s := webtest.NewScene(t)
	s.SQL("update runs set disturbed = 'the GPU was at 83 °C and slowed down to 1,200 MHz' where id = ?", s.Done.ID)
	w := s.Window().As(s.BrowserOf(s.Ada))
	w.Do(chromedp.EmulateViewport(1440, 900))
	w.Bench(s, fmt.Sprintf("?run=%d", s.Done.SubmissionID))
	w.Until(`["[data-score]", ".stages", "[data-disturbed]"].every((part) => {
		const box = document.querySelector("#bench-run " + part)?.getBoundingClientRect(), panel = document.querySelector("#bench-run").getBoundingClientRect();
		return box && box.top >= panel.top && box.bottom <= panel.bottom;
	})`)
	w.LooksRight("bench-disturbed")
	w.Do(chromedp.EmulateViewport(1440, 900))
	w.Eval(`document.querySelector("#tab-cases").click()`)
	w.Until(`document.querySelector("#bench-run [data-cases=ranked]").offsetHeight && !document.querySelector("#bench-run .card-head").offsetHeight`)
	w.Until(`!document.querySelector("#bench-run [data-submission]").offsetHeight`)
	w.LooksRight("bench-cases")
}

// TestAPhoneHasTheButtonsInOneRow checks that the buttons of the workbench have one row on a phone, below the devices
// and their notes. The menu with further buttons needs no JavaScript.
func TestAPhoneHasTheButtonsInOneRow(t *testing.T) {
	s := webtest.NewScene(t)
	w := s.Window().As(s.BrowserOf(s.Admin))
	shown := `[...document.querySelectorAll(".bench-bar button, .bench-bar summary")].filter((part) => part.checkVisibility()).map((part) => part.textContent.trim()).join()`
	w.Bench(s, "")
	w.Until(fmt.Sprintf("%s == %q", shown, "Test,Rank,Compile,Benchmark,Profile,For another person"))
	w.Do(chromedp.EmulateViewport(390, 844))
	w.Until(fmt.Sprintf("%s == %q", shown, "Test,Rank,More"))
	w.Until(`document.querySelector(".bench-bar").offsetHeight < 110`)
	w.Until(`new Set([...document.querySelectorAll(".bench-bar > .btn, .bench-more")].map((part) => part.getBoundingClientRect().top)).size == 1`)
	w.Eval(`document.querySelector(".bench-more > summary").click()`)
	w.Until(fmt.Sprintf("%s == %q", shown, "Test,Rank,More,Compile,Benchmark,Profile,For another person"))
	w.Until(`document.querySelector(".bench-right").offsetWidth <= document.querySelector("h1").parentElement.offsetWidth`)
	w.Until(`document.documentElement.scrollWidth == innerWidth && document.querySelector(".bench-more-list").getBoundingClientRect().top > 0 && document.querySelector(".bench-more-list").getBoundingClientRect().left >= 0`)
	w.LooksRight("bench-more")
}

// TestWorkbenchOpensARunWithItsSource checks that ?run= fills the editor with the run's source, unless the browser has
// a draft. The draft then has no marks of the run's errors.
func TestWorkbenchOpensARunWithItsSource(t *testing.T) {
	s := webtest.NewScene(t)
	w := s.Window().As(s.BrowserOf(s.Ada))
	opened := fmt.Sprintf("?run=%d", s.Failed.SubmissionID)
	w.Bench(s, opened)
	w.Until(shownText + ` == "int main("`)
	w.Until(`document.querySelector("#bench-run [data-failure]")`)
	w.Bench(s, "")
	w.Types("// a newer draft")
	w.Bench(s, opened)
	w.Until(shownText + ` == "// a newer draft"`)
	w.Until(`document.querySelector("#bench-run [data-failure]") && !document.querySelector(".cm-lintRange-error")`)
	w.RefusedNothing()
}

// TestATaskWithoutWorkersSaysThatRunsWait checks the note in the workbench if no worker has one of the task's devices.
func TestATaskWithoutWorkersSaysThatRunsWait(t *testing.T) {
	s := webtest.NewScene(t)
	elsewhere := catalog.NewTask{Slug: "elsewhere",
		TaskSettings: catalog.TaskSettings{Title: "Elsewhere", Devices: []string{"TPU"}},
		Bundle:       webtest.ExampleTask(t)}
	if _, err := s.Cfg.Store.Catalog.CreateTask(t.Context(), s.Admin, elsewhere); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]int{"/tasks/" + s.Task.Slug + "/solve": 0, "/tasks/elsewhere/solve": 1} {
		if got := s.Browser().Page(path, http.StatusOK).Find(".bench-bar [data-all-offline]").Length(); got != want {
			t.Errorf("%s: said %d times, want %d", path, got, want)
		}
	}
	w := s.Window().As(s.BrowserOf(s.Ada))
	w.Visit("/tasks/elsewhere/solve")
	w.LooksRight("bench-offline")
}
