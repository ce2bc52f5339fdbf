package web

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
)

// shotPages are nine of the ten main pages, by the names of their pictures; the tenth is a comparison.
func (s *profiledScene) shotPages() map[string]string {
	return map[string]string{
		"home": "/", "task": "/tasks/" + s.task.Slug, "board": "/tasks/" + s.task.Slug + "/boards/H200", "workbench": "/tasks/" + s.task.Slug + "/solve",
		"run": submissionPath(s.second), "profile": profilePath(s.second), "person": fmt.Sprintf("/users/%d", s.ada.ID),
		"devices": "/devices", "playground": "/playground",
	}
}

// TestScreenshots makes the pictures of docs/pages.md: scripts/screenshots runs it. WARPBOARD_SCREENSHOTS is the folder;
// WARPBOARD_SCREENSHOTS_OF names other addresses (or shotNames), separated by spaces, each then in both themes and at both widths.
func TestScreenshots(t *testing.T) {
	dir := os.Getenv("WARPBOARD_SCREENSHOTS")
	if dir == "" {
		t.Skip("scripts/screenshots makes the pictures of the documentation")
	}
	s := newProfiledScene(t)
	w := s.window().as(s.browserOf(s.admin))
	if of := os.Getenv("WARPBOARD_SCREENSHOTS_OF"); of != "" {
		w.shootEach(strings.Fields(s.shotNames().Replace(of)), dir)
		return
	}
	for name, path := range s.shotPages() {
		theme := "light"
		if name == "workbench" || name == "profile" {
			theme = "dark"
		}
		w.shoot(path, theme, 1280, filepath.Join(dir, name+".webp"))
	}
	w.shoot(newComparedScene(s).path(), "dark", 1280, filepath.Join(dir, "compare.webp")) // last: its runs have newer software, and lead
}

// shotNames stand for addresses that a scene alone knows: COMPARE, PROFILE, PINNED, WEBHOOK, REVIEWED.
func (s *profiledScene) shotNames() *strings.Replacer {
	compared := newComparedScene(s)
	s.operated()
	return strings.NewReplacer("WEBHOOK", s.webhook(), "REVIEWED", fmt.Sprintf("/runs/%d/moderation", s.second.ID), "COMPARE", compared.path(), "PROFILE", profilePath(s.first), "PINNED", fmt.Sprintf("%s?pin=%d", profilePath(compared.slow), compared.fast.ID))
}

// shootEach shows pages as people see them while they change one: in both themes, wide and narrow.
func (w *window) shootEach(paths []string, dir string) {
	w.T.Helper()
	for i, path := range paths {
		for _, theme := range []string{"light", "dark"} {
			for _, width := range []int64{1280, 390} {
				w.shoot(path, theme, width, filepath.Join(dir, fmt.Sprintf("%d-%s-%d.png", i, theme, width)))
			}
		}
	}
}

// shoot writes a picture of what a screen shows of a page.
func (w *window) shoot(path, theme string, width int64, file string) {
	w.T.Helper()
	height := int64(800)
	if os.Getenv("WARPBOARD_SCREENSHOTS_OF") != "" {
		height = 1800
	}
	w.Do(chromedp.EmulateViewport(width, height))
	w.open(path)
	if strings.HasSuffix(path, "/solve") || path == "/playground" {
		w.Until(`document.querySelector(".cm-content")`)
	}
	w.Eval(fmt.Sprintf("document.documentElement.dataset.theme = %q", theme))
	format, quality := page.CaptureScreenshotFormatWebp, int64(60)
	if filepath.Ext(file) == ".png" {
		format = page.CaptureScreenshotFormatPng
	}
	data, err := chromedp.Run(w.Ctx, func(ctx context.Context, t *chromedp.Target) ([]byte, error) {
		r, err := cdp.Call(ctx, t, page.CaptureScreenshot, page.CaptureScreenshotParams{Format: format, Quality: &quality})
		return r.Data, err
	})
	if err == nil {
		err = os.WriteFile(file, data, 0o644)
	}
	if err != nil {
		w.T.Fatal(err)
	}
}
