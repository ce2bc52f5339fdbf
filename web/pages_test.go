package web

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"

	"warpboard/models/catalog"
	"warpboard/models/work"
)

// page reads an answer as HTML.
func (b *browser) page(path string, status int) *goquery.Document {
	b.site.t.Helper()
	return document(b.site.t, b.get(path), status)
}

func document(t testing.TB, resp *http.Response, status int) *goquery.Document {
	t.Helper()
	if resp.StatusCode != status {
		t.Fatalf("%s answered %s, want %d: %s", asked(resp), resp.Status, status, body(t, resp))
	}
	doc, err := goquery.NewDocumentFromReader(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// words are an element's words with single spaces, also between cells that HTML writes without any.
func words(s *goquery.Selection) string {
	var texts []string
	for _, node := range s.Nodes {
		for inner := range node.Descendants() {
			if inner.Type == html.TextNode {
				texts = append(texts, strings.Fields(inner.Data)...)
			}
		}
	}
	return strings.Join(texts, " ")
}

func wantText(t testing.TB, doc *goquery.Document, selector, want string) {
	t.Helper()
	found := doc.Find(selector)
	if found.Length() == 0 {
		t.Errorf("there is no %s", selector)
	} else if got := words(found); !strings.Contains(got, want) {
		t.Errorf("%s says %q, want %q in it", selector, got, want)
	}
}

// all lists the addresses of every page, for someone who may do everything.
func (s *scene) all() []string {
	task := "/tasks/" + s.task.Slug
	submission := func(run work.Run) string { return fmt.Sprintf("/submissions/%d", run.SubmissionID) }
	return []string{
		"/", "/about", "/tasks", "/devices", "/clocks", "/trust", "/sign-in", "/login", "/join", "/me", fmt.Sprintf("/users/%d", s.ada.ID), "/tasks/new", task, task + "/edit", task + "/members", task + "/solve",
		task + "/boards/H200", task + "/boards/H200?page=2", task + "/boards/CPU",
		submission(s.done), submission(s.done) + "?tab=source", submission(s.failed), submission(s.wrong),
		submission(s.working), submission(s.queued), "/nothing",
		"/devices/H200/drift", task + "/rejudge", "/review", "/people", "/silicon", "/audit", fmt.Sprintf("/runs/%d/moderation", s.done.ID),
	}
}

func TestEveryPageIsSoundHTML(t *testing.T) {
	s := newScene(t)
	for who, b := range map[string]*browser{"visitor": s.browser(), "user": s.browserOf(s.ada), "admin": s.browserOf(s.admin)} {
		for _, path := range s.all() {
			t.Run(who+path, func(t *testing.T) {
				resp := b.get(path)
				checkSound(t, document(t, resp, resp.StatusCode))
			})
		}
	}
}

// checkSound holds what is true of each page for every viewer.
func checkSound(t *testing.T, doc *goquery.Document) {
	for _, selector := range []string{"html[lang]", "head > title", "main#content", "h1", "a.skip[href='#content']", "header nav[aria-label]", "body:not(.full) > footer, body.full"} {
		if n := doc.Find(selector).Length(); n != 1 {
			t.Errorf("%d of %s, want one", n, selector)
		}
	}
	if stops := doc.Find("a.lnlinks:not([tabindex='-1'])").Length(); stops > 0 {
		t.Errorf("%d line numbers are stops of the Tab key", stops)
	}
	ids := map[string]bool{}
	doc.Find("[id]").Each(func(_ int, e *goquery.Selection) {
		if id := e.AttrOr("id", ""); ids[id] {
			t.Errorf("two elements have the id %q", id)
		} else {
			ids[id] = true
		}
	})
	doc.Find("input:not([type=hidden]), select, textarea").Each(func(_ int, e *goquery.Selection) {
		named := e.ParentsFiltered("label").Length() > 0 || e.AttrOr("aria-label", "") != "" ||
			doc.Find(fmt.Sprintf("label[for=%q]", e.AttrOr("id", "-"))).Length() > 0
		if !named {
			t.Errorf("a field has no label: %s", outer(e))
		}
	})
	doc.Find("form[method=post]").Each(func(_ int, e *goquery.Selection) {
		if e.Find("input[name=_csrf]").Length() != 1 {
			t.Errorf("a form has no token: %s", e.AttrOr("action", ""))
		}
	})
	doc.Find("button, a").Each(func(_ int, e *goquery.Selection) {
		if words(e) == "" && e.AttrOr("aria-label", "") == "" {
			t.Errorf("a button or link has no name: %s", outer(e))
		}
	})
	doc.Find("[aria-labelledby]").Each(func(_ int, e *goquery.Selection) {
		if id := e.AttrOr("aria-labelledby", ""); !ids[id] {
			t.Errorf("%q labels something and is not there", id)
		}
	})
	checkScriptless(t, doc)
}

// checkScriptless finds everything that could run in a page, other than this site's own files.
func checkScriptless(t testing.TB, doc *goquery.Document) {
	t.Helper()
	doc.Find("script").Each(func(_ int, e *goquery.Selection) {
		if !strings.HasPrefix(e.AttrOr("src", ""), "/static/") || e.Text() != "" {
			t.Errorf("a script is not one of the site's files: %s", outer(e))
		}
	})
	if strange := doc.Find("style, iframe, object, embed, base, img, link:not([href^='/static/'], [rel=alternate])"); strange.Length() > 0 {
		t.Errorf("the page holds %s", outer(strange))
	}
	doc.Find("*").Each(func(_ int, e *goquery.Selection) {
		for _, a := range e.Nodes[0].Attr {
			name, value := strings.ToLower(a.Key), strings.ToLower(strings.TrimSpace(a.Val))
			if strings.HasPrefix(name, "on") || strings.HasPrefix(name, "hx-on") || name == "style" || strings.HasPrefix(value, "javascript:") {
				t.Errorf("an attribute can run or style something: %s", outer(e))
			}
		}
	})
}

func outer(e *goquery.Selection) string {
	text, err := goquery.OuterHtml(e)
	if err != nil {
		return err.Error()
	}
	return text
}

func TestHiddenTaskIsNotThereForOthers(t *testing.T) {
	s := newScene(t)
	_, err := s.site.Store.Catalog.UpdateTask(t.Context(), s.admin, s.task.ID, catalog.TaskSettings{
		Title: s.task.Title, Devices: s.task.Devices, Visibility: catalog.Hidden})
	if err != nil {
		t.Fatal(err)
	}
	visitor := s.browser()
	for _, path := range []string{"", "/edit", "/bundle.zip", "/file?path=reference.cuh", "/boards/H200"} {
		resp := visitor.get("/tasks/" + s.task.Slug + path)
		if resp.StatusCode != http.StatusNotFound && resp.Request.URL.Path != "/sign-in" {
			t.Errorf("%s answered %s", path, resp.Status)
		}
	}
	visitor.page(fmt.Sprintf("/submissions/%d", s.done.SubmissionID), http.StatusNotFound)
	for _, path := range []string{"/", "/tasks", "/devices", fmt.Sprintf("/users/%d", s.ada.ID)} {
		if text := visitor.page(path, http.StatusOK).Text(); strings.Contains(text, s.task.Title) {
			t.Errorf("%s names the hidden task", path)
		}
	}
	s.browserOf(s.admin).page("/tasks/"+s.task.Slug, http.StatusOK)
}

func TestShortAddressesLeadToTheirPages(t *testing.T) {
	s := newScene(t)
	b := s.browserOf(s.ada)
	for path, want := range map[string]string{
		"/tags": "/tasks", "/queue": "/devices", "/users": "/tasks", "/submissions": "/me",
		fmt.Sprintf("/submissions/%d/runs/%d", s.done.SubmissionID, s.done.ID): submissionPath(s.done),
	} {
		resp := b.get(path)
		checkSound(t, document(t, resp, http.StatusOK))
		if got := resp.Request.URL.Path; got != want {
			t.Errorf("%s leads to %s, want %s", path, got, want)
		}
	}
	card := b.get(fmt.Sprintf("/submissions/%d/runs/%d", s.done.SubmissionID, s.done.ID), "HX-Request", "true")
	if text := body(t, card); !strings.HasPrefix(text, "<article") {
		t.Errorf("htmx gets %.60q", text)
	}
}

func TestErrorPagesAreCompressed(t *testing.T) {
	s := newScene(t)
	for _, path := range []string{"/nothing", "/tasks/nothing", "/submissions/0"} {
		resp := s.browser().get(path, "Accept-Encoding", "gzip")
		if got := resp.Header.Get("Content-Encoding"); got != "gzip" || resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %s, encoded as %q", path, resp.Status, got)
		}
	}
}

func TestOneStatisticHasOneName(t *testing.T) {
	s := newProfiledScene(t)
	b := s.browserOf(s.admin)
	for _, path := range []string{submissionPath(s.second), submissionPath(s.failed), "/tasks/" + s.task.Slug + "/boards/H200"} {
		doc := b.page(path, http.StatusOK)
		doc.Find("th").Each(func(_ int, e *goquery.Selection) {
			if text := words(e); text == "Spread" || text == "Error" || text == "Std" {
				t.Errorf("%s heads a column with %q", path, text)
			}
		})
		if hint := words(doc.Find(".hint")); strings.Contains(hint, "Standard error") {
			t.Errorf("%s calls what was printed %q", path, hint)
		}
	}
}
