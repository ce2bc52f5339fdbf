package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"warpboard/models/accounts"
	"warpboard/web/site"
	"warpboard/web/webtest"
)

func TestUnsafeRequestsNeedThePagesToken(t *testing.T) {
	s := webtest.Start(t)
	own := func(b *webtest.Browser) url.Values { return url.Values{site.CSRFField: {b.CSRF()}} }
	with := func(token string) func(*webtest.Browser) url.Values {
		return func(*webtest.Browser) url.Values { return url.Values{site.CSRFField: {token}} }
	}
	tests := []struct {
		name    string
		form    func(*webtest.Browser) url.Values
		headers []string
		ok      bool
	}{
		{"page of the site", own, []string{"Sec-Fetch-Site", "same-origin"}, true},
		{"old browser, right origin", own, []string{"Origin", s.URL}, true},
		{"no token", with(""), []string{"Sec-Fetch-Site", "same-origin"}, false},
		{"token of a visitor", with(site.DeriveToken("a visitor's secret")), nil, false},
		{"token of nothing", with(site.DeriveToken("")), nil, false},
		{"token of another session", with(s.SignedIn("bob", accounts.RoleUser).CSRF()), nil, false},
		{"another site", own, []string{"Sec-Fetch-Site", "cross-site"}, false},
		{"a sibling domain", own, []string{"Sec-Fetch-Site", "same-site"}, false},
		{"another origin", own, []string{"Origin", "https://evil.example"}, false},
		{"origin of a sandboxed frame", own, []string{"Origin", "null"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := s.SignedIn("ada", accounts.RoleUser)
			resp := b.Post("/sign-out", tt.form(b), append(tt.headers, "Accept", "application/json")...)
			if !tt.ok {
				webtest.WantProblem(t, resp, http.StatusForbidden, "csrf")
			}
			if signedOut := b.Get("/api/v1/me").StatusCode == http.StatusUnauthorized; signedOut != tt.ok {
				t.Errorf("signed out: %v, want %v", signedOut, tt.ok)
			}
		})
	}
}

func TestTokenMayComeInAHeader(t *testing.T) {
	s := webtest.Start(t)
	b := s.SignedIn("ada", accounts.RoleUser)
	send := func(token string) *http.Response {
		return b.Send(http.MethodPost, "/api/v1/submissions", strings.NewReader(`{"task":"none","source":"x"}`),
			"Content-Type", "application/json", site.CSRFHeader, token)
	}
	webtest.WantProblem(t, send(""), http.StatusForbidden, "csrf")
	webtest.WantProblem(t, send(b.CSRF()), http.StatusNotFound, "not_found")
}
