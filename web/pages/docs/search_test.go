package docs_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"warpboard/web/webtest"
)

func TestTheSearchWorksWithoutJavaScript(t *testing.T) {
	s := webtest.NewScene(t)
	b := s.BrowserOf(s.Ada)
	form := b.Page("/", http.StatusOK).Find("header form:has([data-palette])")
	if to, method := form.AttrOr("action", ""), form.AttrOr("method", "get"); to != "/search" || method != "get" {
		t.Fatalf("the button leads to %q by %s", to, method)
	}
	for _, text := range []string{"", "matrix cuda", "BARBARA L", "queue"} {
		doc := b.Page("/search?q="+strings.ReplaceAll(text, " ", "+"), http.StatusOK)
		webtest.CheckSound(t, doc)
		if got := doc.Find("main input[name=q]").AttrOr("value", ""); got != text {
			t.Errorf("the field has %q, want %q", got, text)
		}
		want := finds(b, t, text)
		got := doc.Find("[data-found]").Map(func(_ int,
			e *goquery.Selection) string {
			return e.Find("a").AttrOr("href", "")
		})
		if !slices.EqualFunc(got, want, func(url string, p foundPlace) bool { return url == p.URL }) || len(got) == 0 {
			t.Errorf("%q finds %v on the page, want %v", text, got, want)
		}
	}
	webtest.WantText(t, b.Page("/search?q=zanzibar", http.StatusOK), "[aria-label=Results]", "Nothing found.")
	webtest.WantStatus(t, b.Get("/search?q="+strings.Repeat("x", 101)), http.StatusUnprocessableEntity)
}

func TestTheSearchPageLooksRight(t *testing.T) {
	s := webtest.NewScene(t)
	w := s.Window().As(s.BrowserOf(s.Ada))
	w.Visit("/search?q=matrix")
	w.LooksRight("search")
}
