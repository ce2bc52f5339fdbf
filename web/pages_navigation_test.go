package web_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"

	"warpboard/views"
	"warpboard/web/webtest"
)

// linked returns the links inside an element, each as its text, a space, and its URL.
func linked(doc *goquery.Document, within string) []string {
	return doc.Find(within + " a").Map(func(_ int, e *goquery.Selection) string {
		return webtest.Words(e) + " " +
			e.AttrOr("href", "")
	})
}

func TestTheHeadLeadsToTheMainPages(t *testing.T) {
	s := webtest.NewScene(t)
	doc := s.Browser().Page("/leaderboards", http.StatusOK)
	want := []string{"Tasks /tasks", "Leaderboards /leaderboards", "Queue /devices", "Docs /docs"}
	if diff := cmp.Diff(want, linked(doc, "header nav")); diff != "" {
		t.Errorf("links of the head (-want +got):\n%s", diff)
	}
	for path, current := range map[string]string{"/tasks": "Tasks", "/leaderboards": "Leaderboards",
		"/devices": "Queue", "/docs/boards": "Docs"} {
		if got := webtest.Words(s.Browser().Page(path,
			http.StatusOK).Find("header nav [aria-current=page]")); got != current {
			t.Errorf("%s is below %q, want %q", path, got, current)
		}
	}
	public := "Public page " + string(views.UserURL(s.Ada.ID))
	if diff := cmp.Diff([]string{"Your account /me", "Submissions /me#mine", "Tokens /me#tokens", public},
		linked(s.BrowserOf(s.Ada).Page("/", http.StatusOK), "header details")); diff != "" {
		t.Errorf("a person's menu (-want +got):\n%s", diff)
	}
	if admin := linked(s.BrowserOf(s.Admin).Page("/", http.StatusOK), "header details"); !slices.Contains(admin,
		"New task /tasks/new") || !slices.Contains(admin, "Admin /operate/health") {
		t.Errorf("an admin's menu has %q", admin)
	}
}

// TestEachPageHasOneName checks that all links to a page have the same text as its title and heading. The page about
// the site is excluded; its heading is a slogan.
func TestEachPageHasOneName(t *testing.T) {
	s := webtest.NewScene(t)
	b := s.BrowserOf(s.Admin)
	for _, within := range []string{"header nav", "footer", "nav[aria-label=Admin]"} {
		for _, link := range linked(b.Page("/operate/health", http.StatusOK), within) {
			at := strings.LastIndex(link, " ")
			name, address := link[:at], link[at+1:]
			if address == "/about" {
				continue
			}
			doc := b.Page(address, http.StatusOK)
			if title := doc.Find("title").Text(); title != name+" · Warpboard" {
				t.Errorf("%s is called %q, and has the title %q", address, name, title)
			}
			webtest.WantText(t, doc, "h1", name)
		}
	}
	for _, link := range linked(b.Page("/operate/health", http.StatusOK), "header details") {
		if at := strings.LastIndex(link, " "); link[at+1:] == "/me" {
			webtest.WantText(t, b.Page("/me", http.StatusOK), "h1", link[:at])
		}
	}
	webtest.WantText(t, b.Page("/devices/H200/drift", http.StatusOK), "nav[aria-label=Breadcrumb]", "Queue")
	webtest.WantText(t, b.Page("/docs/boards", http.StatusOK), "nav[aria-label=Breadcrumb]", "Docs")
}

func TestEachPageBelowTheFirstLevelHasBreadcrumbs(t *testing.T) {
	s := newCrowdedScene(t)
	b := s.BrowserOf(s.Admin)
	b.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	seen := 0
	for page, address := range s.addresses() {
		resp := b.Get(address)
		if resp.StatusCode != http.StatusOK || strings.Count(page, "/") < 2 || strings.HasSuffix(page, "/embed") ||
			strings.HasSuffix(page, "/wall") || page == "/operate/health" {
			resp.Body.Close()
			continue
		}
		seen++
		doc := webtest.Document(t, resp, http.StatusOK)
		above := linked(doc, "nav[aria-label=Breadcrumb]")
		if len(above) == 0 {
			t.Errorf("%s has no way up", page)
		}
		for _, link := range above {
			b.Page(link[strings.LastIndex(link, " ")+1:], http.StatusOK)
		}
	}
	if seen < 20 {
		t.Errorf("only %d pages were looked at", seen)
	}
}

func TestTheMenuWorksByKeyboardAndWithoutAScript(t *testing.T) {
	s := webtest.NewScene(t)
	w := s.Window().As(s.BrowserOf(s.Ada))
	w.Visit("/leaderboards")
	const open, focused = `document.querySelector(".menu").open`, `document.activeElement.textContent.trim() == `
	w.Eval(`document.querySelector(".menu summary").focus()`)
	w.Do(chromedp.KeyEvent(kb.Enter))
	w.Until(open)
	w.LooksRight("menu")
	w.Eval(`document.querySelector(".menu summary").focus()`)
	for _, name := range []string{"Your account", "Submissions", "Tokens", "Public page", "Sign out"} {
		w.Do(chromedp.KeyEvent(kb.Tab))
		w.Until(focused + `"` + name + `"`)
	}
	w.Do(chromedp.KeyEvent(kb.Escape))
	w.Until("!" + open + ` && document.activeElement.matches(".menu summary")`)
	w.Do(chromedp.KeyEvent(kb.Enter))
	w.Until(open)
	w.Click("h1")
	w.Until("!" + open)
	w.RefusedNothing()

	doc := s.BrowserOf(s.Ada).Page("/leaderboards", http.StatusOK)
	if doc.Find(`header details form[method=post][action="/sign-out"] button`).Length() != 1 {
		t.Error("the menu's Sign out is no form")
	}
}
