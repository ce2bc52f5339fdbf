package authoring_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"warpboard/models/accounts"
	"warpboard/web/webtest"
)

// leaving visits a page, and reports whether the previous page asked for confirmation before it was left.
func leaving(t *testing.T, w *webtest.Window, path string) bool {
	t.Helper()
	asked := make(chan struct{}, 1)
	err := chromedp.Listen(w.Ctx, func(ev any) {
		if dialog, ok := ev.(*page.EventJavascriptDialogOpening); ok && dialog.Type == page.DialogTypeBeforeunload {
			select {
			case asked <- struct{}{}:
			default:
			}
			go chromedp.Call(w.Ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: true})
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	w.Visit(path)
	return len(asked) > 0
}

const firstText = `document.querySelector("textarea[name=text]").value`

// writes types a comment as the first line of the open file. It sends key events, because a browser asks before leaving
// a page only if a person has used the page.
func writes(w *webtest.Window, text string) {
	w.Until(`document.querySelector(".file-pane:not([hidden]) .cm-content")`)
	w.Click(".file-pane:not([hidden]) .cm-content")
	w.Eval(`(() => { document.execCommand("selectAll"); getSelection().collapseToStart(); })()`)
	w.Do(chromedp.KeyEvent(text + "\r"))
	w.Until(fmt.Sprintf("%s.includes(%q)", firstText, text+"\n"))
}

// TestUnsavedTextIsRestored checks that a page with unsaved text asks before it is left, restores the text on the next
// visit, and discards the draft once the text is saved.
func TestUnsavedTextIsRestored(t *testing.T) {
	s := webtest.NewScene(t)
	creator := s.SignedIn("Carla", accounts.RoleCreator)
	w := s.Window().As(creator)
	w.Do(chromedp.EmulateViewport(1280, 900))
	const begin = "/tasks/new/vectoradd_cpp"
	w.Visit(begin)
	shown := func(what string) string {
		return fmt.Sprintf(`document.querySelector("[data-%s]").checkVisibility()`, what)
	}
	w.Until("!" + shown("unsaved"))
	writes(w, "# mine")
	w.Until(shown("unsaved"))
	if !leaving(t, w, "/tasks") {
		t.Error("the page does not ask before typed text is left")
	}
	w.Visit(begin)
	w.Until(firstText + `.includes("# mine")`)
	w.Until(shown("draft-restored"))
	w.LooksRight("files-draft")
	w.Click("[data-draft-restored] button")
	w.Until(`!` + firstText + `.includes("# mine") && !` + shown("unsaved"))

	writes(w, "# ours")
	w.Eval(`document.querySelector("#title").value = ""`)
	w.Do(chromedp.SendKeys("#title", "Rows"))
	w.Click("main form [value=save]")
	w.Until(`location.pathname == "/tasks/rows/files"`)
	w.Until(firstText + `.includes("# ours") && !` + shown("unsaved"))
	w.Visit(begin)
	// the text was saved, so there is no draft
	w.Until(`!` + firstText + `.includes("# ours") && !` + shown("draft-offered"))

	w.Visit("/tasks/rows/files")
	writes(w, "# later")
	webtest.WantStatus(t, sends(creator, t, creator.Page("/tasks/rows/files", http.StatusOK), "/tasks/rows/files",
		func(f url.Values) {
			f["text"][slices.Index(f["path"], "task.yml")] += "# elsewhere\n"
			f.Set("do", "save")
		}), http.StatusOK)
	leaving(t, w, "/tasks/rows/files") // the stored files changed: the page shows them and offers the draft
	w.Until(shown("draft-offered") + `&& ` + firstText + `.includes("# elsewhere")`)
	w.Click("[data-draft-fill=draft]")
	w.Until(firstText + `.includes("# later") && ` + shown("unsaved"))
	w.RefusedNothing()
}
