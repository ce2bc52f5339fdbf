package e2e

import (
	"archive/zip"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// TestStoryInTheBrowser tests the main purpose of a site in a real browser, against a real server: a person makes a
// task and submits kernels while a visitor watches.
func TestStoryInTheBrowser(t *testing.T) {
	s := startSite(t, "--cpu-slots", "1", "--warm-python", "0", "--ranked-processes", "2")
	ada, visitor := s.window(t), s.window(t)

	ada.signIn("Ada Lovelace")
	ada.makeTask(taskZip(t))
	visitor.Open("/tasks/" + smallTask + "/boards/CPU")
	visitor.Shows("#board", "No entries yet")
	visitor.Eval("window.opened = true")

	ada.submitsRight()
	visitor.Shows(`#board tr[data-rank="1"]`, "Ada Lovelace")
	visitor.Until("window.opened") // a reload would delete window.opened
	visitor.shoot("board")
	visitor.Do(chromedp.Click(`#board td a[href^="/submissions/"]`))
	visitor.Shows("main h1", "Submission")
	visitor.clean()

	ada.submitsWrong()
	ada.submitsWhatDoesNotCompile()
	ada.solvesInTheWorkbench()
	ada.looksAround()
	ada.signsOut()
	ada.clean()
}

// signIn opens the one-time link in the server's log, and chooses a name. Only one window of a site can sign in this
// way.
func (w *window) signIn(name string) {
	w.T.Helper()
	w.Open("/")
	w.shoot("home")
	w.Click(`header a[href^="/sign-in"]`)
	w.Shows("[data-link]", "signs you in as an admin")
	w.shoot("sign-in")
	w.opensLink()
	w.Open("/sign-in")
	w.Do(chromedp.WaitVisible("#name"), chromedp.SendKeys("#name", name))
	w.shoot("sign-in-as")
	w.Click("main .btn-main")
	w.Shows("header", name)
}

// opensLink signs in as an admin, by the link that the server has printed.
func (w *window) opensLink() {
	w.T.Helper()
	path := regexp.MustCompile(`/auth/developer\?code=\w+`).FindString(w.site.log.String())
	if path == "" {
		w.T.Fatal("the server printed no link")
	}
	w.Open(path)
	w.Shows("header", "Developer")
}

// makeTask uploads a zip, checks the preview of the task, and publishes it.
func (w *window) makeTask(path string) {
	w.T.Helper()
	w.Click("header .menu summary")
	w.Click(`header a[href="/tasks/new"]`)
	w.Do(chromedp.WaitVisible("main form"), chromedp.SetUploadFiles("#zip", []string{path}))
	w.shoot("new-task")
	w.Click("main .btn-main")
	w.Shows("[data-draft] h2", "Sum of two")
	w.Shows("[data-draft]", "reference.h")
	w.Shows("[data-draft]", "test 10 s")
	w.Until(`document.querySelector("[data-draft] input[name=device][value=CPU]").checked`)
	w.shoot("preview")
	w.Click("[data-draft] .btn-main")
	w.Shows("[data-verdict='the starter']", "compiles, and passes")
	w.Click(`form[action$="/trial/publish"] button`)
	w.Shows("[role=status]", "Everyone can see the task now")
	w.Open("/tasks/" + smallTask)
	w.Shows("main h1", "Sum of two")
	w.Shows("main", "as small as a task can be")
}

// paste replaces the editor's text and sends the form.
func (w *window) paste(source string) {
	w.T.Helper()
	w.Open("/tasks/" + smallTask)
	w.Eval(`document.querySelector("[data-upload]").open = true, document.querySelector("#source").scrollIntoView()`)
	w.Until(`document.querySelector(".cm-content")`)
	w.writes(source)
	w.Click("#submit button.btn-main")
	w.Until(`location.pathname.includes("/submissions/") && document.querySelector("#runs")`)
}

// writes replaces the text in the page's editor.
func (w *window) writes(source string) {
	w.T.Helper()
	w.Eval(`document.querySelector(".cm-content").focus()`)
	w.Do(chromedp.KeyEvent("a", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	if _, err := chromedp.Call(w.Ctx, input.InsertText, input.InsertTextParams{Text: source}); err != nil {
		w.T.Fatal(err)
	}
	w.Until(fmt.Sprintf(`document.querySelector("#source").value.trim() == %q`, strings.TrimSpace(source)))
}

// watchRun is JavaScript that records every state that the page shows of its run, until the page is reloaded.
const watchRun = `(() => {
	window.states = [];
	const note = () => states.push(document.querySelector("[data-run]").dataset.state);
	new MutationObserver(note).observe(document.querySelector("#runs"), {subtree: true, childList: true, attributes: true});
	note();
})()`

// submitsRight submits a correct kernel, and follows its run to the board without a reload of the page.
func (w *window) submitsRight() {
	w.T.Helper()
	// The times vary so much that the benchmark makes all its repeats: the ranked stage takes at least a second.
	w.paste(kernel("static int calls; usleep(++calls % 2 ? 3000 : 21000);"))
	w.Eval(watchRun)
	w.Until(`states.includes("ranking")`)
	w.shoot("working")
	w.Until(`document.querySelector("[data-state=done]")`)
	for _, stage := range []string{"build", "test", "ranked"} {
		w.Until(fmt.Sprintf("document.querySelector('[data-stage=%s]')", stage))
	}
	w.Shows("[data-score]", "ms")
	w.Until(`states.at(-1) == "done"`)
	w.shoot("done")
	w.Click(`a[href="/tasks/sum/boards/CPU"]`)
	w.Shows(`#board tr[data-rank="1"].mine`, "Ada Lovelace")
}

func (w *window) submitsWrong() {
	w.T.Helper()
	w.paste(strings.Replace(kernel(""), "data.size +", "data.size -", 1))
	w.Shows("[data-failure]", "gave a wrong answer: expected 15, got -7")
	w.shoot("wrong")
}

func (w *window) submitsWhatDoesNotCompile() {
	w.T.Helper()
	w.paste("#include \"task.h\"\n\noutput_t custom_kernel(input_t data) {\n    return data.size + data.sed;\n}\n")
	w.Shows("[data-failure]", "Compiling submission.cpp failed.")
	w.Shows("[data-run-remarks]", "line 4")
	w.Shows("[data-run-remarks]", "sed")
	w.shoot("no-compile")
}

// solvesInTheWorkbench tests a kernel that does not compile, and then a correct one, on the same page.
func (w *window) solvesInTheWorkbench() {
	w.T.Helper()
	w.Open("/tasks/" + smallTask + "/solve?template=C%2B%2B")
	w.Until(`document.querySelector(".cm-content")`)
	w.writes("#include \"task.h\"\n\noutput_t custom_kernel(input_t data) {\n    return data.size + data.sed;\n}\n")
	w.Do(chromedp.KeyEvent("\r", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	w.Until(`document.querySelector(".cm-lintRange-error")?.closest(".cm-line").textContent.includes("data.sed")`)
	w.shoot("workbench")
	w.writes(kernel(""))
	w.Do(chromedp.KeyEvent("\r", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	w.Until(`document.querySelector("#bench-run [data-state=done]") && !document.querySelector(".cm-lintRange-error")`)
}

// looksAround opens the other pages of a signed-in person.
func (w *window) looksAround() {
	w.T.Helper()
	for name, path := range map[string]string{"task": "/tasks/" + smallTask, "devices": "/devices", "me": "/me",
		"edit": "/tasks/" + smallTask + "/edit"} {
		w.Open(path)
		w.shoot(name)
	}
	w.Open("/devices")
	w.Shows("main", "checks pass")
}

func (w *window) signsOut() {
	w.T.Helper()
	w.Click("header .menu summary")
	w.Click("header .menu button")
	w.Shows("header", "Sign in")
	w.Open("/tasks/new")
	w.Until(`location.pathname == "/sign-in"`)
}

// taskZip packs the small task as its author would.
func taskZip(t *testing.T) string {
	t.Helper()
	var buf bytes.Buffer
	z := zip.NewWriter(&buf)
	if err := z.AddFS(os.DirFS("testdata/task")); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), smallTask+".zip")
	if err := os.WriteFile(path, buf.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}
