package submissions_test

import (
	"testing"

	"github.com/chromedp/chromedp"

	"warpboard/web/webtest"
)

// TestTheSearchOfTheEditorLooksLikeThePage checks the styles of the editor's search panel, and that the links of a
// board's chart and the filters of the home page are large enough on a phone.
func TestTheSearchOfTheEditorLooksLikeThePage(t *testing.T) {
	s := webtest.NewScene(t)
	w := s.Window().As(s.BrowserOf(s.Ada))
	w.Do(chromedp.EmulateViewport(1280, 800))
	w.Bench(s, "")
	w.Eval(`document.querySelector(".cm-content").focus()`)
	w.Do(chromedp.KeyEvent("f", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	w.Until(`getComputedStyle(document.querySelector(".cm-search .cm-button")).borderRadius == "5px"`)
	w.LooksRight("editor-search")
	w.Do(chromedp.EmulateViewport(390, 800))
	w.Visit("/tasks/" + s.Task.Slug + "/boards/H200")
	w.Until(`parseFloat(getComputedStyle(document.querySelector(".chart a circle")).strokeWidth) + 7 >= 24`)
	w.LooksRight("board")
	w.Visit("/tasks")
	w.Until(`document.querySelector("[data-filters]").getBoundingClientRect().height < 40 && document.querySelector("#tasks").getBoundingClientRect().top < 400`)
	w.LooksRight("home")
}
