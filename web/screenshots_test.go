package web_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"warpboard/web/webtest"
)

// shotPages returns the paths of eight of the ten main pages, by the names of their screenshots. The other two show a
// comparison.
func shotPages(s *webtest.ProfiledScene) map[string]string {
	return map[string]string{
		"home": "/", "task": "/tasks/" + s.Task.Slug, "board": "/tasks/" + s.Task.Slug + "/boards/H200",
		"workbench": fmt.Sprintf("/tasks/%s/solve?run=%d", s.Task.Slug, s.Second.ID),
		"run":       webtest.SubmissionPath(s.Second), "person": fmt.Sprintf("/users/%d", s.Ada.ID),
		"devices": "/devices", "playground": "/playground",
	}
}

// TestScreenshots makes the screenshots of docs/pages.md when scripts/screenshots runs it. WARPBOARD_SCREENSHOTS is the
// output folder. If WARPBOARD_SCREENSHOTS_OF is set, it has other paths or names of shotNames, separated by spaces,
// which are shown in both themes and at both widths.
func TestScreenshots(t *testing.T) {
	dir := os.Getenv("WARPBOARD_SCREENSHOTS")
	if dir == "" {
		t.Skip("scripts/screenshots makes the pictures of the documentation")
	}
	s := webtest.NewProfiledScene(t)
	w := s.Window().As(s.BrowserOf(s.Admin))
	if of := os.Getenv("WARPBOARD_SCREENSHOTS_OF"); of != "" {
		shootEach(w, strings.Fields(shotNames(s).Replace(of)), dir)
		return
	}
	for name, path := range shotPages(s) {
		theme := "light"
		if name == "workbench" {
			theme = "dark"
		}
		shoot(w, path, theme, 1280, filepath.Join(dir, name+".webp"))
	}
	compared := webtest.NewComparedScene(s) // last, because its runs have newer software and take the 1st place
	shoot(w, compared.Path(), "dark", 1280, filepath.Join(dir, "compare.webp"))
	shoot(w, webtest.ProfilePath(compared.Slow), "dark", 1280, filepath.Join(dir, "profile.webp"))
}

// shotNames returns a replacer of names, such as COMPARE or WEBHOOK, by the paths of pages that have IDs of the scene.
func shotNames(s *webtest.ProfiledScene) *strings.Replacer {
	compared := webtest.NewComparedScene(s)
	operated(s)
	return strings.NewReplacer("WEBHOOK", s.Webhook(), "REVIEWED", fmt.Sprintf("/runs/%d/moderation", s.Second.ID),
		"COMPARE", compared.Path(), "PROFILE", webtest.ProfilePath(s.First), "PINNED",
		fmt.Sprintf("%s?pin=%d", webtest.ProfilePath(compared.Slow), compared.Fast.ID))
}

// shootEach makes four screenshots of each page: in both themes, and at the widths of a computer and a phone.
func shootEach(w *webtest.Window, paths []string, dir string) {
	w.T.Helper()
	for i, path := range paths {
		for _, theme := range []string{"light", "dark"} {
			for _, width := range []int64{1280, 390} {
				shoot(w, path, theme, width, filepath.Join(dir, fmt.Sprintf("%d-%s-%d.png", i, theme, width)))
			}
		}
	}
}

// shoot writes a screenshot of the visible part of a page to a file.
func shoot(w *webtest.Window, path, theme string, width int64, file string) {
	w.T.Helper()
	height := int64(800)
	if os.Getenv("WARPBOARD_SCREENSHOTS_OF") != "" {
		height = 1800
	}
	scale := 1.0
	if filepath.Ext(file) == ".webp" { // screenshots of the documentation, which shows them at this scale
		scale = 0.7
	}
	w.Do(chromedp.EmulateViewport(width, height, chromedp.EmulateScale(scale)))
	w.Visit(path)
	if strings.Contains(path, "/solve") || path == "/playground" {
		w.Until(`document.querySelector(".cm-content")`)
	}
	w.Eval(fmt.Sprintf("document.documentElement.dataset.theme = %q", theme))
	format, quality := page.CaptureScreenshotFormatWebp, int64(28)
	if filepath.Ext(file) == ".png" {
		format = page.CaptureScreenshotFormatPng
	}
	data, err := chromedp.Run(w.Ctx, func(ctx context.Context, t *chromedp.Target) ([]byte, error) {
		r, err := cdp.Call(ctx, t, page.CaptureScreenshot,
			page.CaptureScreenshotParams{Format: format, Quality: &quality})
		return r.Data, err
	})
	if err == nil {
		err = os.WriteFile(file, data, 0o644)
	}
	if err != nil {
		w.T.Fatal(err)
	}
}
