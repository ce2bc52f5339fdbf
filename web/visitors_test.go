package web_test

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"warpboard/web/site"
	"warpboard/web/webtest"
)

// forVisitors matches paths that accept POST, PATCH, or DELETE from visitors: signing in and out, forms that show their
// input again, links that turn off e-mail, and the APIs for kernels and for popcorn-cli, which have their own rules.
var forVisitors = regexp.MustCompile(
	`^/($|auth/|sign-out$|api/v1/login|api/v1/evaluations|evaluate$|compare$|mcp$|admin/|playground$|evaluations/|popcorn/|tasks/check$|inbox/off/)`)

// forAccounts matches GET paths that show a person's own data.
var forAccounts = regexp.MustCompile(`^/(api/v1/(me|tokens|submissions|inbox|webhooks.*)|tasks/:slug/solve/runs)$`)

// TestVisitorsCannotUsePagesForPeople requests every path that changes data or shows a person's own data, as a visitor
// with a valid CSRF token. Each must be refused.
func TestVisitorsCannotUsePagesForPeople(t *testing.T) {
	s := webtest.NewScene(t)
	b := s.Browser()
	b.Page("/", http.StatusOK)
	example := strings.NewReplacer(":slug", s.Task.Slug, ":device", "H200", ":kind", "vectoradd_cpp", ":name", "rack",
		":id", "1", ":delivery", "1", ":+", "x", "*", "x")
	asked := 0
	for _, r := range s.App().GetRoutes(true) {
		changes := slices.Contains([]string{http.MethodPost, http.MethodPatch, http.MethodDelete}, r.Method) &&
			!forVisitors.MatchString(r.Path)
		if shows := r.Method == http.MethodGet && forAccounts.MatchString(r.Path); !changes && !shows ||
			strings.ContainsAny(r.Path, "*+") {
			continue
		}
		asked++
		body := url.Values{site.CSRFField: {b.CSRF()}}.Encode()
		resp := b.Send(r.Method, example.Replace(r.Path), strings.NewReader(body), "Content-Type",
			"application/x-www-form-urlencoded", site.CSRFHeader, b.CSRF(), "Accept", "application/json", "HX-Request",
			"true")
		if resp.Body.Close(); resp.StatusCode != http.StatusUnauthorized &&
			resp.StatusCode != http.StatusMethodNotAllowed {
			t.Errorf("%s %s answers a visitor %s", r.Method, r.Path, resp.Status)
		}
	}
	if asked < 60 {
		t.Errorf("only %d addresses were asked", asked)
	}
}
