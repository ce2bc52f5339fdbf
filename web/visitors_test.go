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

// forVisitors are the addresses that change something, or seem to, for people who have not signed in: signing in and
// out, forms that come back, links that turn e-mail off, and the APIs of kernels and of popcorn-cli, which have rules
// of their own.
var forVisitors = regexp.MustCompile(
	`^/($|auth/|sign-out$|api/v1/login|api/v1/evaluations|evaluate$|compare$|mcp$|admin/|playground$|evaluations/|popcorn/|tasks/check$|inbox/off/)`)

// forAccounts are the addresses that show what is a person's own.
var forAccounts = regexp.MustCompile(`^/(api/v1/(me|tokens|submissions|inbox|webhooks.*)|tasks/:slug/solve/runs)$`)

// TestVisitorsCannotUsePagesForPeople asks for every address that changes something or shows what is a person's own,
// with the token of a form and without an account.
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
