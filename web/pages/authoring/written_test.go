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
	"warpboard/web/site"
	"warpboard/web/webtest"
)

type writtenRemark struct {
	File, Text string
	Line       int
	Note       bool
}

// checks sends the files of a task for a check, as the editor does while the author types, and returns the remarks.
func checks(b *webtest.Browser, t *testing.T, form url.Values) (list []writtenRemark) {
	t.Helper()
	resp := b.Upload("/tasks/check", "", "", nil, form)
	webtest.WantStatus(t, resp, http.StatusOK)
	var answer struct{ Remarks []writtenRemark }
	webtest.DecodeBody(t, resp, &answer)
	return answer.Remarks
}

// TestTheEditorShowsWhatTryItWouldRefuse checks that the errors of "Try it" appear in the editor with file and line,
// and that the check creates and runs nothing.
func TestTheEditorShowsWhatTryItWouldRefuse(t *testing.T) {
	s := webtest.NewScene(t)
	text := func(form url.Values, file string) *string { return &form["text"][slices.Index(form["path"], file)] }
	replace := func(file, old, with string) func(url.Values) {
		return func(form url.Values) {
			if at := text(form, file); strings.Contains(*at, old) {
				*at = strings.Replace(*at, old, with, 1)
			} else {
				t.Errorf("%s has no %q", file, old)
			}
		}
	}
	for i, test := range []struct {
		name   string
		change func(url.Values)
		want   writtenRemark
	}{
		{"a mistyped key", replace("task.yml", "\nfiles:", "\nfilez: []\nfiles:"),
			writtenRemark{File: "task.yml", Text: `did you mean "files"`}},
		{"no YAML", replace("task.yml", "\nfiles:", "\ntags: [a\nfiles:"),
			writtenRemark{File: "task.yml", Line: 21, Text: "not valid YAML (a bracket or quote is not closed)"}},
		{"a file that is not there", replace("task.yml", "source: reference.h", "source: referenc.h"),
			writtenRemark{File: "task.yml", Text: `there is no file "referenc.h"`}},
		{"a file that the language needs", replace("task.yml", "lang: cpp", "lang: cu"),
			writtenRemark{File: "task.yml", Text: "reference.cuh"}},
		{"no device", func(f url.Values) { pythonTask(f) },
			writtenRemark{File: "task.yml", Text: "gpus: names no device"}},
		{"a reference without its checker", replace("reference.h", "check_implementation", "check"),
			writtenRemark{File: "reference.h", Text: "has no check_implementation", Note: true}},
		{"a device that no worker has had", replace("task.yml", "gpus: [CPU]", "gpus: [CPUX]"),
			writtenRemark{File: "task.yml", Line: 3,
				Text: "No worker of this site has had a device named CPUX. Did you mean CPU?", Note: true}},
		{"a mistyped argument", replace("task.yml", "{size: 127, seed:", "{size: 127, sed:"),
			writtenRemark{File: "task.yml", Line: 34, Text: "Did you mean seed instead of sed?", Note: true}},
		{"a path that leads out", func(f url.Values) { f.Add("path", "../x"); f.Add("text", "x") },
			writtenRemark{Text: `"../x" is not a path`}},
		{"a file twice", func(f url.Values) { f.Add("path", "task.h"); f.Add("text", "x") },
			writtenRemark{File: "task.h", Text: "twice"}},
		{"an address with another meaning", func(f url.Values) { f.Set("title", "Check") },
			writtenRemark{Text: "cannot have this address"}},
		{"an address that is taken", func(f url.Values) { f.Set("slug", s.Task.Slug) }, writtenRemark{Text: "already"}},
		{"no title yet", func(f url.Values) { f.Set("title", "") }, writtenRemark{}},
		{"a task that is there, without an address", func(f url.Values) { f.Del("slug") }, writtenRemark{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			creator := s.SignedIn(fmt.Sprint("Carla ", i), accounts.RoleCreator)
			form := webtest.Fields(creator.Page("/tasks/new/vectoradd_cpp", http.StatusOK).Find("main form"))
			form.Set("title", "Sums")
			test.change(form)
			got := checks(creator, t, form)
			if test.want.Text == "" {
				if len(got) > 0 {
					t.Errorf("remarks %v", got)
				}
				return
			}
			if !slices.ContainsFunc(got, func(r writtenRemark) bool {
				return r.File == test.want.File && strings.Contains(r.Text, test.want.Text) &&
					r.Note == test.want.Note && (test.want.Line == 0 || test.want.Line == r.Line)
			}) {
				t.Errorf("remarks %v, want %v", got, test.want)
			}
		})
	}
}

