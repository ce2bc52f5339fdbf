package authoring_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"warpboard/models/accounts"
	"warpboard/web/webtest"
)

// TestThePageOfATaskIsSeenWhileItIsWritten checks that the preview shows the task's page with the typed text, and keeps
// its scroll position when the text changes.
func TestThePageOfATaskIsSeenWhileItIsWritten(t *testing.T) {
	s := webtest.NewScene(t)
	w := s.Window().As(s.SignedIn("Carla", accounts.RoleCreator))
	w.Do(chromedp.EmulateViewport(1280, 900))
	w.Visit("/tasks/new/vectoradd_cpp")
	w.Shows("[data-checked] [role=status]", "No problems")
	frame := `document.querySelector("[data-previewed] iframe").contentDocument`
	w.Eval(`document.getElementById("tab-preview").click()`)
	w.Until(frame + `?.querySelector("h1")?.textContent == "Task without a title"`)
	w.Until(frame + `.querySelector(".prose").textContent.includes("Add two vectors")`)
	w.Until(frame + `.querySelector("#boards") && ` + frame + `.querySelector("#files") && ` + frame +
		`.styleSheets.length > 0`)
	w.Until(`!` + frame + `.querySelector("script, header .menu, a[href]")`)
	w.Eval(frame + `.querySelectorAll("details").forEach((d) => (d.open = true))`)
	w.Until(`document.querySelector(".file-pane:not([hidden]) .cm-content")`)
	w.Eval(`(() => { const a = document.querySelectorAll("textarea[name=text]")[0]; a.value = a.value.replace("Add two vectors", "Add **both** vectors"); a.dispatchEvent(new Event("change")); a.dispatchEvent(new Event("input", { bubbles: true })); })()`)
	w.Until(frame + `.querySelector(".prose strong")?.textContent == "both"`)
	w.Until(frame + `.querySelectorAll("details:not([open])").length == 0`)
	w.LooksRight("authoring-preview")
	w.RefusedNothing()
}

// TestTitleOfANewTaskGoesIntoTaskYML checks that the title of the form is written into task.yml, quoted if necessary,
// unless task.yml has a title.
func TestTitleOfANewTaskGoesIntoTaskYML(t *testing.T) {
	s := webtest.NewScene(t)
	creator := s.SignedIn("Carla", accounts.RoleCreator)
	const begin = "/tasks/new/vectoradd_cpp"
	doc := creator.Page(begin, http.StatusOK)
	for slug, own := range map[string]string{"sum-of-two": "", "own": "title: Own  # short\n"} {
		sends(creator, t, doc, begin, func(f url.Values) {
			at := slices.Index(f["path"], "task.yml")
			f["text"][at] = own + f["text"][at]
			f.Set("title", "Sum: of two")
			f.Set("do", "save")
		})
		files := webtest.Fields(creator.Page("/tasks/"+slug+"/files", http.StatusOK).Find("form[action='/tasks/" +
			slug + "/files']"))
		want := own
		if own == "" {
			want = "title: \"Sum: of two\"\n"
		}
		if text := files["text"][slices.Index(files["path"], "task.yml")]; !strings.HasPrefix(text, want) ||
			strings.Count(text, "title:") != 1 {
			t.Errorf("task.yml of %s begins with %.80q", slug, text)
		}
	}
	w := s.Window().As(creator)
	w.Visit(begin)
	w.Eval(`(() => { const f = document.getElementById("title"); f.value = "Both"; f.dispatchEvent(new Event("input", { bubbles: true })); })()`)
	w.Until(`document.getElementById("slug").placeholder == "both"`)
	w.RefusedNothing()
}

