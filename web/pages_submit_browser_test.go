package web

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// editor opens the form of the scene's task, with its editor loaded.
func (w *window) editor(s *scene, query string) {
	w.t.Helper()
	w.open("/tasks/" + s.task.Slug + query)
	w.eval(`document.querySelector("#source").scrollIntoView()`)
	w.until(`document.querySelector(".cm-content")`)
}

// types replaces what is in the editor.
func (w *window) types(text string) {
	w.t.Helper()
	w.eval(fmt.Sprintf(`(() => {
		document.querySelector(".cm-content").focus();
		document.execCommand("selectAll");
		document.execCommand("insertText", false, %q);
	})()`, text))
	w.until(fmt.Sprintf(`document.querySelector("#source").value == %q`, text))
}

const shownText = `[...document.querySelectorAll(".cm-line")].map((line) => line.textContent).join("\n")`

func TestDraftSurvivesAReload(t *testing.T) {
	s := newScene(t)
	w := s.window().as(s.browserOf(s.ada))
	w.editor(s, "")
	w.until(`document.querySelector("[data-kept]").hidden`)
	w.types("// half a kernel")
	w.editor(s, "")
	w.until(shownText + ` == "// half a kernel"`)
	w.until(`!document.querySelector("[data-kept]").hidden`)
	w.editor(s, fmt.Sprintf("?from=%d", s.failed.SubmissionID)) // what was submitted goes before a draft
	w.until(shownText + ` == "int main("`)
	w.editor(s, "")
	w.eval(`document.querySelector("[data-discard]").click()`)
	w.until(shownText + `.includes("custom_kernel")`)
	w.editor(s, "")
	w.until(shownText + `.includes("custom_kernel")`)
	w.refusedNothing()
}

func TestEditorIsLeftByKeyboard(t *testing.T) {
	s := newScene(t)
	w := s.window().as(s.browserOf(s.ada))
	w.editor(s, "")
	w.eval(`document.querySelector("label[for=source]").click()`)
	w.until(`document.activeElement.matches(".cm-content")`)
	w.do(chromedp.KeyEvent(kb.Escape), chromedp.KeyEvent(kb.Tab))
	w.until(`document.activeElement.id == "file"`)
	w.until(`getComputedStyle(document.activeElement).outlineStyle == "solid"`)
}

func TestChosenFileCanBeChangedBeforeItIsSent(t *testing.T) {
	s := newScene(t)
	w := s.window().as(s.browserOf(s.ada))
	w.editor(s, "")
	w.eval(`(() => {
		const held = new DataTransfer();
		held.items.add(new File(["// from a file"], "nine.cu"));
		document.querySelector(".drop").dispatchEvent(new DragEvent("drop", { dataTransfer: held, cancelable: true }));
	})()`)
	w.until(shownText + ` == "// from a file"`)
	w.until(`document.querySelector("[data-file-note]").textContent.includes("nine.cu")`)
	w.types("// changed since")
	w.eval(`document.querySelector("#submit form").requestSubmit()`)
	w.until(`location.pathname.startsWith("/submissions/")`)
	w.eval(`location.search = "?tab=source"`)
	w.until(`document.querySelector(".source")?.textContent.includes("// changed since")`)
	w.until(`document.querySelector("h2").textContent == "nine.cu"`)
}

func TestWhyASubmissionIsRefusedIsBeforeTheEyes(t *testing.T) {
	s := newScene(t)
	w := s.window().as(s.browserOf(s.ada))
	w.do(chromedp.EmulateViewport(390, 844))
	w.editor(s, "")
	w.types("// precious work")
	w.eval(`document.querySelectorAll("#submit input[name=device]").forEach((box) => (box.checked = false))`)
	w.eval(`document.querySelector("#submit form").requestSubmit()`)
	w.until(`document.querySelector("#submit [role=alert]") == document.activeElement`)
	w.until(`(({top, bottom}) => top >= 0 && bottom <= innerHeight)(document.activeElement.getBoundingClientRect())`)
	w.until(shownText + ` == "// precious work"`)
	w.eval(`location.href = location.href`) // as from the address bar
	w.until(`location.pathname + location.hash == "/tasks/` + s.task.Slug + `#submit"`)
	w.refusedNothing()
}
