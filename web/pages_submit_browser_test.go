package web

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// editor opens the form of the scene's task, with its editor loaded.
func (w *window) editor(s *scene, query string) {
	w.T.Helper()
	w.open("/tasks/" + s.task.Slug + query)
	w.Eval(`document.querySelector("#source").scrollIntoView()`)
	w.Until(`document.querySelector(".cm-content")`)
}

// types replaces what is in the editor.
func (w *window) types(text string) {
	w.T.Helper()
	w.Eval(fmt.Sprintf(`(() => {
		document.querySelector(".cm-content").focus();
		document.execCommand("selectAll");
		document.execCommand("insertText", false, %q);
	})()`, text))
	w.Until(fmt.Sprintf(`document.querySelector("#source").value == %q`, text))
}

const shownText = `[...document.querySelectorAll(".cm-line")].map((line) => line.textContent).join("\n")`

func TestDraftSurvivesAReload(t *testing.T) {
	s := newScene(t)
	w := s.window().as(s.browserOf(s.ada))
	w.editor(s, "")
	w.Until(`document.querySelector("[data-kept]").hidden`)
	w.types("// half a kernel")
	w.editor(s, "")
	w.Until(shownText + ` == "// half a kernel"`)
	w.Until(`!document.querySelector("[data-kept]").hidden`)
	w.editor(s, fmt.Sprintf("?from=%d", s.failed.SubmissionID)) // what was submitted goes before a draft
	w.Until(shownText + ` == "int main("`)
	w.editor(s, "")
	w.Eval(`document.querySelector("[data-discard]").click()`)
	w.Until(shownText + `.includes("custom_kernel")`)
	w.editor(s, "")
	w.Until(shownText + `.includes("custom_kernel")`)
	w.refusedNothing()
}

func TestEditorIsLeftByKeyboard(t *testing.T) {
	s := newScene(t)
	w := s.window().as(s.browserOf(s.ada))
	w.editor(s, "")
	w.Eval(`document.querySelector("label[for=source]").click()`)
	w.Until(`document.activeElement.matches(".cm-content")`)
	w.Do(chromedp.KeyEvent(kb.Escape), chromedp.KeyEvent(kb.Tab))
	w.Until(`document.activeElement.id == "file"`)
	w.Until(`getComputedStyle(document.activeElement).outlineStyle == "solid"`)
}

func TestChosenFileCanBeChangedBeforeItIsSent(t *testing.T) {
	s := newScene(t)
	w := s.window().as(s.browserOf(s.ada))
	w.editor(s, "")
	w.Eval(`(() => {
		const held = new DataTransfer();
		held.items.add(new File(["// from a file"], "nine.cu"));
		document.querySelector(".drop").dispatchEvent(new DragEvent("drop", { dataTransfer: held, cancelable: true }));
	})()`)
	w.Until(shownText + ` == "// from a file"`)
	w.Until(`document.querySelector("[data-file-note]").textContent.includes("nine.cu")`)
	w.types("// changed since")
	w.Eval(`document.querySelector("#submit form").requestSubmit()`)
	w.Until(`location.pathname.startsWith("/submissions/")`)
	w.Eval(`location.search = "?tab=source"`)
	w.Until(`document.querySelector(".source")?.textContent.includes("// changed since")`)
	w.Until(`document.querySelector("h2").textContent == "nine.cu"`)
}

func TestWhyASubmissionIsRefusedIsBeforeTheEyes(t *testing.T) {
	s := newScene(t)
	w := s.window().as(s.browserOf(s.ada))
	w.Do(chromedp.EmulateViewport(390, 844))
	w.editor(s, "")
	w.types("// precious work")
	w.Eval(`document.querySelectorAll("#submit input[name=device]").forEach((box) => (box.checked = false))`)
	w.Eval(`document.querySelector("#submit form").requestSubmit()`)
	w.Until(`document.querySelector("#submit [role=alert]") == document.activeElement`)
	w.Until(`(({top, bottom}) => top >= 0 && bottom <= innerHeight)(document.activeElement.getBoundingClientRect())`)
	w.Until(shownText + ` == "// precious work"`)
	w.Eval(`location.href = location.href`) // as from the address bar
	w.Until(`location.pathname + location.hash == "/tasks/` + s.task.Slug + `#submit"`)
	w.refusedNothing()
}

func TestEditingAgainKeepsWhatTheCompilerSaid(t *testing.T) {
	s := newScene(t)
	broken := s.submit(s.ada, "H200", goodKernel)
	s.fail(broken, buildFailure())
	again := fmt.Sprintf("?from=%d", broken.SubmissionID)
	b := s.browserOf(s.ada)
	wantText(t, b.page("/tasks/"+s.task.Slug+again, http.StatusOK), "#submit [data-line='3']", `line 3 error: expected a ";"`)
	w := s.window().as(b)
	w.editor(s, again)
	w.Until(`document.querySelectorAll(".cm-lintRange-error, .cm-lint-marker-error").length >= 2`)
	w.refusedNothing()
}
