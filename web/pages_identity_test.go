package web_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"

	"warpboard/web/webtest"
)

// everyPage calls look with each page of the site as an admin sees it.
func everyPage(t *testing.T, look func(page string, doc *goquery.Document)) {
	t.Helper()
	s := newCrowdedScene(t)
	if s.Second.ID == s.Second.SubmissionID {
		t.Fatal("the run has the number of its submission: this test shows nothing")
	}
	b, seen := s.BrowserOf(s.Admin), 0
	b.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for page, address := range s.addresses() {
		resp := b.Get(address)
		if resp.StatusCode != http.StatusOK || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") {
			resp.Body.Close()
			continue
		}
		seen++
		look(page, webtest.Document(t, resp, http.StatusOK))
	}
	if seen < 40 {
		t.Errorf("only %d pages were looked at", seen)
	}
}

func TestEachTimeHasTheExactOneAsItsTitle(t *testing.T) {
	times := 0
	everyPage(t, func(page string, doc *goquery.Document) {
		doc.Find("time").Each(func(_ int, e *goquery.Selection) {
			if e.Parent().Parent().Is("[data-last-draft]") { // the browser fills in this time
				return
			}
			times++
			if e.AttrOr("datetime", "") == "" || e.AttrOr("data-time", "") == "" ||
				!exact.MatchString(e.AttrOr("title", "")) {
				text, _ := goquery.OuterHtml(e)
				t.Errorf("%s: %s", page, text)
			}
		})
	})
	if times < 100 {
		t.Errorf("there are only %d times", times)
	}
}

var exact = regexp.MustCompile(`^\d+ \w+ \d{4}, \d\d:\d\d:\d\d UTC$`)

// runNumber matches the number of a run in a text. Only URLs and the API may have it, because people see numbers of
// submissions.
var runNumber = regexp.MustCompile(`(?i)\bruns? #?\d+($|[,:;)”"]| [a-z])`)

func TestPeopleReadNumbersOfSubmissionsAndNotOfRuns(t *testing.T) {
	everyPage(t, func(page string, doc *goquery.Document) {
		doc.Find("body *").Each(func(_ int, e *goquery.Selection) {
			texts := []string{e.AttrOr("title", ""), e.AttrOr("aria-label", ""), e.AttrOr("placeholder", "")}
			for _, inner := range e.Contents().Nodes {
				if inner.Type == html.TextNode && !e.Is("script, template, code, pre, pre *") {
					texts = append(texts, strings.TrimSpace(inner.Data))
				}
			}
			for _, text := range texts {
				if runNumber.MatchString(text) {
					t.Errorf("%s says %q", page, text)
				}
			}
		})
	})
}

func TestEachPageHasTheSignAndTheShortcutsOfTheSite(t *testing.T) {
	everyPage(t, func(page string, doc *goquery.Document) {
		if doc.Find("head link[rel=icon][href*='favicon.svg']").Length() != 1 && !strings.HasSuffix(page, "/embed") {
			t.Errorf("%s has no icon", page)
		}
		if doc.Find("[data-palette]").Length() != 1 && !strings.HasSuffix(page, "/embed") &&
			!strings.HasSuffix(page, "/wall") {
			t.Errorf("%s has no list of shortcuts", page)
		}
	})
}

func TestTimesAreRelativeToNow(t *testing.T) {
	s := webtest.NewScene(t)
	w := s.Window().As(s.BrowserOf(s.Ada))
	w.Visit(webtest.SubmissionPath(s.Done))
	w.Until(`/^(just now|\d+ minutes? ago)$/.test(document.querySelector(".meta time").textContent)`)
	w.Until(`/^\d+ \w+ \d{4} at \d\d:\d\d:\d\d \S+$|^\d+ \w+ \d{4}, \d\d:\d\d:\d\d \S+$/.test(document.querySelector(".meta time").title)`)
	w.Eval(`document.querySelector(".meta time").dateTime = new Date(Date.now() - 3 * 86400e3 - 9000).toISOString()`)
	w.Eval(`document.dispatchEvent(new CustomEvent("htmx:after:swap"))`)
	w.Until(`document.querySelector(".meta time").textContent == "3 days ago"`)
	w.Eval(`document.querySelector(".meta time").dateTime = "2020-05-01T10:00:00Z"`)
	w.Eval(`document.dispatchEvent(new CustomEvent("htmx:after:swap"))`)
	w.Until(`document.querySelector(".meta time").textContent.startsWith("1 May 2020")`)
}
