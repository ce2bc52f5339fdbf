package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"warpboard/e2e/fuzztest"
	"warpboard/models/accounts"
	"warpboard/web/signin"
	"warpboard/web/site"
)

func TestUnsafeRequestsNeedThePagesToken(t *testing.T) {
	s := startSite(t)
	own := func(b *browser) url.Values { return url.Values{site.CSRFField: {b.csrf()}} }
	with := func(token string) func(*browser) url.Values {
		return func(*browser) url.Values { return url.Values{site.CSRFField: {token}} }
	}
	tests := []struct {
		name    string
		form    func(*browser) url.Values
		headers []string
		ok      bool
	}{
		{"page of the site", own, []string{"Sec-Fetch-Site", "same-origin"}, true},
		{"old browser, right origin", own, []string{"Origin", s.url}, true},
		{"no token", with(""), []string{"Sec-Fetch-Site", "same-origin"}, false},
		{"token of a visitor", with(site.DeriveToken("a visitor's secret")), nil, false},
		{"token of nothing", with(site.DeriveToken("")), nil, false},
		{"token of another session", with(s.signedIn("bob", accounts.RoleUser).csrf()), nil, false},
		{"another site", own, []string{"Sec-Fetch-Site", "cross-site"}, false},
		{"a sibling domain", own, []string{"Sec-Fetch-Site", "same-site"}, false},
		{"another origin", own, []string{"Origin", "https://evil.example"}, false},
		{"origin of a sandboxed frame", own, []string{"Origin", "null"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := s.signedIn("ada", accounts.RoleUser)
			resp := b.post("/sign-out", tt.form(b), append(tt.headers, "Accept", "application/json")...)
			if !tt.ok {
				wantProblem(t, resp, http.StatusForbidden, "csrf")
			}
			if signedOut := b.get("/api/v1/me").StatusCode == http.StatusUnauthorized; signedOut != tt.ok {
				t.Errorf("signed out: %v, want %v", signedOut, tt.ok)
			}
		})
	}
}

func TestTokenMayComeInAHeader(t *testing.T) {
	s := startSite(t)
	b := s.signedIn("ada", accounts.RoleUser)
	send := func(token string) *http.Response {
		return b.send(http.MethodPost, "/api/v1/submissions", strings.NewReader(`{"task":"none","source":"x"}`),
			"Content-Type", "application/json", site.CSRFHeader, token)
	}
	wantProblem(t, send(""), http.StatusForbidden, "csrf")
	wantProblem(t, send(b.csrf()), http.StatusNotFound, "not_found")
}

func TestNextStaysOnTheSite(t *testing.T) {
	tests := map[string]string{
		"":                             "/",
		"/":                            "/",
		"/tasks/vector-add?tab=mine#x": "/tasks/vector-add?tab=mine#x",
		"/a/../b":                      "/a/../b",
		"https://evil.example/":        "/",
		"//evil.example":               "/",
		"///evil.example":              "/",
		`/\evil.example`:               "/",
		`\\evil.example`:               "/",
		"/\t/evil.example":             "/",
		"/\n//evil.example":            "/",
		"/%2f/evil.example":            "/",
		"/%5cevil.example":             "/",
		"javascript:alert(1)":          "/",
		"evil.example":                 "/",
		" //evil.example":              "/",
		"/ok\x00":                      "/",
		"http:/evil.example":           "/",
	}
	for wanted, want := range tests {
		if got := signin.SafeNext(wanted); got != want {
			t.Errorf("safeNext(%q) = %q, want %q", wanted, got, want)
		}
	}
}

func FuzzNextStaysOnTheSite(f *testing.F) {
	fuzztest.Moment(f)
	for _, seed := range []string{"/tasks", "//evil", `/\evil`, "/%2f/evil", "https://evil", "/\x09/evil", "/a//b?c=//d"} {
		f.Add(seed)
	}
	base, _ := url.Parse("https://site.example/sign-in")
	f.Fuzz(func(t *testing.T, wanted string) {
		next := signin.SafeNext(wanted)
		// Browsers drop tabs and newlines and read \ as / before they take a URL apart.
		seen := strings.NewReplacer("\t", "", "\n", "", "\r", "", `\`, "/").Replace(next)
		u, err := base.Parse(seen)
		local := strings.HasPrefix(seen, "/") && !strings.HasPrefix(seen, "//")
		if err != nil || u.Host != base.Host || u.Scheme != base.Scheme || !local {
			t.Errorf("safeNext(%q) = %q leaves the site", wanted, next)
		}
	})
}
