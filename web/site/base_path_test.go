package site

import (
	"strings"
	"testing"

	"github.com/valyala/fasthttp"

	"warpboard/e2e/fuzztest"
)

const sitePath = BasePath("/warpboard")

func TestAddressesFromTheRootGetThePath(t *testing.T) {
	for page, want := range map[string]string{
		`<a href="/">`: `<a href="/warpboard/">`,
		`<a class="plain" href="/tasks/x?a=1#b">`:             `<a class="plain" href="/warpboard/tasks/x?a=1#b">`,
		"<html\n\tdata-root=\"/\">":                           "<html\n\tdata-root=\"/warpboard/\">",
		`<img src="/a" alt="/a"><img src="/b">`:               `<img src="/warpboard/a" alt="/a"><img src="/warpboard/b">`,
		`<form method="post" action="/x"><b formaction="/y">`: `<form method="post" action="/warpboard/x"><b formaction="/warpboard/y">`,
		`<div hx-get="/x" hx-sse:connect="/y">`:               `<div hx-get="/warpboard/x" hx-sse:connect="/warpboard/y">`,
		`<input name="next" value="/me">`:                     `<input name="next" value="/me">`,
		`<a href="//other.example/x">`:                        `<a href="//other.example/x">`,
		`<a href="x"> <a href="?page=2"> <a href="#top">`:     `<a href="x"> <a href="?page=2"> <a href="#top">`,
		`<a href="https://other.example/">`:                   `<a href="https://other.example/">`,
		`<p>href=&#34;/x&#34;</p>`:                            `<p>href=&#34;/x&#34;</p>`,
		`<form data-check="/x" data-preview="/y">`:            `<form data-check="/warpboard/x" data-preview="/warpboard/y">`,
		`<textarea data-versions="/x">`:                       `<textarea data-versions="/warpboard/x">`,
		`<p data-href="/x" xhref="/x">`:                       `<p data-href="/x" xhref="/x">`,
		`href="/`:                                             `href="/warpboard/`,
		`="/`:                                                 `="/`,
	} {
		if got := sitePath.RewriteHTML(page); got != want {
			t.Errorf("%s becomes %s, want %s", page, got, want)
		}
		if got := BasePath("").RewriteHTML(page); got != page {
			t.Errorf("at the root %s becomes %s", page, got)
		}
	}
}

// FuzzRewriteHTML checks that RewriteHTML only inserts the site's path, and only where a URL may begin.
func FuzzRewriteHTML(f *testing.F) {
	fuzztest.Moment(f)
	f.Add(`<a href="/x">="/"</a>`)
	f.Add(`href="//x" src="/"`)
	f.Fuzz(func(t *testing.T, page string) {
		if strings.Contains(page, "\x00") {
			t.Skip()
		}
		// no page here contains this path, so each occurrence in out was added
		out := BasePath("/\x00").RewriteHTML(page)
		if got := strings.ReplaceAll(out, "/\x00", ""); got != page {
			t.Errorf("%q becomes %q", page, out)
		}
		if strings.Count(out, "\x00") > strings.Count(page, `="/`) {
			t.Errorf("%q got the path where no address begins: %q", page, out)
		}
	})
}

func BenchmarkRewriteHTML(b *testing.B) {
	page := strings.Repeat(
		`<tr><td class="r"><a class="plain" href="/tasks/softmax/boards/H100-SXM">softmax</a></td><td>1.25 ms</td></tr>`, 500)
	b.SetBytes(int64(len(page)))
	for b.Loop() {
		sitePath.RewriteHTML(page)
	}
}

func TestAddressesOfSites(t *testing.T) {
	for text, want := range map[string]BasePath{
		"http://127.0.0.1:3000":             "",
		"https://lab.example.org/":          "",
		"https://lab.example.org/warpboard": "/warpboard",
		"https://lab.example.org/a-b/c.d/":  "/a-b/c.d",
	} {
		base, got, err := ParseAddress(text)
		if err != nil || got != want || base.String() != strings.TrimRight(text, "/") {
			t.Errorf("%s is %v with the path %q, %v", text, base, got, err)
		}
	}
	for text, want := range map[string]string{
		"lab.example.org":                   "want http://host or https://host",
		"ftp://lab.example.org":             "want http://host or https://host",
		"https:///warpboard":                "want http://host or https://host",
		"https://me@lab.example.org/":       "want http://host or https://host",
		"https://lab.example.org/a?b=c":     "leave out what follows ? or #",
		"https://lab.example.org/a?":        "leave out what follows ? or #",
		"https://lab.example.org/a#":        "leave out what follows ? or #",
		"https://lab.example.org//a":        "between single slashes",
		"https://lab.example.org/a//b":      "between single slashes",
		"https://lab.example.org/a/../b":    "between single slashes",
		"https://lab.example.org/a%20b":     "a path of letters",
		"https://lab.example.org/a b":       "a path of letters",
		"https://lab.example.org/w%C3%BCrf": "a path of letters",
		"https://lab.example.org/a;b":       "a path of letters",
		`https://lab.example.org/a"b`:       "a path of letters",
	} {
		if _, _, err := ParseAddress(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func TestRequestsLoseThePathAndRedirectsGetIt(t *testing.T) {
	for target, want := range map[string]string{
		"/warpboard/":              "/",
		"/warpboard/tasks/x?a=1":   "/tasks/x?a=1",
		"/warpboard/warpboard/x":   "/warpboard/x",
		"/warpboard//other":        "//other",
		"/warpboard":               "bare /",
		"/warpboard?a=1":           "bare /?a=1",
		"/healthz":                 "/healthz",
		"/healthz?x":               "/healthz?x",
		"/healthz/x":               "outside /healthz/x",
		"/":                        "outside /",
		"/tasks":                   "outside /tasks",
		"/warpboardx/":             "outside /warpboardx/",
		"/Warpboard/":              "outside /Warpboard/",
		"/%77arpboard/":            "outside /%77arpboard/",
		"/x/../warpboard/":         "outside /x/../warpboard/",
		"http://h/warpboard/":      "outside http://h/warpboard/",
		"/warpboard/../../healthz": "/../../healthz",
	} {
		var c fasthttp.RequestCtx
		c.Request.Header.SetRequestURI(target)
		seen := ""
		sitePath.Handler(func(c *fasthttp.RequestCtx) {
			seen = string(c.Request.Header.RequestURI())
			if IsOutsidePath(c) {
				seen = "outside " + seen
			} else if IsPathWithoutSlash(c) {
				seen = "bare " + seen
			}
		}, "/healthz")(&c)
		if seen != want {
			t.Errorf("%s comes as %s, want %s", target, seen, want)
		}
	}
	for to, want := range map[string]string{"/": "/warpboard/", "/me?x": "/warpboard/me?x",
		"//other.example": "//other.example", "https://other.example/": "https://other.example/",
		"?page=2": "?page=2"} {
		var c fasthttp.RequestCtx
		sitePath.Handler(func(c *fasthttp.RequestCtx) { c.Response.Header.Set("Location", to) })(&c)
		if got := string(c.Response.Header.Peek("Location")); got != want {
			t.Errorf("an answer leads to %s, want %s", got, want)
		}
	}
}
