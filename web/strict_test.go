package web_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"warpboard/web/site"
	"warpboard/web/webtest"
)

// TestRequestsThatTwoServersReadDifferentlyAreRefused checks that each such request gets one 400 response and closes
// the connection. Otherwise a proxy could take its rest for the request of another visitor.
func TestRequestsThatTwoServersReadDifferentlyAreRefused(t *testing.T) {
	s := webtest.Start(t)
	const smuggled = "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"
	post := func(headers, body string) string {
		return "POST /auth/developer HTTP/1.1\r\nHost: a\r\n" + headers + "\r\n" + body
	}
	for name, request := range map[string]string{
		"two Hosts":                "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
		"no Host":                  "GET / HTTP/1.1\r\nAccept: */*\r\n\r\n",
		"a Host that is a list":    "GET / HTTP/1.1\r\nHost: a, b\r\n\r\n",
		"a Host with a path":       "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n",
		"an absolute target":       "GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n",
		"a target without a slash": "GET tasks HTTP/1.1\r\nHost: a\r\n\r\n",
		"an asterisk":              "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n",
		"a fragment":               "GET /#x HTTP/1.1\r\nHost: a\r\n\r\n",
		"a protocol of its own":    "GET / HTTP/1.9\r\nHost: a\r\n\r\n",
		"a head of 64 kB": "GET / HTTP/1.1\r\nHost: a\r\nX: " + strings.Repeat("x", 64<<10) +
			"\r\n\r\n",
		"64 kB of headers": "GET / HTTP/1.1\r\nHost: a\r\n" + strings.Repeat("X: y\r\n", 11<<10) +
			"\r\n",
		"a length and chunks": post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
			"0\r\n\r\n"+smuggled),
		"chunks and a length": post("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
			"0\r\n\r\n"+smuggled),
		"two lengths":          post("Content-Length: 1\r\nContent-Length: 1\r\n", "x"+smuggled),
		"a length with a sign": post("Content-Length: +1\r\n", "x"+smuggled),
		"a negative length":    post("Content-Length: -1\r\n", smuggled),
		"a list of lengths":    post("Content-Length: 1, 1\r\n", "x"+smuggled),
		"two encodings": post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
			"0\r\n\r\n"+smuggled),
		"another encoding":       post("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n"+smuggled),
		"no encoding by name":    post("Transfer-Encoding: identity\r\n", smuggled),
		"an encoding with a tab": post("Transfer-Encoding: \x0bchunked\r\n", "0\r\n\r\n"+smuggled),
		"a space before a colon": post("Transfer-Encoding : chunked\r\n", "0\r\n\r\n"+smuggled),
		"chunks in HTTP/1.0": "POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" +
			smuggled,
		"a header that goes on":           "GET / HTTP/1.1\r\nHost: a\r\nX: y\r\n z\r\n\r\n" + smuggled,
		"a length in a header's 2nd line": post("X: y\r\n Content-Length: 5\r\n", smuggled),
		"a line without CR":               "GET / HTTP/1.1\r\nHost: a\r\nX: y\nContent-Length: 5\r\n\r\n" + smuggled,
		"a CR alone":                      "GET / HTTP/1.1\r\nHost: a\r\nX: y\rContent-Length: 5\r\n\r\n" + smuggled,
		"a NUL":                           "GET / HTTP/1.1\r\nHost: a\r\nX: \x00\r\n\r\n" + smuggled,
		"a chunk that is no number":       post("Transfer-Encoding: chunked\r\n", "x\r\n\r\n"+smuggled),
		"a chunk with a sign":             post("Transfer-Encoding: chunked\r\n", "-1\r\nx\r\n0\r\n\r\n"+smuggled),
		"a chunk too large to count": post("Transfer-Encoding: chunked\r\n",
			"fffffffffffffffff\r\nx\r\n0\r\n\r\n"+smuggled),
		"a chunk larger than it says": post("Transfer-Encoding: chunked\r\n", "1\r\nxx\r\n0\r\n\r\n"+smuggled),
		"a chunk extension with LF":   post("Transfer-Encoding: chunked\r\n", "1;a\nb\r\nx\r\n0\r\n\r\n"+smuggled),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer := s.Raw(t, request)
			if !strings.HasPrefix(answer, "HTTP/1.1 400 ") || strings.Count(answer, "HTTP/1.1 ") != 1 {
				t.Errorf("answered with %.300q", answer)
			}
		})
	}
}

