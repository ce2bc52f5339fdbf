package browsertest

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"warpboard/internal/test/tier"
)

// Browser is a headless Chromium that starts when its first window is opened. The zero value is ready to use.
type Browser struct {
	once   sync.Once
	ctx    context.Context
	cancel func()
	err    error
}

func (b *Browser) start() {
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.NoSandbox, // Chromium's sandbox does not work as root
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-domain-reliability", true),
		chromedp.Flag("no-pings", true),
		// The browser may resolve only the host of the tested site.
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"),
	)
	// chromium-headless-shell uses a quarter of the CPU time of the whole browser, because it draws no windows.
	if shell, err := exec.LookPath("chromium-headless-shell"); err == nil {
		options = append(options, chromedp.ExecPath(shell))
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, quit := chromedp.NewContext(allocator)
	b.ctx, b.cancel = ctx, func() { quit(); stop() }
	b.err = chromedp.Do(ctx) // the first call starts the browser, which a deadline would later end
}

// Close ends the browser, if one was started.
func (b *Browser) Close() {
	b.once.Do(func() {})
	if b.cancel != nil {
		b.cancel()
	}
}

// Window is a browser window for one test. It shares no cookies with other windows.
type Window struct {
	T   testing.TB
	Ctx context.Context // context of the window's actions
	URL string          // base URL of the pages
}

// Open opens an empty window until the test ends. Windows do not cover each other: Chromium would not draw a covered
// window, and htmx would receive no events.
func (b *Browser) Open(t testing.TB, url string) *Window {
	t.Helper()
	b.once.Do(b.start)
	if b.err != nil {
		t.Fatalf("starting Chromium: %v", b.err)
	}
	ctx, closeWindow := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(closeWindow)
	if err := chromedp.Do(ctx); err != nil { // the first call makes the window, which a deadline would later close
		t.Fatal(err)
	}
	w := &Window{T: t, Ctx: ctx, URL: url}
	if seen := w.Eval("document.visibilityState"); seen != "visible" {
		t.Fatalf("the window is %s", seen)
	}
	return w
}

// Do runs browser actions, such as clicks, and fails the test on an error.
func (w *Window) Do(steps ...chromedp.Action[chromedp.Void]) {
	w.T.Helper()
	ctx, cancel := context.WithTimeout(w.Ctx, tier.Patience())
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		w.T.Fatalf("%v\n%s", err, w.Main())
	}
}

// Open loads a page.
func (w *Window) Open(path string) {
	w.T.Helper()
	w.Do(chromedp.Navigate(w.URL + path))
}

// Click clicks the first visible element that matches, as a mouse does.
func (w *Window) Click(selector string) {
	w.T.Helper()
	w.Do(chromedp.WaitVisible(selector), chromedp.Click(selector))
}

// Eval runs an expression in the page and returns its text.
func (w *Window) Eval(expression string) string {
	w.T.Helper()
	text, err := chromedp.Run(w.Ctx, chromedp.Evaluate[string]("String("+expression+")"))
	if err != nil {
		w.T.Fatalf("%s: %v", expression, err)
	}
	return text
}

// Until waits until a JavaScript expression is true in the page, or in the next page if the browser leaves it.
func (w *Window) Until(condition string) {
	w.T.Helper()
	ctx, cancel := context.WithTimeout(w.Ctx, tier.Patience())
	defer cancel()
	var err error
	for ctx.Err() == nil {
		if _, err = chromedp.Run(ctx, chromedp.Poll[bool]("Boolean("+condition+")",
			chromedp.WithPollingInterval(20*time.Millisecond))); err == nil {
			return
		} // otherwise the browser has left the page: poll the next one
	}
	w.T.Fatalf("the page never had %s: %v\n%s", condition, err, w.Main())
}

// Shows waits until the first element that matches contains a text. Non-breaking spaces count as spaces.
func (w *Window) Shows(selector, text string) {
	w.T.Helper()
	w.Until(fmt.Sprintf("document.querySelector(%q)?.textContent.replaceAll('\u00a0', ' ').includes(%q)", selector,
		text))
}

// Main returns the address of the page and the text of its main element, for messages of failed tests.
func (w *Window) Main() string {
	text, err := chromedp.Run(w.Ctx,
		chromedp.Evaluate[string](`location.href + "\n" + document.querySelector("main")?.innerText`))
	if err != nil {
		return err.Error()
	}
	return text
}
