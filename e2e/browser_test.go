package e2e

import (
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"warpboard/web/browsertest"
)

// window is a page of a real Chromium that records its console.
type window struct {
	*browsertest.Window
	site *site

	mu       sync.Mutex
	problems []string // console errors, and violations of the content security policy
}

// window opens a browser window with separate cookies, which closes when the test ends.
func (s *site) window(t *testing.T) *window {
	t.Helper()
	w := &window{Window: chromium.Open(t, s.url), site: s}
	go w.listen(chromedp.Console(w.Ctx))
	return w
}

// listen records the console until the window closes.
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

// clean fails the test if the console has errors or violations of the content security policy.
func (w *window) clean() {
	w.T.Helper()
	w.Eval("0") // when this returns, earlier console messages have arrived
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, problem := range w.problems {
		w.T.Errorf("console: %s", problem)
	}
}

// looks has the width and theme of each variant of a page: desktop and phone, light and dark.
var looks = []struct {
	width int64
	theme string
}{{1280, "light"}, {1280, "dark"}, {390, "light"}, {390, "dark"}}

// shoot checks that the page is not wider than the window, on a desktop and on a phone. If WARPBOARD_SHOTS names a
// folder, it saves pictures of all looks there.
func (w *window) shoot(name string) {
	w.T.Helper()
	dir := os.Getenv("WARPBOARD_SHOTS")
	for _, look := range looks {
		if dir == "" && look.theme == "dark" {
			continue // without pictures, one theme suffices: the layout does not depend on it
		}
		w.look(look.width, look.theme)
		if over := w.Eval("document.documentElement.scrollWidth - innerWidth"); over != "0" {
			w.T.Errorf("%s at %d px: the page is %s px wider than the window", name, look.width, over)
		}
		if dir != "" {
			w.picture(filepath.Join(dir, fmt.Sprintf("%s-%d-%s.png", name, look.width, look.theme)))
		}
	}
	w.look(looks[0].width, looks[0].theme)
}

func (w *window) picture(path string) {
	w.T.Helper()
	picture, err := chromedp.Run(w.Ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.WriteFile(path, picture, 0o644)
	}
	if err != nil {
		w.T.Fatal(err)
	}
}

func (w *window) look(width int64, theme string) {
	w.T.Helper()
	features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}
	_, err := chromedp.Call(w.Ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features})
	if err != nil {
		w.T.Fatal(err)
	}
	w.Do(chromedp.EmulateViewport(width, 900))
}
