package submissions_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"warpboard/models/work"
	"warpboard/web/webtest"
)

// chooses selects a value in a menu below the editor, as a person would.
func chooses(w *webtest.Window, label, value string) {
	w.T.Helper()
	w.Eval(fmt.Sprintf(`(() => {
		const box = [...document.querySelectorAll(".cm-bar label")].find((l) => l.textContent.startsWith(%q)).querySelector("select");
		box.value = %q;
		box.dispatchEvent(new Event("change"));
	})()`, label, value))
}

// presses types letters with keyboard events, so that key bindings can intercept them.
func presses(w *webtest.Window, letters string) {
	w.T.Helper()
	for _, letter := range letters {
		for _, kind := range []input.DispatchKeyEventType{"keyDown", "keyUp"} {
			in := input.DispatchKeyEventParams{Type: kind, Key: string(letter)}
			if kind == "keyDown" {
				in.Text = string(letter)
			}
			if _, err := chromedp.Call(w.Ctx, input.DispatchKeyEvent, in); err != nil {
				w.T.Fatal(err)
			}
		}
	}
}

// TestTheEditorHasVimsKeysAndThoseOfVSCode checks that the browser remembers the chosen key bindings for all editors
// and later visits, and that the page's own keys still work.
func TestTheEditorHasVimsKeysAndThoseOfVSCode(t *testing.T) {
	s := webtest.NewScene(t)
	w := s.Window().As(s.BrowserOf(s.Ada))
	w.Do(chromedp.EmulateViewport(1280, 900))
	w.Bench(s, "")
	w.Types("one\ntwo\nthree\n")
	source := `document.querySelector("#source").value`
	focus := `document.querySelector(".cm-content").focus()`
	chooses(w, "Keys", "vim")
	w.Until(`document.querySelector(".cm-vimMode")`)
	w.Eval(focus)
	presses(w, "ggdd")
	w.Until(source + ` == "two\nthree\n"`)
	presses(w, "ofour")
	w.Do(chromedp.KeyEvent(kb.Escape))
	w.Until(source + ` == "two\nfour\nthree\n"`)
	w.LooksRight("editor-vim")
	w.Bench(s, "") // a new visit keeps the key bindings
	w.Until(`document.querySelector(".cm-vimMode")`)
	w.Eval(focus)
	w.Do(chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	w.Until(`document.querySelector("#bench-run [data-run]")`) // the page's Ctrl+Enter submitted a test

	chooses(w, "Keys", "vscode")
	w.Until(`!document.querySelector(".cm-vimMode")`)
	w.Types("one\ntwo\nthree\n")
	w.Eval(focus)
	key := func(init string) {
		w.Eval(`document.querySelector(".cm-content").dispatchEvent(new KeyboardEvent("keydown", { bubbles: true, cancelable: true, ` + init + ` }))`)
	}
	key(`key: "Home", keyCode: 36, ctrlKey: true`)
	key(`key: "k", keyCode: 75, ctrlKey: true`)
	key(`key: "c", keyCode: 67, ctrlKey: true`)
	w.Until(source + ` == "// one\ntwo\nthree\n"`)
	key(`key: "ArrowDown", keyCode: 40, altKey: true`)
	w.Until(source + ` == "two\n// one\nthree\n"`)
	w.RefusedNothing()
}

// TestTheEditorCompletesNames checks that the editor completes names of the task, of the harness, and of CUDA.
func TestTheEditorCompletesNames(t *testing.T) {
	s := webtest.NewScene(t)
	w := s.Window().As(s.BrowserOf(s.Ada))
	w.Do(chromedp.EmulateViewport(1280, 900))
	w.Bench(s, "")
	w.Types("int ")
	// the module for the language loads after the editor
	w.Until(`document.querySelector(".cm-content .tok-typeName")`)
	w.Eval(`document.querySelector(".cm-content").focus()`)
	options := `[...document.querySelectorAll(".cm-tooltip-autocomplete li .cm-completionLabel")].map((o) => o.textContent)`
	w.Do(chromedp.KeyEvent("__shfl_d"))
	w.Until(options + `[0] == "__shfl_down_sync"`)
	w.Shows(".cm-completionInfo", "The value of a lane above")
	w.LooksRight("editor-completion")
	w.Do(chromedp.KeyEvent(kb.Enter))
	w.Until(`document.querySelector("#source").value.includes("__shfl_down_sync")`)
	w.Do(chromedp.KeyEvent("(in"))
	w.Until(options + `.includes("input_t")`)
	w.Do(chromedp.KeyEvent(kb.Escape))
	w.RefusedNothing()
}

// TestHistoryOffersTheLastAndTheBestSubmission checks that the workbench's history links to the sources of both, for
// the editor's comparison.
func TestHistoryOffersTheLastAndTheBestSubmission(t *testing.T) {
	s := webtest.NewScene(t)
	best := s.Submit(s.Ada, "H200", "int best;\n")
	s.Finish(best, 1e3)
	last := s.Submit(s.Ada, "H200", "int last;\n")
	s.Finish(last, 9e3)
	history := webtest.Document(t, s.BrowserOf(s.Ada).Get("/tasks/"+s.Task.Slug+"/solve/runs", "HX-Request", "true"),
		http.StatusOK)
	for name, run := range map[string]work.Run{"best": best, "previous": last} {
		want := fmt.Sprintf("/api/v1/submissions/%d/source", run.SubmissionID)
		if got := history.Find("[data-version="+name+"]").AttrOr("href", ""); got != want {
			t.Errorf("%s is %q, not %s", name, got, want)
		}
	}
}

// TestTheEditorComparesWithWhatWasSent checks that the editor marks the changes against the last or the best submission
// in its text.
func TestTheEditorComparesWithWhatWasSent(t *testing.T) {
	s := webtest.NewScene(t)
	s.Finish(s.Submit(s.Ada, "H200", "int best;\n"), 1e3)
	s.Finish(s.Submit(s.Ada, "H200", "int last;\n"), 9e3)
	w := s.Window().As(s.BrowserOf(s.Ada))
	w.Do(chromedp.EmulateViewport(1280, 900))
	w.Bench(s, "")
	w.Types("int best;\nint more;\n")
	chooses(w, "Compare", "previous")
	w.Until(`document.querySelector(".cm-deletedChunk")?.textContent.includes("int last;")`)
	w.LooksRight("editor-compare")
	chooses(w, "Compare", "best")
	w.Until(`!document.querySelector(".cm-deletedChunk")?.textContent && document.querySelector(".cm-changedLine, .cm-insertedLine")?.textContent == "int more;"`)
	chooses(w, "Compare", "")
	w.Until(`!document.querySelector(".cm-changedLine, .cm-insertedLine")`)
	chooses(w, "Size", "18")
	w.Until(`getComputedStyle(document.querySelector(".cm-content")).fontSize == "18px" && JSON.parse(localStorage.getItem("editor")).size == 18`)
	w.RefusedNothing()
}