// TestAnUnreadBodyIsNeverTheNextRequest checks that the connection is closed if the response was sent before the body
// was read. Otherwise the rest of the body would be parsed as the next request.
func TestAnUnreadBodyIsNeverTheNextRequest(t *testing.T) {
	s := webtest.Start(t)
	const smuggled = "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"
	for name, request := range map[string]string{
		"refused for its size": "POST /auth/developer HTTP/1.1\r\nHost: a\r\nContent-Length: 1048576\r\n\r\n" +
			smuggled,
		"refused for its token": "POST /api/v1/submissions HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer wrong\r\nContent-Length: 35\r\n\r\n" + smuggled + smuggled,
		"never asked for":       "GET /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 34\r\n\r\n" + smuggled + smuggled,
		"chunks, not asked for": "GET /healthz HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n22\r\n" +
			smuggled + "\r\n0\r\n\r\n" + smuggled,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if answer := s.Raw(t, request); strings.Count(answer, "HTTP/1.1 ") != 1 ||
				!strings.Contains(answer, "Connection: close") {
				t.Errorf("answered with %.400q", answer)
			}
		})
	}
}

// TestHonestRequestsShareAConnection checks that the server reads bodies with a length and chunked bodies to their end,
// so that the connection can carry further requests.
func TestHonestRequestsShareAConnection(t *testing.T) {
	s := webtest.Start(t)
	form := "name=ada&next=/api/v1/me&_csrf=" + site.DeriveToken("secret")
	head := "Host: " + s.Cfg.Settings.Addr + "\r\nCookie: " + site.VisitorCookie +
		"=secret\r\nContent-Type: application/x-www-form-urlencoded\r\n"
	conn, err := net.Dial("tcp", s.Cfg.Settings.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(60 * time.Second))
	answers := bufio.NewReader(conn)
	for _, rest := range []string{
		fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(form), form),
		fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n8;x=y\r\n%s\r\n%x\r\n%s\r\n0\r\n\r\n", form[:8], len(form)-8,
			form[8:]),
	} {
		for range 2 {
			io.WriteString(conn, "POST /sign-out HTTP/1.1\r\n"+head+rest)
			resp, err := http.ReadResponse(answers, nil)
			if err != nil {
				t.Fatal(err)
			}
			if webtest.Body(t, resp); resp.StatusCode != http.StatusSeeOther || resp.Close {
				t.Errorf("answered %s, closing %t", resp.Status, resp.Close)
			}
		}
	}
}

// TestABodyThatIsHeldBackIsAskedForByThoseWhoMaySendIt checks that only a sender with a valid token gets "100
// Continue". curl sends "Expect: 100-continue" before a large file.
func TestABodyThatIsHeldBackIsAskedForByThoseWhoMaySendIt(t *testing.T) {
	s := webtest.NewEvalSite(t)
	const head = "POST /api/v1/submissions HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 2\r\nExpect: 100-continue\r\n"
	if answer := s.Raw(t, head+"Authorization: Bearer wrong\r\n\r\n"); !strings.HasPrefix(answer, "HTTP/1.1 401 ") {
		t.Errorf("a wrong token is answered %.100q", answer)
	}
	answer := s.Raw(t, head+"Connection: close\r\nAuthorization: Bearer "+s.Token+"\r\n\r\n{}")
	if first, then, _ := strings.Cut(answer, "\r\n\r\n"); first != "HTTP/1.1 100 Continue" ||
		!strings.HasPrefix(then, "HTTP/1.1 422 ") {
		t.Errorf("a right token is answered %.200q", answer)
	}
}
