package submissions_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"warpboard/web/webtest"
)

// selection is an abbreviation.
type selection = goquery.Selection

func TestAnOpenPageShowsTheProfileWhenItComes(t *testing.T) {
	s := webtest.NewProfiledScene(t)
	run := s.Submit(s.Ada, "H200", webtest.GoodKernel)
	page := fmt.Sprintf("/submissions/%d", run.SubmissionID)
	card := fmt.Sprintf("#run-%d", run.ID)
	w := s.Window().As(s.BrowserOf(s.Ada))
	w.Visit(page)
	s.Finish(run, 9.5e3)
	w.Shows(card+" [data-score]", "9.500")
	w.Shows(card+" [data-profile-note]", "runs once nothing else is waiting")
	s.Profile(run, "cuda4")
	w.Until(fmt.Sprintf(`document.querySelector('%s a[href="%s"]')`, card, webtest.ProfilePath(run)))
	w.Until(fmt.Sprintf(`!document.querySelector('%s [data-profile-note]')`, card))
	w.RefusedNothing()
}

func TestProgramsDoNotSeeProfilesThatFollow(t *testing.T) {
	s := webtest.NewProfiledScene(t)
	run := s.Submit(s.Ada, "H200", webtest.GoodKernel)
	s.Finish(run, 9.5e3) // its automatic profile is queued
	resp := s.Browser().Get(fmt.Sprintf("/api/v1/submissions/%d/events", run.SubmissionID))
	text, err := io.ReadAll(resp.Body) // the stream ends with the submission's own runs, before the profile
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), `"run_id"`); n == 0 ||
		n != strings.Count(string(text), fmt.Sprintf(`"run_id":%d,`, run.ID)) {
		t.Errorf("the stream tells of other runs:\n%s", text)
	}
}

func TestPagesWithChartsFitEveryScreenAndPolicy(t *testing.T) {
	s := webtest.NewProfiledScene(t)
	w := s.Window().As(s.BrowserOf(s.Admin))
	for _, path := range []string{
		webtest.ProfilePath(s.Second), fmt.Sprintf("/compare?a=%d&b=%d", s.First.ID, s.Second.ID),
		fmt.Sprintf("/submissions/%d", s.Second.SubmissionID),
	} {
		for _, theme := range []string{"light", "dark"} {
			media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme",
				Value: theme}}}
			if _, err := chromedp.Call(w.Ctx, emulation.SetEmulatedMedia, media); err != nil {
				t.Fatal(err)
			}
			for _, width := range []int64{1280, 390} {
				w.Do(chromedp.EmulateViewport(width, 900))
				w.Visit(path)
				wide, err := chromedp.Run(w.Ctx,
					chromedp.Evaluate[int](`document.documentElement.scrollWidth - innerWidth`))
				if err != nil || wide > 0 {
					t.Errorf("%s at %d px, %s: %d px too wide (%v)", path, width, theme, wide, err)
				}
				// The page marks added lines with color; browsers underline ins elements by default.
				w.Until(`[...document.querySelectorAll(".pf-diff ins")].every((line) => getComputedStyle(line).textDecorationLine == "none")`)
				w.RefusedNothing()
			}
		}
	}
}

// maxCold limits the compressed bytes that a browser with an empty cache loads for a page with charts.
const maxCold = 150 << 10

func TestPagesWithChartsAreSmall(t *testing.T) {
	s := webtest.NewProfiledScene(t)
	b := s.BrowserOf(s.Admin)
	for _, path := range []string{
		webtest.ProfilePath(s.Second), webtest.ProfilePath(s.First),
		fmt.Sprintf("/compare?a=%d&b=%d", s.First.ID, s.Second.ID),
		fmt.Sprintf("/submissions/%d", s.Second.SubmissionID),
	} {
		size, html := transfer(b, path)
		doc, err := goquery.NewDocumentFromReader(strings.NewReader(html))
		if err != nil {
			t.Fatal(err)
		}
		doc.Find("link[rel=stylesheet], link[rel=preload], link[rel=icon], script[src]").Each(func(_ int,
			e *selection) {
			n, _ := transfer(b, e.AttrOr("href", e.AttrOr("src", "")))
			size += n
		})
		t.Logf("%s: %d bytes", path, size)
		if size > maxCold {
			t.Errorf("%s takes %d bytes cold, want at most %d", path, size, maxCold)
		}
	}
}

// transfer returns the size of a response's compressed body, in bytes, and its uncompressed text.
func transfer(b *webtest.Browser, path string) (int, string) {
	b.Site.T.Helper()
	resp := b.Get(path, "Accept-Encoding", "gzip")
	raw, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		b.Site.T.Fatalf("%s: %s, %v", path, resp.Status, err)
	}
	if resp.Header.Get("Content-Encoding") != "gzip" {
		return len(raw), string(raw)
	}
	z, err := gzip.NewReader(strings.NewReader(string(raw)))
	if err != nil {
		b.Site.T.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		b.Site.T.Fatal(err)
	}
	return len(raw), string(text)
}
