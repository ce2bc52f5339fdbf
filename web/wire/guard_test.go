package wire

import (
	"errors"
	"log/slog"
	"net"
	"os"
	"syscall"
	"testing"
)

// poor is a listener of a machine that has run out of what an accept needs.
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

func TestAcceptWaitsForBetterTimes(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := NewGuard(&poor{ln, []error{syscall.EMFILE, syscall.ENFILE, syscall.ECONNABORTED}}, NewTally(9, 9), nil, slog.New(slog.DiscardHandler))
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
