package e2e

import (
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// window is the only page of a real headless Chromium, which somebody has to themselves: it shares
// no cookies, and is never behind another page, where Chromium would draw nothing and htmx listen to nothing.
type window struct {
	t    *testing.T
	ctx  context.Context
	site *site

	mu       sync.Mutex
	problems []string // what the console showed: errors, and what the page's policy refused
}

// window starts a browser for one more person; it ends with the test.
func (s *site) window(t *testing.T) *window {
	t.Helper()
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.NoSandbox, // its own sandbox refuses root
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-domain-reliability", true),
		chromedp.Flag("no-pings", true),
		// Nothing but the site is to be found, whatever else it wants to ask.
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"),
	)
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	ctx, quit := chromedp.NewContext(allocator)
	t.Cleanup(quit)
	if err := chromedp.Do(ctx); err != nil { // it starts the browser, so it must have no deadline
		t.Fatal(err)
	}
	w := &window{t: t, ctx: ctx, site: s}
	go w.listen(chromedp.Console(ctx))
	return w
}

// listen notes what the console shows until the window closes.
func (w *window) listen(console iter.Seq2[chromedp.ConsoleMessage, error]) {
	for m, err := range console {
		if err != nil {
			return
		}
		if m.IsException() || m.Type == "error" || m.Type == "warning" {
			w.note(m.String())
		}
	}
}

func (w *window) note(problem string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.problems = append(w.problems, problem)
}

// clean fails the test when the console showed errors or refusals.
func (w *window) clean() {
	w.t.Helper()
	w.eval("0") // what was said before this is here now
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, problem := range w.problems {
		w.t.Errorf("console: %s", problem)
	}
}

func (w *window) do(steps ...chromedp.Action[chromedp.Void]) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		w.t.Fatalf("%v\n%s", err, w.main())
	}
}

func (w *window) open(path string) {
	w.t.Helper()
	w.do(chromedp.Navigate(w.site.url + path))
}

// click clicks the first visible element that matches, as a mouse does.
func (w *window) click(selector string) {
	w.t.Helper()
	w.do(chromedp.WaitVisible(selector), chromedp.Click(selector))
}

// eval runs an expression in the page and returns its text.
func (w *window) eval(expression string) string {
	w.t.Helper()
	text, err := chromedp.Run(w.ctx, chromedp.Evaluate[string]("String("+expression+")"))
	if err != nil {
		w.t.Fatalf("%s: %v", expression, err)
	}
	return text
}

// until waits for an expression to be true in the page, or in the one that it leads to.
func (w *window) until(condition string) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, patience)
	defer cancel()
	var err error
	for ctx.Err() == nil {
		if _, err = chromedp.Run(ctx, chromedp.Poll[bool]("Boolean("+condition+")")); err == nil {
			return
		} // else the page has gone while it was asked: ask the next
	}
	w.t.Fatalf("the page never had %s: %v\n%s", condition, err, w.main())
}

// shows waits for a text in the first element that matches; spaces that do not break are spaces.
func (w *window) shows(selector, text string) {
	w.t.Helper()
	w.until(fmt.Sprintf("document.querySelector(%q)?.textContent.replaceAll('\u00a0', ' ').includes(%q)", selector, text))
}

func (w *window) main() string {
	text, err := chromedp.Run(w.ctx, chromedp.Evaluate[string](`location.href + "\n" + document.querySelector("main")?.innerText`))
	if err != nil {
		return err.Error()
	}
	return text
}

// looks are the ways in which each page is shown: desktop and phone, light and dark.
var looks = []struct {
	width int64
	theme string
}{{1280, "light"}, {1280, "dark"}, {390, "light"}, {390, "dark"}}

// shoot keeps pictures of the page in every look, below WARPBOARD_SHOTS if that is set, and checks
// that nothing stands out to the side.
func (w *window) shoot(name string) {
	w.t.Helper()
	dir := os.Getenv("WARPBOARD_SHOTS")
	if dir == "" {
		dir = w.t.TempDir()
	}
	for _, look := range looks {
		w.look(look.width, look.theme)
		picture, err := chromedp.Run(w.ctx, chromedp.FullScreenshot(100))
		if err != nil {
			w.t.Fatal(err)
		}
		path := filepath.Join(dir, fmt.Sprintf("%s-%d-%s.png", name, look.width, look.theme))
		if err := os.WriteFile(path, picture, 0o644); err != nil {
			w.t.Fatal(err)
		}
		if over := w.eval("document.documentElement.scrollWidth - innerWidth"); over != "0" {
			w.t.Errorf("%s at %d px: the page is %s px wider than the window", name, look.width, over)
		}
	}
	w.look(looks[0].width, looks[0].theme)
}

func (w *window) look(width int64, theme string) {
	w.t.Helper()
	features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}
	_, err := chromedp.Call(w.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features})
	if err != nil {
		w.t.Fatal(err)
	}
	w.do(chromedp.EmulateViewport(width, 900))
}
