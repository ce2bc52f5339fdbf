package webtest

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"

	"warpboard/models/work"
)

// SubmissionPath returns the path of a run's submission.
func SubmissionPath(run work.Run) string { return fmt.Sprintf("/submissions/%d", run.SubmissionID) }

// Href returns the target of the link with these words.
func Href(t *testing.T, doc *goquery.Document, text string) string {
	t.Helper()
	found := doc.Find("main a").FilterFunction(func(_ int, e *goquery.Selection) bool { return Words(e) == text })
	if found.Length() == 0 {
		t.Fatalf("no link says %q", text)
	}
	return found.First().AttrOr("href", "")
}

// Page requests a page, checks the status, and parses the HTML.
func (b *Browser) Page(path string, status int) *goquery.Document {
	b.Site.T.Helper()
	return Document(b.Site.T, b.Get(path), status)
}

// Document checks the status of a response and parses its HTML.
func Document(t testing.TB, resp *http.Response, status int) *goquery.Document {
	t.Helper()
	if resp.StatusCode != status {
		t.Fatalf("%s answered %s, want %d: %s", Asked(resp), resp.Status, status, Body(t, resp))
	}
	doc, err := goquery.NewDocumentFromReader(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// Words returns the text of an element with single spaces between words, also between table cells that the HTML does
// not separate by spaces.
func Words(s *goquery.Selection) string {
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

// WantText checks that the elements of a selector contain a text.
func WantText(t testing.TB, doc *goquery.Document, selector, want string) {
	t.Helper()
	found := doc.Find(selector)
	if found.Length() == 0 {
		t.Errorf("there is no %s", selector)
	} else if got := Words(found); !strings.Contains(got, want) {
		t.Errorf("%s says %q, want %q in it", selector, got, want)
	}
}

// All lists a path of every page, for a user with all rights.
func (s *Scene) All() []string {
	task := "/tasks/" + s.Task.Slug
	submission := func(run work.Run) string { return fmt.Sprintf("/submissions/%d", run.SubmissionID) }
	return []string{
		"/", "/about", "/tasks", "/devices", "/trust", "/sign-in", "/login", "/join", "/me",
		fmt.Sprintf("/users/%d", s.Ada.ID), "/tasks/new", task, task + "/edit", task + "/members", task + "/solve",
		task + "/boards/H200", task + "/boards/H200?page=2", task + "/boards/CPU",
		submission(s.Done), submission(s.Done) + "?tab=source", submission(s.Failed), submission(s.Wrong),
		submission(s.Working), submission(s.Queued), "/nothing",
		"/devices/H200/drift", task + "/rejudge", "/review", "/people", "/audit",
		fmt.Sprintf("/runs/%d/moderation", s.Done.ID),
	}
}

// CheckSound checks rules that every page must follow: landmarks, labels, unique IDs, CSRF tokens, and no foreign
// scripts.
func CheckSound(t *testing.T, doc *goquery.Document) {
	for _, selector := range []string{"html[lang]", "head > title", "main#content", "h1", "a.skip[href='#content']",
		"header nav[aria-label]", "body:not(.full) > footer, body.full"} {
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
		if Words(e) == "" && e.AttrOr("aria-label", "") == "" {
			t.Errorf("a button or link has no name: %s", outer(e))
		}
	})
	doc.Find("[aria-labelledby]").Each(func(_ int, e *goquery.Selection) {
		if id := e.AttrOr("aria-labelledby", ""); !ids[id] {
			t.Errorf("%q labels something and is not there", id)
		}
	})
	CheckScriptless(t, doc)
}

// CheckScriptless fails the test if a page contains scripts, styles, or frames other than files of this site.
func CheckScriptless(t testing.TB, doc *goquery.Document) {
	t.Helper()
	doc.Find("script").Each(func(_ int, e *goquery.Selection) {
		if !strings.HasPrefix(e.AttrOr("src", ""), "/static/") || e.Text() != "" {
			t.Errorf("a script is not one of the site's files: %s", outer(e))
		}
	})
	if strange := doc.Find(
		"style, iframe, object, embed, base, img, link:not([href^='/static/'], [rel=alternate])"); strange.Length() > 0 {
		t.Errorf("the page holds %s", outer(strange))
	}
	doc.Find("*").Each(func(_ int, e *goquery.Selection) {
		for _, a := range e.Nodes[0].Attr {
			name, value := strings.ToLower(a.Key), strings.ToLower(strings.TrimSpace(a.Val))
			if strings.HasPrefix(name, "on") || strings.HasPrefix(name, "hx-on") || name == "style" ||
				strings.HasPrefix(value, "javascript:") {
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