// TestATaskIsCheckedAndPreviewedWithoutAScript checks that check and preview keep the input and create no task.
func TestATaskIsCheckedAndPreviewedWithoutAScript(t *testing.T) {
	s := webtest.NewScene(t)
	creator := s.SignedIn("Carla", accounts.RoleCreator)
	const begin = "/tasks/new/vectoradd_cpp"
	doc := creator.Page(begin, http.StatusOK)
	checked := func(change func(url.Values)) func(url.Values) {
		return func(f url.Values) {
			f.Set("title", "Sums")
			f.Set("do", "check")
			change(f)
		}
	}
	good := webtest.Document(t, sends(creator, t, doc, begin, checked(asIs)), http.StatusOK)
	webtest.WantText(t, good, "[role=status]", "No problems in these files")
	bad := webtest.Document(t, sends(creator, t, doc, begin, checked(func(f url.Values) {
		at := slices.Index(f["path"], "task.yml")
		f["text"][at] = strings.Replace(f["text"][at], "test_timeout: 30", "test_timeout: soon", 1)
	})), http.StatusUnprocessableEntity)
	webtest.WantText(t, bad, "[role=alert]", "test_timeout")
	kept := webtest.Fields(bad.Find("form[action='" + begin + "']"))
	if text := kept["text"][slices.Index(kept["path"], "task.yml")]; !strings.Contains(text, "title: Sums\n") ||
		!strings.Contains(text, "test_timeout: soon") {
		t.Errorf("what was typed is lost: %q", text)
	}
	webtest.WantStatus(t, creator.Get("/tasks/sums"), http.StatusNotFound)

	form := webtest.Fields(doc.Find("form[action='" + begin + "']"))
	form.Set("title", "Sums")
	shown := webtest.Document(t, creator.Upload("/tasks/check/preview", "", "", nil, form), http.StatusOK)
	webtest.WantText(t, shown, "[role=status]", "This is a preview")
	webtest.WantText(t, shown, "h1", "Sums")
	webtest.WantText(t, shown, "#boards", "")
	form["text"][slices.Index(form["path"], "task.yml")] = "filez: []\n"
	webtest.WantText(t, webtest.Document(t, creator.Upload("/tasks/check/preview", "", "", nil, form),
		http.StatusUnprocessableEntity), "main", "filez")
	webtest.WantStatus(t, s.BrowserOf(s.Ada).Upload("/tasks/check/preview", "", "", nil, url.Values{}),
		http.StatusForbidden)

	of := webtest.Fields(s.BrowserOf(s.Admin).Page("/tasks/"+s.Task.Slug+"/files", http.StatusOK).Find("main form"))
	webtest.WantText(t, webtest.Document(t, s.BrowserOf(s.Admin).Upload("/tasks/check/preview", "", "", nil, of),
		http.StatusOK), "h1", s.Task.Title)
	webtest.WantStatus(t, creator.Upload("/tasks/check/preview", "", "", nil, of), http.StatusForbidden)
}

// TestLinesKeepTheirEndsWhenFilesAreSaved checks that saving keeps the line ends of each file, although browsers submit
// all lines with CRLF.
func TestLinesKeepTheirEndsWhenFilesAreSaved(t *testing.T) {
	s := webtest.NewScene(t)
	admin := s.BrowserOf(s.Admin)
	bundle, err := s.Cfg.Store.Catalog.CurrentBundle(t.Context(), s.Task)
	if err != nil {
		t.Fatal(err)
	}
	bundle.Files["reference.cuh"] = []byte("// one\r\n" +
		strings.ReplaceAll(string(bundle.Files["reference.cuh"]), "\n", "\r\n"))
	bundle.Files["task.h"] = []byte("// a\r\n// b\n" + string(bundle.Files["task.h"]))
	if _, _, err := s.Cfg.Store.Catalog.Publish(t.Context(), s.Admin, s.Task.ID, bundle, nil); err != nil {
		t.Fatal(err)
	}
	path := "/tasks/" + s.Task.Slug + "/files"
	preview := webtest.Document(t, sends(admin, t, admin.Page(path, http.StatusOK), path, func(f url.Values) {
		at := slices.Index(f["path"], "reference.cuh")
		f["text"][at] = strings.Replace(f["text"][at], "// one", "// two", 1)
		f.Set("do", "review")
	}), http.StatusOK)
	webtest.WantStatus(t, admin.Upload("/tasks/"+s.Task.Slug+"/publish", "", "", nil,
		webtest.Fields(preview.Find("main form"))), http.StatusOK)
	task, _ := taskNow(s, s.Task.Slug)
	after, err := s.Cfg.Store.Catalog.CurrentBundle(t.Context(), task)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(string(bundle.Files["reference.cuh"]), "// one", "// two", 1)
	if got := after.Files; string(got["reference.cuh"]) != want ||
		string(got["task.h"]) != string(bundle.Files["task.h"]) {
		t.Errorf("saved %q and %q", got["reference.cuh"], got["task.h"])
	}
}

