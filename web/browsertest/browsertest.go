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

// Browser starts with its first window. The zero value is ready.
type Browser struct {
	once   sync.Once
	ctx    context.Context
	cancel func()
	err    error
}

func (b *Browser) start() {
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.NoSandbox, // its own sandbox refuses root
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-domain-reliability", true),
		chromedp.Flag("no-pings", true),
		// Only the site can be resolved, whatever else the browser requests.
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"),
	)
	// The headless shell needs a quarter of the processor time that the whole browser does, which draws windows no one
	// sees.
	if shell, err := exec.LookPath("chromium-headless-shell"); err == nil {
		options = append(options, chromedp.ExecPath(shell))
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, quit := chromedp.NewContext(allocator)
	b.ctx, b.cancel = ctx, func() { quit(); stop() }
	b.err = chromedp.Do(ctx) // it starts the browser, so it must have no deadline
}

// Close ends the browser, if one was started.
func (b *Browser) Close() {
	b.once.Do(func() {})
	if b.cancel != nil {
		b.cancel()
	}
}

// Window is a page that no one else has.
type Window struct {
	T   testing.TB
	Ctx context.Context // of its actions
	URL string          // the prefix of paths
}

// Open shows an empty window until the test ends. It is never behind another one, where Chromium would draw nothing
// and htmx listen to nothing.
func (b *Browser) Open(t testing.TB, url string) *Window {
	t.Helper()
	b.once.Do(b.start)
	if b.err != nil {
		t.Fatalf("starting Chromium: %v", b.err)
	}
	ctx, closeWindow := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(closeWindow)
	if err := chromedp.Do(ctx); err != nil { // it makes the window, so it must have no deadline
		t.Fatal(err)
	}
	w := &Window{T: t, Ctx: ctx, URL: url}
	if seen := w.Eval("document.visibilityState"); seen != "visible" {
		t.Fatalf("the window is %s", seen)
	}
	return w
}

// Do does what a person would.
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

// Until waits for an expression to be true in the page, or in the page that follows.
func (w *Window) Until(condition string) {
	w.T.Helper()
	ctx, cancel := context.WithTimeout(w.Ctx, tier.Patience())
	defer cancel()
	var err error
	for ctx.Err() == nil {
		if _, err = chromedp.Run(ctx, chromedp.Poll[bool]("Boolean("+condition+")",
			chromedp.WithPollingInterval(20*time.Millisecond))); err == nil {
			return
		} // else the page has gone while it was asked: ask the next
	}
	w.T.Fatalf("the page never had %s: %v\n%s", condition, err, w.Main())
}

// Shows waits for a text in the first element that matches; spaces that do not break are spaces.
func (w *Window) Shows(selector, text string) {
	w.T.Helper()
	w.Until(fmt.Sprintf("document.querySelector(%q)?.textContent.replaceAll('\u00a0', ' ').includes(%q)", selector,
		text))
}

// Main is the page's address and what it says, for a failure's message.
func (w *Window) Main() string {
	text, err := chromedp.Run(w.Ctx,
		chromedp.Evaluate[string](`location.href + "\n" + document.querySelector("main")?.innerText`))
	if err != nil {
		return err.Error()
	}
	return text
}
