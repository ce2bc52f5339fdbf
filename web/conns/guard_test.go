package conns

import (
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"syscall"
	"testing"
)

// poor is a listener whose first calls of Accept return the given errors, as on a machine without free file
// descriptors.
type poor struct {
	net.Listener
	errors []error
}

func (p *poor) Accept() (net.Conn, error) {
	if len(p.errors) == 0 {
		return p.Listener.Accept()
	}
	err := p.errors[0]
	p.errors = p.errors[1:]
	return nil, &net.OpError{Op: "accept", Err: os.NewSyscallError("accept4", err)}
}

func TestAcceptRetriesTemporaryErrors(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := NewLimitedListener(&poor{ln, []error{syscall.EMFILE, syscall.ENFILE, syscall.ECONNABORTED}}, limited(9, 9), nil, slog.New(slog.DiscardHandler))
	if _, err := net.Dial("tcp", ln.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Accept(); err != nil {
		t.Errorf("a passing error ended the site: %v", err)
	}
	g.Listener = &poor{ln, []error{syscall.EBADF}}
	if _, err := g.Accept(); !errors.Is(err, syscall.EBADF) {
		t.Errorf("an error for good is %v", err)
	}
	full := make([]error, 1000)
	for i := range full {
		full[i] = syscall.EMFILE
	}
	g.Listener = &poor{ln, full}
	ended := make(chan error)
	go func() { _, err := g.Accept(); ended <- err }()
	g.Close()
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Errorf("closed while waiting: %v", err)
	}
}

// TestARefusedBodyIsDrainedUntilTheAnswerIsRead checks over TCP and TLS that a client whose request is refused early
// can still read the response, and can send the rest of its body without a reset. The body is larger than the socket
// buffers.
func TestARefusedBodyIsDrainedUntilTheAnswerIsRead(t *testing.T) {
	server := httptest.NewTLSServer(http.NotFoundHandler()) // only the server's certificate is used
	defer server.Close()
	config := &tls.Config{Certificates: server.TLS.Certificates}
	listen := func() net.Listener {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		return ln
	}
	for name, test := range map[string]struct {
		ln   net.Listener
		dial func(addr string) (net.Conn, error)
	}{
		"TCP": {listen(), func(addr string) (net.Conn, error) { return net.Dial("tcp", addr) }},
		"TLS": {tls.NewListener(listen(), config), func(addr string) (net.Conn, error) {
			return tls.Dial("tcp", addr, &tls.Config{InsecureSkipVerify: true})
		}},
	} {
		guard := NewLimitedListener(test.ln, limited(9, 9), nil, slog.New(slog.DiscardHandler))
		answered := make(chan error, 1)
		go func() { answered <- answerTooEarly(guard) }()
		them, err := test.dial(test.ln.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if err := sendTooMuch(them); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		them.Close()
		if err := <-answered; err != nil {
			t.Errorf("%s: the server: %v", name, err)
		}
		guard.Close()
	}
}

// answerTooEarly answers a request of which it has read the beginning.
func answerTooEarly(guard *LimitedListener) error {
	conn, err := guard.Accept()
	if err != nil {
		return err
	}
	_, err = io.ReadFull(conn, make([]byte, len("request")))
	DrainAtClose(conn)
	_, written := io.WriteString(conn, "refused")
	return errors.Join(err, written, conn.Close())
}

func sendTooMuch(conn net.Conn) error {
	_, err := io.WriteString(conn, "request")
	answer := make([]byte, len("refused"))
	_, read := io.ReadFull(conn, answer)
	_, rest := conn.Write(make([]byte, 6<<20))
	if string(answer) != "refused" {
		err = errors.Join(err, errors.New("no answer"))
	}
	return errors.Join(err, read, rest)
}

func TestARefusedConnectionGetsAReason(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	guard := NewLimitedListener(ln, limited(1, 1), nil, slog.New(slog.DiscardHandler))
	defer guard.Close()
	var conns [2]net.Conn
	for i := range conns {
		if conns[i], err = net.Dial("tcp", ln.Addr().String()); err != nil {
			t.Fatal(err)
		}
		defer conns[i].Close()
	}
	// the request is sent before the connection is accepted
	if _, err := io.WriteString(conns[1], "GET / HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	first, err := guard.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	go guard.Accept() // refuses the second connection and waits for the next
	if answer, err := io.ReadAll(conns[1]); err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 429 ") {
		t.Errorf("a connection too many reads %q, %v", answer, err)
	}
}
