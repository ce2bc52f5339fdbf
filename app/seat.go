package app

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// seat is a listener that can be given to another process. The one who gave it leaves: it accepts nothing more, and answers
// what it has accepted.
type seat struct {
	net.Listener
	closed  chan struct{}
	closing sync.Once
}

// newSeat returns a seat for a listener; a nil one stays nil.
func newSeat(ln net.Listener) *seat {
	if ln == nil {
		return nil
	}
	return &seat{Listener: ln, closed: make(chan struct{})}
}

// Accept waits for a connection; after leave it waits for Close.
func (s *seat) Accept() (net.Conn, error) {
	conn, err := s.Listener.Accept()
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return conn, err
	}
	<-s.closed
	return nil, net.ErrClosed
}

// Close closes this process's hold on the listener.
func (s *seat) Close() error {
	s.closing.Do(func() { close(s.closed) })
	return s.Listener.Close()
}

// leave ends accepting.
func (s *seat) leave() {
	if tcp, ok := s.Listener.(*net.TCPListener); ok {
		_ = tcp.SetDeadline(time.Unix(1, 0))
	}
}

// pass sends the listener's descriptor.
func (s *seat) pass(to *net.UnixConn) error {
	raw, ok := s.Listener.(syscall.Conn)
	if !ok {
		return errors.New("the listener has no descriptor")
	}
	control, err := raw.SyscallConn()
	if err != nil {
		return fmt.Errorf("the listener's descriptor: %w", err)
	}
	var sent error
	err = control.Control(func(fd uintptr) { // not File, which would make accepting block in both processes
		_, _, sent = to.WriteMsgUnix([]byte{passed}, unix.UnixRights(int(fd)), nil)
	})
	if err = errors.Join(err, sent); err != nil {
		return fmt.Errorf("passing the listener on: %w", err)
	}
	return nil
}