// TestChecksOfAWrittenTaskAreForCreatorsAndFew checks that only creators can check files, at a limited rate, and that
// the site refuses a large body without reading it.
func TestChecksOfAWrittenTaskAreForCreatorsAndFew(t *testing.T) {
	s := webtest.NewScene(t)
	webtest.WantStatus(t, s.BrowserOf(s.Ada).Upload("/tasks/check", "", "", nil, url.Values{}), http.StatusForbidden)
	webtest.WantStatus(t, s.Browser().Upload("/tasks/check", "", "", nil, url.Values{}), http.StatusUnauthorized)
	creator := s.SignedIn("Carla", accounts.RoleCreator)
	form := webtest.Fields(creator.Page("/tasks/new/vectoradd_cpp", http.StatusOK).Find("main form"))
	asked := 0
	var refused *http.Response
	for ; asked < 50 && refused == nil; asked++ {
		if resp := creator.Upload("/tasks/check", "", "", nil, form); resp.StatusCode != http.StatusOK {
			refused = resp
		}
	}
	if asked < 10 || refused == nil {
		t.Fatalf("%d checks pass at once", asked)
	}
	webtest.WantStatus(t, refused, http.StatusTooManyRequests)
	if refused.Header.Get("Retry-After") == "" {
		t.Error("no one says when to ask again")
	}
	other := s.SignedIn("Ben", accounts.RoleCreator)
	webtest.WantStatus(t, other.Upload("/tasks/check", "", "", nil, form), http.StatusOK)
	head := fmt.Sprintf(
		"POST /tasks/check HTTP/1.1\r\nHost: a\r\nAccept: application/json\r\nCookie: %s=%s\r\nContent-Length: %d\r\n\r\n",
		// sends only the headers, because the site closes the connection without reading the body
		site.SessionCookie, other.Cookie(site.SessionCookie), site.MaxKernelBodyBytes+1)
	if answer := s.Raw(t, head); !strings.HasPrefix(answer, "HTTP/1.1 413 ") {
		t.Errorf("a large body is answered %.200q", answer)
	}
}

const chosenFile = `document.querySelector("[data-tree] [aria-current]")`

// TestFilesOfATaskAreATreeThatSaysWhatIsWrong checks that the tree of files works by keyboard and marks files with
// errors, that lines with errors are marked, and that all marks vanish after a correction.
func TestFilesOfATaskAreATreeThatSaysWhatIsWrong(t *testing.T) {
	s := webtest.NewScene(t)
	w := s.Window().As(s.SignedIn("Carla", accounts.RoleCreator))
	w.Do(chromedp.EmulateViewport(1280, 900))
	w.Visit("/tasks/new/vectoradd_cpp")
	w.Shows("[data-checked] [role=status]", "No problems")
	w.Until(chosenFile +
		`.textContent == "task.yml" && document.querySelectorAll(".file-pane:not([hidden])").length == 1`)
	w.Until(`document.querySelectorAll("[data-tree] summary").length == 3`) // folders solutions, correct, and wrong
	w.Do(chromedp.EmulateViewport(1280, 700))                               // too low for all lines
	w.Until(`document.documentElement.scrollHeight <= innerHeight && [".author-bar", "[data-checked]"].every((part) => document.querySelector(part).getBoundingClientRect().bottom <= innerHeight)`)
	w.Do(chromedp.EmulateViewport(390, 900))
	w.Until(`document.documentElement.scrollHeight > innerHeight && Math.abs(document.querySelector(".author-bar").getBoundingClientRect().bottom - innerHeight) < 1`)
	// On a phone the tree shows all files without scrolling.
	w.Until(`document.querySelector("[data-tree]").scrollHeight == document.querySelector("[data-tree]").clientHeight`)
	w.Do(chromedp.EmulateViewport(1280, 900))
	w.Eval(chosenFile + `.focus()`)
	w.Do(chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.Enter))
	w.Until(chosenFile + ` == document.activeElement && ` + chosenFile + `.textContent == "task.h"`)
	w.Do(chromedp.KeyEvent(kb.ArrowUp), chromedp.KeyEvent(kb.Enter))
	w.Until(chosenFile + `.textContent == "task.yml"`)

	w.Until(`document.querySelector(".file-pane:not([hidden]) .cm-content")`)
	w.Eval(`(() => { document.querySelector(".file-pane:not([hidden]) .cm-content").focus(); document.execCommand("insertText", false, "# first\nfilez: []\n"); })()`)
	w.Shows(`[data-tree] [aria-current] .tab-count`, "1")
	w.Shows("[data-checked] [role=status]", "1 problem")
	w.Shows("[data-checked] li", "task.yml, line 2")
	w.Until(`document.querySelector(".cm-lintRange-error").textContent == "filez: []"`)
	w.LooksRight("authoring-problem")
	w.Eval(`document.querySelectorAll("[data-tree] li > button")[1].click()`)
	w.Until(chosenFile + `.textContent == "task.h"`)
	w.Eval(`document.querySelector("[data-checked] li button").click()`)
	w.Until(`document.activeElement.closest(".file-pane:not([hidden])") && ` + chosenFile +
		`.textContent.startsWith("task.yml")`)

	w.Eval(`document.querySelector("[data-add-file]").click()`)
	w.Until(`document.activeElement.name == "path"`)
	w.Do(chromedp.KeyEvent("solutions/wrong/mine.cpp"))
	w.Until(chosenFile + `.textContent == "mine.cpp" && ` + chosenFile +
		`.closest("details").querySelector("summary").textContent == "wrong"`)
	w.Eval(`document.querySelector(".file-pane:not([hidden]) [data-delete-file]").click()`)
	w.Until(`!document.querySelector("[data-tree] [title='solutions/wrong/mine.cpp']")`)
	w.Eval(`[...document.querySelectorAll("[data-tree] > button")].at(-1).click()`) // restores the deleted file
	w.Until(chosenFile + `.textContent == "mine.cpp"`)
	w.Eval(`(() => { const a = document.querySelectorAll("textarea[name=text]")[0]; a.value = a.value.replace("filez: []\n", ""); a.dispatchEvent(new Event("change")); a.dispatchEvent(new Event("input", { bubbles: true })); })()`)
	w.Shows("[data-checked] [role=status]", "No problems")
	w.Until(`!document.querySelector(".tab-count")`)
	w.RefusedNothing()
}

