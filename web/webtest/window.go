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

// Finding is one violation of a rule of axe-core, the accessibility checker.
type Finding struct {
	ID    string
	Help  string
	Nodes []struct {
		Target  []any
		HTML    string
		Summary string `json:"failureSummary"`
	}
}

// LoadAxe loads axe-core, which the build of static/ copies from the npm package.
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

// Axe checks the loaded page in a theme with axe-core: by all rules, or only by those that depend on colors and width.
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

// LooksRight checks the open page with axe-core, and that it is not wider than the window. If WARPBOARD_SHOTS names a
// folder, it saves screenshots there.
func (w *Window) LooksRight(name string) {
	w.T.Helper()
	w.LoadAxe()
	w.Do(chromedp.EmulateViewport(320, 900)) // width of the narrowest supported phone
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

// Window is a page in a real Chromium. It records what the content security policy blocks.
type Window struct{ *browsertest.Window }

// Window opens a Chromium window for the site.
func (s *Scene) Window() *Window {
	s.T.Helper()
	tier.Needs(s.T, tier.Browser)
	return &Window{chromium.Open(s.T, s.URL)}
}

// As copies the session cookie of a signed-in browser to the window.
func (w *Window) As(b *Browser) *Window {
	w.T.Helper()
	_, err := chromedp.Call(w.Ctx, network.SetCookie,
		network.SetCookieParams{Name: site.SessionCookie, Value: b.Cookie(site.SessionCookie), URL: w.URL})
	if err != nil {
		w.T.Fatal(err)
	}
	return w
}

// Visit loads a page and starts to record violations of its content security policy.
func (w *Window) Visit(path string) {
	w.T.Helper()
	w.Open(path)
	w.Eval(`addEventListener("securitypolicyviolation", (e) => (window.refused ??= []).push(e.violatedDirective + " " + e.blockedURI))`)
}

// RefusedNothing fails the test if the page's content security policy blocked something.
func (w *Window) RefusedNothing() {
	w.T.Helper()
	refused, err := chromedp.Run(w.Ctx, chromedp.Evaluate[[]string]("window.refused ?? []"))
	if err != nil || len(refused) > 0 {
		w.T.Errorf("the policy refused %v (%v)", refused, err)
	}
}

// BrowserOf returns a browser that is signed in as a person.
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

// Types replaces the text in the code editor.
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
