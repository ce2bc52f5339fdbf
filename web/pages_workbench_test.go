package web

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
	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/models/submissions"
	"warpboard/models/work"
)

// bench opens the workbench of the scene's task, with its editor loaded.
func (w *window) bench(s *scene, query string) {
	w.T.Helper()
	w.open("/tasks/" + s.task.Slug + "/solve" + query)
	w.Until(`document.querySelector(".cm-content")`)
}

// newest is the last submission of a person to the scene's task.
func (s *scene) newest(user accounts.User) work.Run {
	s.t.Helper()
	list, err := s.site.Store.Submissions.Submissions(s.t.Context(), user, submissions.SubmissionFilter{UserID: user.ID, TaskID: s.task.ID, Limit: 1})
	if err != nil || len(list) != 1 {
		s.t.Fatalf("%d submissions, %v", len(list), err)
	}
	runs, err := s.site.Store.Work.Runs(s.t.Context(), list[0].ID)
	if err != nil {
		s.t.Fatal(err)
	}
	return runs[0]
}

// TestWorkbenchTestsWithoutLeavingThePage goes from a kernel that does not compile to one that is ranked, on one page.
func TestWorkbenchTestsWithoutLeavingThePage(t *testing.T) {
	s := newScene(t)
	w := s.window().as(s.browserOf(s.ada))
	w.bench(s, "")
	w.Eval("window.opened = true")
	w.types("#include \"task.h\"\nvoid custom_kernel() {\n  int row = 1\n}\n")
	w.Do(chromedp.KeyEvent("\r", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	w.Until(`document.querySelector("#bench-run [data-run][data-state=queued]")`)
	w.Until(`new URLSearchParams(location.search).get("run")`)
	w.Eval(`document.querySelector("#tab-history").click()`)
	broken := s.newest(s.ada)
	if broken.Mode != "test" {
		t.Errorf("Ctrl+Enter made a %s run", broken.Mode)
	}
	s.fail(broken, buildFailure())
	w.Until(`document.querySelector(".cm-lintRange-error")`)
	w.Until(`document.querySelector(".cm-lintRange-error").closest(".cm-line").textContent == "  int row = 1"`)
	w.Until(`document.querySelector("#bench-pin").hidden`) // there is no case
	w.Until(fmt.Sprintf(`document.querySelector("#pane-history [data-submission='%d'] .tag-fail")`, broken.SubmissionID))

	w.types(goodKernel)
	w.Do(chromedp.KeyEvent("\r", chromedp.KeyModifiers(chromedp.ModifierCtrl|chromedp.ModifierShift)))
	w.Until(fmt.Sprintf(`document.querySelector("#bench-run [data-submission]").dataset.submission != "%d"`, broken.SubmissionID))
	right := s.newest(s.ada)
	if right.Mode != "ranked" {
		t.Errorf("Ctrl+Shift+Enter made a %s run", right.Mode)
	}
	s.finish(right, 9.5e3)
	w.Shows("#bench-run [data-score]", "9.500")
	w.Until(`!document.querySelector(".cm-lintRange-error")`)
	w.Until("window.opened")
	w.refusedNothing()
}

func TestWorkbenchPinsTheFirstFailingCase(t *testing.T) {
	s := newScene(t)
	w := s.window().as(s.browserOf(s.ada))
	w.bench(s, "")
	w.types("// first\nvoid custom_kernel() {}\n")
	w.Do(chromedp.EmulateViewport(390, 600))
	w.Eval(`document.activeElement.blur(), document.querySelector("[data-key=enter]").click()`)
	w.Until(`document.querySelector("#bench-run [data-run]")`)
	w.Eval("scrollTo(0, 0)")
	s.fail(s.newest(s.ada), wrongAnswer())
	w.Until(`document.querySelector("#bench-run [data-failure]")?.getBoundingClientRect().bottom <= document.querySelector(".bench-bar").getBoundingClientRect().top`) // before the eyes
	w.Shows("#bench-pin", "Case 3 n: 512; seed: 24 mismatch at (17, 480): expected 128.25, got 127.75")
	w.Until(`document.querySelector(".cm-lintRange-error").closest(".cm-line").textContent.startsWith("void custom_kernel")`)
	w.Eval(`document.querySelector("[data-key=enter]").click(), document.dispatchEvent(new CustomEvent("htmx:after:swap"))`) // another part of the page is swapped before the run is
	w.Until(`document.querySelector("#bench-run [data-run][data-state=queued]")`)
	w.Until(`document.querySelector("#bench-pin").hidden && !document.querySelector(".cm-lintRange-error, #bench-run [data-failure]")`) // of the run before
	w.refusedNothing()
}

func TestSigningInKeepsWhatAVisitorWrote(t *testing.T) {
	s := newScene(t)
	w := s.window()
	w.bench(s, "")
	w.types("// written by no one yet")
	w.Until(fmt.Sprintf(`document.querySelector("[data-bench-form] a.btn-main").getAttribute("href") == "/sign-in?next=%s"`, url.QueryEscape("/tasks/"+s.task.Slug+"/solve")))
	w.as(s.browserOf(s.ada))
	w.bench(s, "")
	w.Until(shownText + ` == "// written by no one yet"`)
	w.open("/") // leads to what was written last
	w.Until(`new URL(document.querySelector("[data-last-draft]:not([hidden]) a").href).pathname == "/tasks/` + s.task.Slug + `/solve"`)
	w.Shows("[data-last-draft]", "Your last draft: "+s.task.Title)
	w.Eval(`document.querySelector("[data-last-draft] a").click()`)
	w.Until(`document.querySelector("[data-kept]:not([hidden]) [data-discard]")`)
	w.Until(shownText + ` == "// written by no one yet"`)
	w.Eval(`document.querySelector("[data-discard]").click()`)
	w.open("/")
	w.Until(`document.querySelector("[data-last-draft]").hidden`)
	w.refusedNothing()
}

func TestWorkbenchShowsOneTabAtATime(t *testing.T) {
	s := newScene(t)
	w := s.window().as(s.browserOf(s.ada))
	w.bench(s, "")
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
	w.refusedNothing()
}

// TestWorkbenchSaysHowItsDevicesStandNow while it is open, and leaves what was ticked.
func TestWorkbenchSaysHowItsDevicesStandNow(t *testing.T) {
	s := newScene(t)
	beat := func(off string) {
		h := job.Heartbeat{Worker: "rack-7", Started: time.Now(), Slots: []job.Slot{{Device: "CPU", Disabled: off}}}
		modelstest.Heard(t, s.site.Store, h)
		s.site.Hub.QueueChanged()
	}
	beat("tested")
	w := s.window().as(s.browserOf(s.ada))
	w.bench(s, "")
	w.Shows("[data-device=CPU]", "not ready")
	w.Eval(`document.querySelector("[data-device=CPU] input").click()`)
	ticked := w.Eval(`document.querySelector("[data-device=CPU] input").checked`)
	beat("")
	w.Shows("[data-device=CPU]", "1 free")
	w.Shows("[data-device=H200]", "offline")
	w.Until(`document.querySelector("[data-device=CPU] input").checked == ` + ticked)
	w.refusedNothing()
}

// TestNotesOnCasesFitTheBoxThatScrolls, in the narrow column of the workbench, too.
func TestNotesOnCasesFitTheBoxThatScrolls(t *testing.T) {
	s := newScene(t)
	run := s.judge("CPU", judgedCases(), 12e3)
	w := s.window().as(s.browserOf(s.ada))
	w.bench(s, fmt.Sprintf("?run=%d", run.SubmissionID))
	w.Eval(`document.querySelectorAll("[data-cases]").forEach((cases) => (cases.open = true))`)
	w.Until(`document.querySelectorAll(".said p").length > 1`)
	for _, width := range []int64{1280, 1030, 390} {
		w.Do(chromedp.EmulateViewport(width, 900))
		w.Until(`[...document.querySelectorAll(".said p")].every((note) => note.getBoundingClientRect().right <= note.closest(".scroll").getBoundingClientRect().right)`)
	}
	w.looksRight("bench-clocks")
}

// TestWorkbenchServesWithoutJavaScript sends its form as a browser without scripts does.
func TestWorkbenchServesWithoutJavaScript(t *testing.T) {
	s := newScene(t)
	b := s.browserOf(s.ada)
	path := "/tasks/" + s.task.Slug + "/solve"
	doc := b.page(path, http.StatusOK)
	checkSound(t, doc)
	if doc.Find("[role=tablist]:not([hidden]), .bench-pane[hidden], .bench-shown[hidden]").Length() != 0 || doc.Find(".bench-pane, .bench-shown").Length() != 5 {
		t.Error("a part of the page is missing or hidden without a script")
	}
	form := doc.Find("[data-bench-form]")
	values := fields(form)
	values.Set("mode", "test")
	values.Set("source", "// by a plain form")
	values["device"] = []string{"H200"}
	resp := b.upload(form.AttrOr("action", ""), "", "", nil, values)
	if !strings.HasPrefix(resp.Request.URL.Path, "/submissions/") {
		t.Errorf("the form leads to %s, %s", resp.Request.URL, resp.Status)
	}
	values.Del("device")
	resp = b.upload(form.AttrOr("action", ""), "", "", nil, values)
	wantStatus(t, resp, http.StatusUnprocessableEntity)
	if text := body(t, resp); !strings.Contains(text, "// by a plain form") || !strings.Contains(text, `role="alert"`) {
		t.Error("what was refused does not come back with its reason")
	}
}

func TestEditAndResubmitLeadsToTheWorkbenchWithTheRun(t *testing.T) {
	s := newScene(t)
	b := s.browserOf(s.ada)
	doc := b.page(fmt.Sprintf("/submissions/%d", s.failed.SubmissionID), http.StatusOK)
	again := doc.Find("a:contains('Edit and resubmit')").AttrOr("href", "")
	w := s.window().as(b)
	w.open(again)
	w.Until(`document.querySelector(".cm-content")`)
	w.Until(shownText + ` == "int main("`)
	w.Shows("#bench-run [data-failure]", "does not compile")
	doc = s.browser().page(again, http.StatusOK) // of a visitor
	if text := doc.Text(); strings.Contains(text, "int main(") || strings.Contains(text, "submission.cu(3)") {
		t.Error("a visitor reads a source that is its author's")
	}
}

// TestWorkbenchKeepsCodeButtonsAndResultInTheWindow after a ranked run, without scrolling.
func TestWorkbenchKeepsCodeButtonsAndResultInTheWindow(t *testing.T) {
	s := newScene(t)
	w := s.window().as(s.browserOf(s.ada))
	inside := `["[data-key=enter]", "[data-key=shift-enter]", "#bench-queue", "#bench-run [data-score]"].every((part) => {
		const box = document.querySelector(part)?.getBoundingClientRect();
		return box && box.top >= 0 && box.bottom <= innerHeight;
	})`
	for _, size := range [][2]int64{{1440, 900}, {1280, 720}, {390, 844}} {
		w.Do(chromedp.EmulateViewport(size[0], size[1]))
		w.bench(s, "")
		w.types(strings.Repeat("// a long kernel\n", 200) + goodKernel)
		w.Eval(`document.querySelector("[data-key=shift-enter]").click()`)
		w.Until(`document.querySelector("#bench-run [data-run][data-state=queued]")`)
		s.finish(s.newest(s.ada), 9.5e3)
		w.Until(inside)
		w.Until(`document.documentElement.scrollWidth == innerWidth`)
	}
	w.looksRight("bench-ranked")
	w.refusedNothing()
}

// TestWorkbenchOpensARunWithItsSource, unless this browser has a draft: then the run's marks are not the draft's.
func TestWorkbenchOpensARunWithItsSource(t *testing.T) {
	s := newScene(t)
	w := s.window().as(s.browserOf(s.ada))
	opened := fmt.Sprintf("?run=%d", s.failed.SubmissionID)
	w.bench(s, opened)
	w.Until(shownText + ` == "int main("`)
	w.Until(`document.querySelector("#bench-run [data-failure]")`)
	w.bench(s, "")
	w.types("// a newer draft")
	w.bench(s, opened)
	w.Until(shownText + ` == "// a newer draft"`)
	w.Until(`document.querySelector("#bench-run [data-failure]") && !document.querySelector(".cm-lintRange-error")`)
	w.refusedNothing()
}

// TestWorkbenchShowsOnePartOfTheResult, and remembers the sizes of its panes.
func TestWorkbenchShowsOnePartOfTheResult(t *testing.T) {
	s := newScene(t)
	w := s.window().as(s.browserOf(s.ada))
	w.Do(chromedp.EmulateViewport(1440, 900))
	w.bench(s, fmt.Sprintf("?run=%d", s.failed.SubmissionID))
	shown := `[...document.querySelectorAll("#bench-run [data-part]")].filter((part) => part.offsetHeight).map((part) => part.dataset.part).join()`
	for _, tab := range []struct{ name, shows string }{{"output", "output"}, {"verdict", "verdict"}, {"cases", ""}} {
		w.Eval(fmt.Sprintf(`document.querySelector("#tab-%s").click()`, tab.name))
		w.Until(fmt.Sprintf("%s == %q", shown, tab.shows))
	}
	w.Shows(".bench-nothing", "No case has run yet.")
	w.Eval(`document.querySelector("#tab-history").click()`)
	w.Shows("#pane-history", fmt.Sprintf("#%d", s.failed.SubmissionID))
	w.Until(`document.querySelector("#bench-run").hidden`)
	w.Until(fmt.Sprintf(`document.querySelector("#pane-history a[href$='solve?from=%d']")`, s.failed.SubmissionID))

	w.Eval(`document.querySelector("[data-split=left]").focus()`)
	for range 5 {
		w.Do(chromedp.KeyEvent(kb.ArrowRight))
	}
	w.Until(`document.querySelector("[data-split=left]").getAttribute("aria-valuenow") == "50"`)
	w.bench(s, "")
	w.Until(`Math.abs(document.querySelector("#bench-left").offsetWidth / document.querySelector("[data-bench]").offsetWidth - 0.5) < 0.02`)
	w.refusedNothing()
}
