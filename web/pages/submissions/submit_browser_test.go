package submissions_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"warpboard/web/webtest"
)

// editor opens the submission form on the page of the scene's task, and waits until its editor has loaded.
func editor(w *webtest.Window, s *webtest.Scene, query string) {
	w.T.Helper()
	w.Visit("/tasks/" + s.Task.Slug + query)
	w.Eval(`document.querySelector("[data-upload]").open = true, document.querySelector("#source").scrollIntoView()`)
	w.Until(`document.querySelector(".cm-content")`)
}

const shownText = `[...document.querySelectorAll(".cm-line")].map((line) => line.textContent).join("\n")`

func TestDraftSurvivesAReload(t *testing.T) {
	s := webtest.NewScene(t)
	w := s.Window().As(s.BrowserOf(s.Ada))
	editor(w, s, "")
	w.Until(`document.querySelector("[data-kept]").hidden`)
	w.Types("// half a kernel")
	editor(w, s, "")
	w.Until(shownText + ` == "// half a kernel"`)
	w.Until(`!document.querySelector("[data-kept]").hidden`)
	editor(w, s, fmt.Sprintf("?from=%d", s.Failed.SubmissionID)) // ?from= takes precedence over the draft
	w.Until(shownText + ` == "int main("`)
	editor(w, s, "")
	w.Eval(`document.querySelector("[data-discard]").click()`)
	w.Until(shownText + `.includes("custom_kernel")`)
	editor(w, s, "")
	w.Until(shownText + `.includes("custom_kernel")`)
	w.RefusedNothing()
}

func TestEditorIsLeftByKeyboard(t *testing.T) {
	s := webtest.NewScene(t)
	w := s.Window().As(s.BrowserOf(s.Ada))
	editor(w, s, "")
	w.Eval(`document.querySelector("label[for=source]").click()`)
	w.Until(`document.activeElement.matches(".cm-content")`)
	w.Do(chromedp.KeyEvent(kb.Escape), chromedp.KeyEvent(kb.Tab))
	w.Until(`document.activeElement.id == "file"`)
	w.Until(`getComputedStyle(document.activeElement).outlineStyle == "solid"`)
}

func TestChosenFileCanBeChangedBeforeItIsSent(t *testing.T) {
	s := webtest.NewScene(t)
	w := s.Window().As(s.BrowserOf(s.Ada))
	editor(w, s, "")
	w.Eval(`(() => {
		const held = new DataTransfer();
		held.items.add(new File(["// from a file"], "nine.cu"));
		document.querySelector(".drop").dispatchEvent(new DragEvent("drop", { dataTransfer: held, cancelable: true }));
	})()`)
	w.Until(shownText + ` == "// from a file"`)
	w.Until(`document.querySelector("[data-file-note]").textContent.includes("nine.cu")`)
	w.Types("// changed since")
	w.Eval(`document.querySelector("#submit form").requestSubmit()`)
	w.Until(`location.pathname.startsWith("/submissions/")`)
	w.Eval(`location.search = "?tab=source"`)
	w.Until(`document.querySelector(".source")?.textContent.includes("// changed since")`)
	w.Until(`document.querySelector("h2").textContent == "nine.cu"`)
}

func TestTheReasonForARefusalIsVisible(t *testing.T) {
	s := webtest.NewScene(t)
	w := s.Window().As(s.BrowserOf(s.Ada))
	w.Do(chromedp.EmulateViewport(390, 844))
	editor(w, s, "")
	w.Types("// precious work")
	w.Eval(`document.querySelectorAll("#submit input[name=device]").forEach((box) => (box.checked = false))`)
	w.Eval(`document.querySelector("#submit form").requestSubmit()`)
	w.Until(`document.querySelector("#submit [role=alert]") == document.activeElement`)
	w.Until(`(({top, bottom}) => top >= 0 && bottom <= innerHeight)(document.activeElement.getBoundingClientRect())`)
	w.Until(shownText + ` == "// precious work"`)
	w.Eval(`location.href = location.href`) // as if the person entered the address again
	w.Until(`location.pathname + location.hash == "/tasks/` + s.Task.Slug + `#submit"`)
	w.RefusedNothing()
}

func TestEditingAgainKeepsTheCompilersMessages(t *testing.T) {
	s := webtest.NewScene(t)
	broken := s.Submit(s.Ada, "H200", webtest.GoodKernel)
	s.Fail(broken, webtest.BuildFailure())
	again := fmt.Sprintf("?from=%d", broken.SubmissionID)
	b := s.BrowserOf(s.Ada)
	webtest.WantText(t, b.Page("/tasks/"+s.Task.Slug+again, http.StatusOK), "#submit [data-line='3']",
		`line 3 error: expected a ";"`)
	w := s.Window().As(b)
	editor(w, s, again)
	w.Until(`document.querySelectorAll(".cm-lintRange-error, .cm-lint-marker-error").length >= 2`)
	w.RefusedNothing()
}
