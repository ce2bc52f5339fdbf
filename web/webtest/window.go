package webtest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"warpboard/internal/test/tier"
	"warpboard/models/accounts"
	"warpboard/models/submissions"
	"warpboard/models/work"
	"warpboard/web/browsertest"
	"warpboard/web/site"
)

// Finding is one violated rule of axe-core.
type Finding struct {
	ID    string
	Help  string
	Nodes []struct {
		Target  []any
		HTML    string
		Summary string `json:"failureSummary"`
	}
}

// LoadAxe loads axe-core: a copy of the npm package, made by the build of static/.
func (w *Window) LoadAxe() {
	w.T.Helper()
	program, err := os.ReadFile(moduleFile(w.T, "web/testdata/axe.min.js"))
	if err == nil {
		_, err = chromedp.Run(w.Ctx, chromedp.Evaluate[bool](string(program)+"; true"))
	}
	if err != nil {
		w.T.Fatal(err)
	}
}

// Axe checks the loaded page in a theme: by all rules, or by those that color and width can change.
func (w *Window) Axe(theme string, all bool) (found []Finding) {
	w.T.Helper()
	options := `{resultTypes: ["violations"], preload: false}`
	if !all {
		options = `{resultTypes: ["violations"], preload: false, runOnly: ["color-contrast", "link-in-text-block", "scrollable-region-focusable", "target-size"]}`
	}
	script := fmt.Sprintf(
		`document.documentElement.dataset.theme = %q; axe.run(document, %s).then((r) => JSON.stringify(r.violations))`,
		theme, options)
	text, err := chromedp.Run(w.Ctx, chromedp.Evaluate[string](script, chromedp.EvalAwaitPromise))
	if err == nil {
		err = json.NewDecoder(strings.NewReader(text)).Decode(&found)
	}
	if err != nil {
		w.T.Fatal(err)
	}
	return found
}

// LooksRight checks the open page by axe and against its window's width, and saves pictures of it if WARPBOARD_SHOTS
// names a folder.
func (w *Window) LooksRight(name string) {
	w.T.Helper()
	w.LoadAxe()
	w.Do(chromedp.EmulateViewport(320, 900)) // the narrowest phone
	if over := w.Eval("document.documentElement.scrollWidth - innerWidth"); over != "0" {
		w.T.Errorf("%s at 320 px: the page is %s px wider than the window", name, over)
	}
	for i, look := range []struct {
		theme string
		width int64
	}{{"light", 1280}, {"dark", 390}, {"dark", 1280}, {"light", 390}} {
		w.Do(chromedp.EmulateViewport(look.width, 900))
		if i < 2 {
			for _, f := range w.Axe(look.theme, i == 0) {
				w.T.Errorf("%s, %s at %d px: %s (%s), first at %v: %s", name, look.theme, look.width, f.Help, f.ID,
					f.Nodes[0].Target, f.Nodes[0].HTML)
			}
			w.Until(`document.documentElement.scrollWidth == innerWidth`)
		}
		if dir := os.Getenv("WARPBOARD_SHOTS"); dir != "" {
			w.Eval(fmt.Sprintf("document.documentElement.dataset.theme = %q", look.theme))
			picture, err := chromedp.Run(w.Ctx, chromedp.FullScreenshot(100))
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%d-%s.png", name, look.width, look.theme)),
					picture, 0o644)
			}
			if err != nil {
				w.T.Fatal(err)
			}
		}
	}
	w.Do(chromedp.EmulateViewport(1280, 900))
}

// Window is a page in a real Chromium, which records everything that the content security policy refuses.
type Window struct{ *browsertest.Window }

// Window opens a browser's window on the site.
func (s *Scene) Window() *Window {
	s.T.Helper()
	tier.Needs(s.T, tier.Browser)
	return &Window{chromium.Open(s.T, s.URL)}
}

// As gives the window the session of a signed-in browser.
func (w *Window) As(b *Browser) *Window {
	w.T.Helper()
	_, err := chromedp.Call(w.Ctx, network.SetCookie,
		network.SetCookieParams{Name: site.SessionCookie, Value: b.Cookie(site.SessionCookie), URL: w.URL})
	if err != nil {
		w.T.Fatal(err)
	}
	return w
}

// Visit loads a page and starts recording refusals by its policy.
func (w *Window) Visit(path string) {
	w.T.Helper()
	w.Open(path)
	w.Eval(`addEventListener("securitypolicyviolation", (e) => (window.refused ??= []).push(e.violatedDirective + " " + e.blockedURI))`)
}

// RefusedNothing fails if the page's policy refused something.
func (w *Window) RefusedNothing() {
	w.T.Helper()
	refused, err := chromedp.Run(w.Ctx, chromedp.Evaluate[[]string]("window.refused ?? []"))
	if err != nil || len(refused) > 0 {
		w.T.Errorf("the policy refused %v (%v)", refused, err)
	}
}

// BrowserOf returns a browser in which this person is signed in.
func (s *Scene) BrowserOf(user accounts.User) *Browser {
	s.T.Helper()
	secret, _, err := s.Cfg.Store.Accounts.StartSession(context.Background(),
		accounts.NewSession{UserID: user.ID, Provider: "test", Lifetime: time.Hour})
	if err != nil {
		s.T.Fatal(err)
	}
	b := s.Browser()
	b.SetCookie(site.SessionCookie, secret)
	return b
}

// Types replaces the text in the editor.
func (w *Window) Types(text string) {
	w.T.Helper()
	w.Eval(fmt.Sprintf(`(() => {
		document.querySelector(".cm-content").focus();
		document.execCommand("selectAll");
		document.execCommand("insertText", false, %q);
	})()`, text))
	w.Until(fmt.Sprintf(`document.querySelector("#source").value == %q`, text))
}

// Bench opens the workbench of the scene's task, with its editor loaded.
func (w *Window) Bench(s *Scene, query string) {
	w.T.Helper()
	w.Visit("/tasks/" + s.Task.Slug + "/solve" + query)
	w.Until(`document.querySelector(".cm-content")`)
}

// Newest returns the last submission of a person to the scene's task.
func (s *Scene) Newest(user accounts.User) work.Run {
	s.T.Helper()
	list, err := s.Cfg.Store.Submissions.Submissions(s.T.Context(), user,
		submissions.SubmissionFilter{UserID: user.ID, TaskID: s.Task.ID, Limit: 1})
	if err != nil || len(list) != 1 {
		s.T.Fatalf("%d submissions, %v", len(list), err)
	}
	runs, err := s.Cfg.Store.Work.Runs(s.T.Context(), list[0].ID)
	if err != nil {
		s.T.Fatal(err)
	}
	return runs[0]
}
