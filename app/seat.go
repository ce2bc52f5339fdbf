package app

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
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
	// DeadlineExceeded can only come from leave. Returning it would end the server's loop, and with it the connections
	// that are still open.
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
		// A time in the past wakes an Accept that waits. The kernel's queue is shared with the next process, which takes
		// what comes.
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

// listen gives the listener of systemd, of the process before, or a new one.
func (t *tenure) listen(addr string) (*seat, error) {
	given, err := activated(os.Getenv, firstActivated)
	if err != nil {
		return nil, err
	}
	return t.sit(addr, given)
}

// sit is listen where systemd gave a listener, or none (nil). The process before has systemd's, too, then: one of both is enough.
func (t *tenure) sit(addr string, given net.Listener) (*seat, error) {
	if t.before != nil {
		ln := t.inherit()
		if given == nil && ln != nil && isAt(ln, addr) {
			return newSeat(ln), nil
		}
		if ln != nil {
			ln.Close()
		}
	}
	if given != nil {
		return newSeat(given), nil
	}
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w (is another server running there? choose another address with --addr or WARPBOARD_ADDR)", addr, err)
	}
	return newSeat(ln), nil
}

// inherit asks the process before for its listener; nil when it is gone.
// Any answer but the right one means: listen for itself. The sender is a process of the same user (the socket is 0600),
// and is believed.
func (t *tenure) inherit() net.Listener {
	if _, err := t.before.Write([]byte{ready}); err != nil {
		return nil
	}
	if err := t.before.SetReadDeadline(time.Now().Add(answerIn)); err != nil {
		return nil
	}
	// Room for one descriptor: the kernel closes what does not fit.
	data, rights := make([]byte, 1), make([]byte, unix.CmsgSpace(4))
	n, m, _, _, err := t.before.ReadMsgUnix(data, rights)
	if err != nil || n != 1 || data[0] != passed {
		return nil
	}
	messages, err := unix.ParseSocketControlMessage(rights[:m])
	if err != nil || len(messages) != 1 {
		return nil
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return nil
	}
	return fromDescriptor(fds[0])
}

func fromDescriptor(fd int) net.Listener {
	unix.CloseOnExec(fd)
	file := os.NewFile(uintptr(fd), "listener")
	defer file.Close()
	ln, err := net.FileListener(file)
	if err != nil {
		return nil
	}
	return ln
}

// isAt reports whether a listener is at the address that the settings say.
func isAt(ln net.Listener, addr string) bool {
	want, err := net.ResolveTCPAddr("tcp", addr)
	at, ok := ln.Addr().(*net.TCPAddr)
	if err != nil || !ok || want.Port != at.Port {
		return false
	}
	return want.IP.Equal(at.IP) || (want.IP == nil || want.IP.IsUnspecified()) && at.IP.IsUnspecified()
}

// firstActivated is the descriptor of the first socket that systemd passes on (sd_listen_fds).
const firstActivated = 3

// activated is the socket of a systemd socket unit; nil without one.
func activated(getenv func(string) string, first int) (net.Listener, error) {
	n, pid := getenv("LISTEN_FDS"), getenv("LISTEN_PID")
	// A variable that was meant for another process (a parent that did not clear it) is left alone.
	if n == "" || pid != "" && pid != strconv.Itoa(os.Getpid()) {
		return nil, nil
	}
	if n != "1" {
		return nil, fmt.Errorf("LISTEN_FDS is %s: one socket is wanted", n)
	}
	ln := fromDescriptor(first)
	if ln == nil {
		return nil, errors.New("LISTEN_FDS: the descriptor that was passed on is no listening socket")
	}
	return ln, nil
}
