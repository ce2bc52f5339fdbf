package web_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"

	"warpboard/models/accounts"
	"warpboard/static"
	"warpboard/web"
	"warpboard/web/site"
	"warpboard/web/webtest"
)

func TestEveryAnswerForbidsForeignScripts(t *testing.T) {
	s := webtest.Start(t)
	b := s.Browser()
	for _, path := range []string{"/no-such-page", "/healthz", "/api/v1/tasks", "/api/v1/nothing", "/auth/nobody"} {
		resp := b.Get(path)
		csp := resp.Header.Get("Content-Security-Policy")
		for _, want := range []string{
			"default-src 'self'", "object-src 'none'", "base-uri 'none'", "frame-ancestors 'none'",
			"form-action 'self'",
		} {
			if !strings.Contains(csp, want) {
				t.Errorf("%s: policy %q lacks %q", path, csp, want)
			}
		}
		if strings.Contains(csp, "unsafe-eval") || strings.Contains(csp, "script-src") {
			t.Errorf("%s: policy %q lets more scripts in than the site's own files", path, csp)
		}
		if resp.Header.Get("X-Content-Type-Options") != "nosniff" || resp.Header.Get("X-Request-Id") == "" {
			t.Errorf("%s: headers %v", path, resp.Header)
		}
	}
	if a, b := b.Get("/").Header.Get("Content-Security-Policy"),
		b.Get("/").Header.Get("Content-Security-Policy"); a == b {
		t.Error("the nonce is the same twice")
	}
}

func TestStrictTransportOnlyBehindTLS(t *testing.T) {
	if got := webtest.Start(t).Browser().Get("/healthz").Header.Get("Strict-Transport-Security"); got != "" {
		t.Errorf("without TLS: %q", got)
	}
	tls := webtest.Start(t, func(cfg *web.Config) { cfg.BaseURL = "https://boards.example.org" })
	if got := tls.Browser().Get("/healthz").Header.Get("Strict-Transport-Security"); !strings.Contains(got,
		"max-age=31536000") {
		t.Errorf("behind TLS: %q", got)
	}
}

func TestErrorsAreEscapedAndSayNothingOfTheInside(t *testing.T) {
	s := webtest.Start(t)
	b := s.Browser()
	page := webtest.Body(t, b.Get("/auth/%3Cscript%3Ealert(1)%3C%2Fscript%3E"))
	if strings.Contains(page, "<script>alert(1)") {
		t.Errorf("the address scripts the error page: %s", page)
	}
	if err := s.Cfg.Store.Close(); err != nil {
		t.Fatal(err)
	}
	resp := b.Get("/api/v1/tasks")
	webtest.WantProblem(t, resp, http.StatusInternalServerError, "internal")
	if text := webtest.Body(t, b.Get("/api/v1/tasks")); strings.Contains(text, "sql") ||
		strings.Contains(text, "database") {
		t.Errorf("the answer tells of the inside: %s", text)
	}
	webtest.WantStatus(t, b.Get("/healthz"), http.StatusServiceUnavailable)
}

// The test sends only the headers: an answer proves that the site did not wait for the body.
func TestLargeBodiesAreRefusedBeforeTheyAreRead(t *testing.T) {
	s := webtest.NewEvalSite(t, func(cfg *web.Config) { cfg.BundleLimit = 8 << 20 })
	for _, one := range []struct {
		sender, path string
		size         int
		want         string
	}{
		{"", "/api/v1/submissions", site.MaxVisitorBodyBytes + 1, "401 Unauthorized"},
		{"", "/evaluate", 1, "401 Unauthorized"},
		{"Bearer wrong", "/evaluate", 1, "401 Unauthorized"},
		{"Bearer " + s.Token, "/api/v1/submissions", site.MaxKernelBodyBytes + 1, "413 Request Entity Too Large"},
		{"Bearer " + s.Token, "/evaluate", s.Evals().EvalLimits.MaxBodyBytes + 1, "413 Request Entity Too Large"},
		// the person's role may not create tasks
		{"Bearer " + s.Token, "/tasks/new", site.MaxKernelBodyBytes + 1, "413 Request Entity Too Large"},
	} {
		head := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: a\r\nAccept: application/json\r\nContent-Length: %d\r\n",
			one.path, one.size)
		if one.sender != "" {
			head += "Authorization: " + one.sender + "\r\n"
		}
		if answer := s.Raw(t, head+"\r\n"); !strings.HasPrefix(answer, "HTTP/1.1 "+one.want) {
			t.Errorf("%d bytes to %s with %q: %.200q, want %s", one.size, one.path, one.sender, answer, one.want)
		}
	}
	bundle := strings.NewReader(strings.Repeat("x", site.MaxKernelBodyBytes+1))
	if got := s.SignedIn("Carl", accounts.RoleCreator).Send(http.MethodPost, "/tasks/new",
		bundle); got.StatusCode == http.StatusRequestEntityTooLarge {
		t.Error("a bundle within its own limit was refused for its size")
	}
}

