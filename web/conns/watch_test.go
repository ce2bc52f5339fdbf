package conns

import (
	"crypto/tls"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"warpboard/internal/test/tier"
)

// TestOnDisconnectDetectsAClosedConnection checks TCP and TLS, also if unread data precedes the end of the connection:
// another request, or the closing message of TLS.
func TestOnDisconnectDetectsAClosedConnection(t *testing.T) {
	server := httptest.NewTLSServer(http.NotFoundHandler()) // only the server's certificate is used
	defer server.Close()
	config := &tls.Config{Certificates: server.TLS.Certificates}
	for name, test := range map[string]struct {
		encrypted bool
		more      string // sent after the first request
	}{"TCP": {}, "TCP and another request": {more: "GET /"}, "TLS": {encrypted: true}, "TLS and another request": {true, "GET /"}} {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		dial := func() (net.Conn, error) { return net.Dial("tcp", ln.Addr().String()) }
		listener := ln
		if test.encrypted {
			listener = tls.NewListener(ln, config)
			dial = func() (net.Conn, error) {
				return tls.Dial("tcp", ln.Addr().String(), &tls.Config{InsecureSkipVerify: true})
			}
		}
		guard := NewLimitedListener(listener, limited(9, 9), nil, slog.New(slog.DiscardHandler))
		caller, left, stayed := make(chan net.Conn, 1), make(chan struct{}), make(chan struct{}, 1)
		go func() {
			conn, err := dial()
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = io.WriteString(conn, "request")
			caller <- conn
		}()
		conn, err := guard.Accept()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(conn, make([]byte, len("request"))); err != nil {
			t.Fatal(err)
		}
		OnDisconnect(conn, func() { stayed <- struct{}{} })() // this watch is stopped at once and must not call fn
		stop := OnDisconnect(conn, func() { close(left) })
		them := <-caller
		_, _ = io.WriteString(them, test.more)
		select {
		case <-left:
			t.Errorf("%s: who stays has left", name)
			continue
		case <-time.After(2 * hangUpCheckInterval):
		}
		began := time.Now()
		them.Close()
		select {
		case <-left:
			t.Logf("%s: noticed after %s", name, time.Since(began).Round(time.Microsecond))
		case <-time.After(tier.Patience()):
			t.Errorf("%s: no one noticed", name)
		}
		stop()
		if len(stayed) > 0 {
			t.Errorf("%s: a watch that was stopped went on", name)
		}
		conn.Close()
		guard.Close()
	}
}
