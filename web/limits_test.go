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

	"warpboard/internal/test/tier"
	"warpboard/web"
	"warpboard/web/site"
	"warpboard/web/webtest"
)

// dial connects to the site from the given local address, such as 127.0.0.9.
func dial(s *webtest.Site, t *testing.T, address string) net.Conn {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}, Timeout: 60 * time.Second}
	conn, err := dialer.Dial("tcp", s.Cfg.Settings.Addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(60 * time.Second))
	return conn
}

// from sends one request from the given local address. It returns the connection when the response header has arrived.
func from(s *webtest.Site, t *testing.T, address, request string) (net.Conn, *http.Response) {
	t.Helper()
	conn := dial(s, t, address)
	io.WriteString(conn, request)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatalf("%s: %v", address, err)
	}
	return conn, resp
}

// noProxies makes the site count the loopback addresses as visitors, not as trusted proxies.
func noProxies(c *web.Config) { c.TrustedProxies = []string{"192.0.2.1"} }

func TestOneAddressGetsItsShareOfStreamsAndOthersTheirs(t *testing.T) {
	s := webtest.Start(t, func(c *web.Config) { c.Limits = site.Limits{Streams: 5, StreamsEach: 2} })
	watch := func(visitor string) (net.Conn, int) {
		conn, resp := from(s, t, "127.0.0.1", "GET /devices/events HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: "+visitor+"\r\n\r\n")
		return conn, resp.StatusCode
	}
	first, _ := watch("203.0.113.1")
	watch("6.6.6.6, 203.0.113.1") // the part of the header that the visitor made up does not count
	for visitor, want := range map[string]int{"203.0.113.1": 429, "7.7.7.7, 203.0.113.1": 429, "203.0.113.2": 200, "2001:db8::1": 200} {
		if _, got := watch(visitor); got != want {
			t.Errorf("%s: %d, want %d", visitor, got, want)
		}
	}
	watch("2001:db8::2")
	if _, got := watch("2001:db8::3"); got != 429 {
		t.Errorf("a third stream of one IPv6 network: %d", got)
	}
	if _, got := watch("203.0.113.3"); got != 429 {
		t.Errorf("a stream too many in all: %d", got)
	}
	first.Close()
	tier.Until(t, "a stream that ended makes room", func() bool { _, got := watch("203.0.113.1"); return got == 200 })
}

func TestOneAddressGetsItsShareOfConnections(t *testing.T) {
	const request = "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"
	s := webtest.Start(t, noProxies, func(c *web.Config) { c.Limits = site.Limits{Connections: 5, ConnectionsEach: 2} })
	first, _ := from(s, t, "127.0.0.2", request)
	if _, resp := from(s, t, "127.0.0.2", request); resp.Close {
		t.Error("a connection is not kept although there is room")
	}
	if _, resp := from(s, t, "127.0.0.2", request); resp.StatusCode != 429 || resp.Header.Get("Retry-After") == "" {
		t.Errorf("a third connection of one address: %s", resp.Status)
	}
	for _, address := range []string{"127.0.0.3", "127.0.0.3", "127.0.0.4"} {
		dial(s, t, address)
	}
	if _, resp := from(s, t, "127.0.0.5", request); resp.StatusCode != 503 {
		t.Errorf("a connection too many in all: %s", resp.Status)
	}
	first.Close()
	tier.Until(t, "a closed connection makes room", func() bool {
		_, resp := from(s, t, "127.0.0.2", request)
		if resp.StatusCode == 200 && !resp.Close {
			t.Error("a connection is kept although others may want it")
		}
		return resp.StatusCode == 200
	})
}

func TestAProxyOnThisMachineIsNotOneVisitor(t *testing.T) {
	s := webtest.Start(t, func(c *web.Config) { c.Limits = site.Limits{ConnectionsEach: 1, RequestsEach: 1, StreamsEach: 1} })
	for range 4 {
		if _, resp := from(s, t, "127.0.0.1", "GET /devices/events HTTP/1.1\r\nHost: a\r\n\r\n"); resp.StatusCode != 200 {
			t.Errorf("a proxy that says nothing of its visitors is answered %s", resp.Status)
		}
	}
}

func TestHalfSentBodiesHaveAShareAndGiveItBack(t *testing.T) {
	s := webtest.Start(t, noProxies, func(c *web.Config) {
		c.Limits = site.Limits{VisitorBodyBytes: 40 << 10, VisitorBodyBytesEach: 24 << 10, RequestsEach: 3,
			SlowRequestsEach: 3}
	})
	const head = "POST /auth/developer HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 60000\r\n\r\n"
	_, resp := from(s, t, "127.0.0.2", head+strings.Repeat("x", 30<<10))
	if resp.StatusCode != 429 {
		t.Errorf("30 kB of one address: %s", resp.Status)
	}
	half := func(address string, size int) net.Conn {
		conn := dial(s, t, address)
		io.WriteString(conn, head+strings.Repeat("x", size))
		return conn
	}
	var conns []net.Conn
	for n := range 3 {
		conns = append(conns, half(fmt.Sprintf("127.0.0.%d", 3+n), 10<<10))
	}
	held := func() int { return s.Shared().Limiter.InUse(site.VisitorResource(site.BodiesResource)) }
	tier.Until(t, "all are being read", func() bool { return held() == 3*12<<10 })
	if _, resp := from(s, t, "127.0.0.9", head+strings.Repeat("x", 10<<10)); resp.StatusCode != 503 {
		t.Errorf("too much in all: %s", resp.Status)
	}
	// 403: the body was read
	if _, resp := from(s, t, "127.0.0.9", strings.Replace(head, "60000", "3000", 1)+strings.Repeat("x", 3000)); resp.StatusCode != 403 {
		t.Errorf("a small body in the meantime: %s", resp.Status)
	}
	conns[1].Close()
	tier.Until(t, "one has gone", func() bool { return held() == 2*12<<10 })
	underWay := func() int { return s.Shared().Limiter.InUse(site.RequestsResource) }
	tier.Until(t, "its request has ended, too", func() bool { return underWay() == 2 })
	conns = append(conns, half("127.0.0.3", 1), half("127.0.0.3", 1))
	tier.Until(t, "three requests of one address are under way, and one of another", func() bool { return underWay() == 4 })
	if _, resp := from(s, t, "127.0.0.3", "GET / HTTP/1.1\r\nHost: a\r\n\r\n"); resp.StatusCode != 429 {
		t.Errorf("the fourth request of one address: %s", resp.Status)
	}
	if _, resp := from(s, t, "127.0.0.3", "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"); resp.StatusCode != 200 {
		t.Errorf("the operator's own question: %s", resp.Status)
	}
	for _, conn := range conns {
		conn.Close()
	}
	tier.Until(t, "everything is given back", func() bool { return held() == 0 })
	tier.Until(t, "nothing is under way", func() bool { return underWay() == 0 })
}

func TestABodyThatStopsComingIsGivenUp(t *testing.T) {
	s := webtest.Start(t, func(c *web.Config) { c.Limits = site.Limits{MaxBodyPause: 50 * time.Millisecond} })
	answer := s.Raw(t, "POST /auth/developer HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nxx")
	if !strings.HasPrefix(answer, "HTTP/1.1 408 ") || !strings.Contains(answer, "Connection: close") {
		t.Errorf("answered %.200q", answer)
	}
}