// pythonTask replaces the files in the form by those of a Python task without a list of GPUs.
func pythonTask(f url.Values) {
	f["path"] = []string{"task.yml", "reference.py"}
	f["text"] = []string{"lang: py\ndescription: x\nfiles:\n  - {name: submission.py, source: \"@SUBMISSION@\"}\n  - {name: reference.py, source: reference.py}\n" +
		"tests: [{size: 1}]\nbenchmarks: [{size: 2}]\n",
		"def generate_input(size):\n    return size\n\n\ndef check_implementation(data, output):\n    return ''\n"}
}

// TestAnEndedSessionIsNoProblemOfTheFiles checks that the editor reports an ended session as such, and works again
// after a sign-in in another tab.
func TestAnEndedSessionIsNoProblemOfTheFiles(t *testing.T) {
	s := webtest.NewScene(t)
	carla := s.SignedIn("Carla", accounts.RoleCreator)
	w := s.Window().As(carla)
	w.Do(chromedp.EmulateViewport(1280, 900))
	w.Visit("/tasks/new/vectoradd_cpp")
	w.Shows("[data-checked] [role=status]", "No problems")
	w.Until(`document.querySelector(".file-pane:not([hidden]) .cm-lineWrapping")`)
	types := `document.querySelector("#slug").dispatchEvent(new Event("input", { bubbles: true }))`
	w.As(s.Browser()) // removes the session cookie
	w.Eval(types)
	w.Shows("[data-checked] [role=status]",
		"The check could not run (error 403). Sign in again in another tab; your text is kept.")
	w.LooksRight("authoring-signed-out")
	w.Eval(`document.getElementById("tab-preview").click()`)
	w.Shows("[data-previewed] [role=status]",
		"The preview could not run (error 403). Sign in again in another tab; your text is kept.")
	w.Until(`!document.querySelector("[data-previewed] iframe").checkVisibility()`)
	w.LooksRight("authoring-preview-signed-out")

	w.As(s.SignedIn("Carla again", accounts.RoleCreator))
	w.Eval(`dispatchEvent(new Event("focus"))`)
	w.Until(`document.querySelector("[data-checked] [role=status]").textContent == "No problems in these files."`)
	w.Until(`document.querySelector("[data-previewed] iframe").checkVisibility() && document.querySelector("[data-previewed] [role=status]").hidden`)

	for answer, says := range map[string]string{
		`new Response("", { status: 502 })`: "The check could not run (error 502). The site has a problem.",
		`Promise.reject(new TypeError())`:   "The check could not run: the site does not answer.",
	} {
		w.Eval(`window.fetch = async () => ` + answer)
		w.Eval(types)
		w.Until(fmt.Sprintf(`document.querySelector("[data-checked] [role=status]").textContent.startsWith(%q)`, says))
		w.Until(fmt.Sprintf(`document.querySelector("[data-previewed] [role=status]").textContent.startsWith(%q)`,
			strings.Replace(says, "check", "preview", 1)))
	}
	w.Eval(`window.fetch = async () => new Response("", { status: 429, headers: { "Retry-After": "60" } })`)
	w.Eval(`document.getElementById("tab-preview").click()`)
	w.Shows("[data-previewed] [role=status]", "The preview has to wait: too many in a row. It runs again in 60 s.")
	w.RefusedNothing()
}