func TestCompressedBodiesAreNotUnpacked(t *testing.T) {
	s := webtest.Start(t)
	form := "--x\r\nContent-Disposition: form-data; name=\"_csrf\"\r\n\r\n" + strings.Repeat("\x00", 1<<20) +
		"\r\n--x--\r\n"
	var bomb bytes.Buffer
	w := gzip.NewWriter(&bomb)
	if _, err := io.WriteString(w, form); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for path, kind := range map[string]string{
		"/sign-out": "multipart/form-data; boundary=x", "/tasks/new": "multipart/form-data; boundary=x",
		"/api/v1/submissions": "application/json", "/evaluate": "application/json",
	} {
		for _, encoding := range []string{"gzip", "gzip, gzip", "br", "zstd"} {
			resp := s.Browser().Send(http.MethodPost, path, bytes.NewReader(bomb.Bytes()),
				"Content-Type", kind, "Content-Encoding", encoding, "Accept", "application/json")
			webtest.WantProblem(t, resp, http.StatusUnsupportedMediaType, "encoding")
		}
	}
}

func TestStaticFilesArePackedAsTheBrowserTakesThem(t *testing.T) {
	b := webtest.Start(t).Browser()
	plain := webtest.Body(t, b.Get(static.URL("app.css"), "Accept-Encoding", "identity"))
	for accept, want := range map[string]string{"gzip, deflate, br, zstd": "br", "gzip": "gzip", "identity": ""} {
		resp := b.Get(static.URL("app.css"), "Accept-Encoding", accept)
		sent := webtest.Body(t, resp)
		var unpacked io.Reader = strings.NewReader(sent)
		var err error
		switch want {
		case "br":
			unpacked = brotli.NewReader(unpacked)
		case "gzip":
			unpacked, err = gzip.NewReader(unpacked)
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(unpacked)
		if got := resp.Header.Get("Content-Encoding"); err != nil || got != want || string(text) != plain ||
			want != "" && len(sent) > len(plain)/3 {
			t.Errorf("who takes %s gets %q, %d bytes for %d of %d: %v", accept, got, len(sent), len(text), len(plain),
				err)
		}
	}
}

// TestTheFilesOfEachPageAreSmall limits the files that every page loads to 45.5 kB. With a board's page of 14 kB, a
// first visit must load at most 60 kB.
func TestTheFilesOfEachPageAreSmall(t *testing.T) {
	b, total := webtest.Start(t).Browser(), 0
	for _, name := range []string{"figtree.woff2", "app.css", "favicon.svg", "site.js", "htmx.js"} {
		total += len(webtest.Body(t, b.Get(static.URL(name), "Accept-Encoding", "br")))
	}
	if total > 45_500 {
		t.Errorf("the files of each page are %d bytes, want at most 45,500", total)
	}
}

func TestStaticFilesAreKeptForEver(t *testing.T) {
	b := webtest.Start(t).Browser()
	resp := b.Get(static.URL("app.css"))
	webtest.WantStatus(t, resp, http.StatusOK)
	if got := resp.Header.Get("Cache-Control"); !strings.Contains(got, "immutable") {
		t.Errorf("Cache-Control is %q", got)
	}
	if got := resp.Header.Get("Content-Type"); !strings.HasPrefix(got, "text/css") {
		t.Errorf("Content-Type is %q", got)
	}
	if got := b.Get("/static/0123456789ab/app.css").Header.Get("Cache-Control"); strings.Contains(got, "immutable") {
		t.Errorf("a file under an old hash is kept for ever: %q", got)
	}
	webtest.WantStatus(t, b.Get("/static/"+static.Version()+"/..%2f..%2fgo.mod"), http.StatusNotFound)
}

func TestMetricsNameRoutesNotAddresses(t *testing.T) {
	s := webtest.Start(t)
	b := s.Browser()
	b.Get("/api/v1/tasks/some-secret-name")
	b.Get("/no-such-page-anywhere")
	text := webtest.Body(t, b.Get("/metrics"))
	for _, want := range []string{"warpboard_http_requests_total", "warpboard_streams_open 0", "go_goroutines"} {
		if !strings.Contains(text, want) {
			t.Errorf("metrics lack %s", want)
		}
	}
	if strings.Contains(text, "some-secret-name") || strings.Contains(text, "no-such-page") {
		t.Errorf("metrics hold addresses:\n%s", text)
	}
}
