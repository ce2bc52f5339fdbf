package signin_test

import (
	"net/url"
	"strings"
	"testing"

	"warpboard/e2e/fuzztest"
	"warpboard/web/signin"
)

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
		if got := signin.SafeRedirectPath(wanted); got != want {
			t.Errorf("safeNext(%q) = %q, want %q", wanted, got, want)
		}
	}
}

func FuzzNextStaysOnTheSite(f *testing.F) {
	fuzztest.Moment(f)
	for _, seed := range []string{"/tasks", "//evil", `/\evil`, "/%2f/evil", "https://evil", "/\x09/evil",
		"/a//b?c=//d"} {
		f.Add(seed)
	}
	base, _ := url.Parse("https://site.example/sign-in")
	f.Fuzz(func(t *testing.T, wanted string) {
		next := signin.SafeRedirectPath(wanted)
		// Browsers drop tabs and newlines and read \ as / before they take a URL apart.
		seen := strings.NewReplacer("\t", "", "\n", "", "\r", "", `\`, "/").Replace(next)
		u, err := base.Parse(seen)
		local := strings.HasPrefix(seen, "/") && !strings.HasPrefix(seen, "//")
		if err != nil || u.Host != base.Host || u.Scheme != base.Scheme || !local {
			t.Errorf("safeNext(%q) = %q leaves the site", wanted, next)
		}
	})
}