// TestTheEditorKnowsTheKeysOfTaskYML checks that the editor completes the keys of task.yml, with explanations, at every
// level, and also values if only few are allowed.
func TestTheEditorKnowsTheKeysOfTaskYML(t *testing.T) {
	s := webtest.NewScene(t)
	w := s.Window().As(s.SignedIn("Carla", accounts.RoleCreator))
	w.Do(chromedp.EmulateViewport(1280, 900))
	w.Visit("/tasks/new/vectoradd_cpp")
	w.Until(`document.querySelector(".cm-content[data-language=yaml]")`)
	options := `[...document.querySelectorAll(".cm-tooltip-autocomplete li .cm-completionLabel")].map((o) => o.textContent).join()`
	for _, c := range []struct{ text, typed, want string }{
		{"title: x\n", "rank", "ranking_by,ranked_budget,ranked_timeout"},
		{"roofline:\n  bytes: 1\n  ", "fl", "flops"},
		{"files:\n  - {name: task.h, ", "so", "source"},
		{"files:\n  - name: task.h\n    ", "so", "source"},
		{"files:\n  - ", "na", "name"},
		{"lang: ", "c", "cpp,cu"},
		{"config:\n  ", "mai", "main"},
		{"benchmarks:\n  - {size: 3, ", "dev", "devices"},
		{"tests:\n  - {size: ", "un", "uniform 1000..5000,uniform 1000..5000 step 8"},
	} {
		w.Eval(fmt.Sprintf(`(() => { document.querySelector(".cm-content").focus(); document.execCommand("selectAll"); document.execCommand("insertText", false, %q); })()`, "# a\n"))
		w.Eval(fmt.Sprintf(`(() => { const v = document.querySelectorAll("textarea[name=text]")[0]; v.value = %q; v.dispatchEvent(new Event("change")); })()`, c.text))
		w.Do(chromedp.KeyEvent(kb.End, chromedp.KeyModifiers(chromedp.ModifierCtrl)), chromedp.KeyEvent(c.typed))
		w.Until(fmt.Sprintf(`%s.split(",").sort().join() == %q.split(",").sort().join()`, options, c.want))
		w.Do(chromedp.KeyEvent(kb.Escape))
		w.Until(`!document.querySelector(".cm-tooltip-autocomplete")`)
	}
	w.RefusedNothing()
}

// TestTheEditorCompletesTriton checks that the editor completes names of Triton, and names in the other files of the
// task.
func TestTheEditorCompletesTriton(t *testing.T) {
	s := webtest.NewScene(t)
	w := s.Window().As(s.SignedIn("Carla", accounts.RoleCreator))
	w.Do(chromedp.EmulateViewport(1280, 900))
	w.Visit("/tasks/new/vectoradd_torch")
	w.Shows("[data-checked] [role=status]", "problem")
	w.Eval(`document.querySelector("[data-tree] [title='template_triton.py']").click()`)
	w.Until(`document.querySelector(".file-pane:not([hidden]) .cm-content[data-language=python]")`)
	options := `[...document.querySelectorAll(".cm-tooltip-autocomplete li .cm-completionLabel")].map((o) => o.textContent)`
	for typed, want := range map[string]string{"tl.lo": "tl.load", "make_match": "make_match_reference",
		"BLOCK_S": "BLOCK_SIZE"} {
		w.Eval(`(() => { document.querySelector(".file-pane:not([hidden]) .cm-content").focus(); document.execCommand("selectAll"); document.execCommand("insertText", false, "import triton.language as tl\n"); })()`)
		w.Do(chromedp.KeyEvent(typed))
		w.Until(options + `.includes("` + want + `")`)
		w.Do(chromedp.KeyEvent(kb.Escape))
	}
	w.RefusedNothing()
}
