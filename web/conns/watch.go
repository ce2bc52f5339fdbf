package conns

import (
	"errors"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// hangUpEvery is how late a leave is noticed of a connection from which something is left to read: the next request, or the
// farewell that TLS sends before it closes.
const hangUpEvery = 250 * time.Millisecond

// Watch closes a channel when the other side is gone. Without it a closed page is only noticed at the second heartbeat after
// it. It peeks without consuming bytes. Other connections than TCP cannot be watched this way: the channel stays open, and
// only heartbeats remain.
func (o *Writer) Watch() <-chan struct{} {
	gone := make(chan struct{})
	OnLeaving(o.chunks.conn, func() { close(gone) })
	return gone
}

// leaves blocks until the other side is gone, which it reports, or this one: the connection is closed, its read deadline passes
// or done is closed.
func leaves(raw syscall.RawConn, done <-chan struct{}) bool {
	if n, err := peek(raw); n == 0 {
		return !errors.Is(err, os.ErrDeadlineExceeded)
	}
	tick := time.NewTicker(hangUpEvery)
	defer tick.Stop()
	for {
		if gone, err := hungUp(raw); gone || err != nil {
			return gone
		}
		select {
		case <-done:
			return false
		case <-tick.C:
		}
	}
}

// peek blocks until there is something to read, the other side is gone, or the read deadline passes. It
// returns the number of bytes seen, 0 at the end of the stream, and the error of reading.
func peek(raw syscall.RawConn) (n int, err error) {
	var b [1]byte
	waitErr := raw.Read(func(fd uintptr) bool {
		n, _, err = syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK)
		return err != syscall.EAGAIN && err != syscall.EINTR
	})
	if waitErr != nil {
		return 0, waitErr
	}
	return n, err
}

// hungUp reports whether the other side has closed, however much of it is unread.
func hungUp(raw syscall.RawConn) (gone bool, err error) {
	controlErr := raw.Control(func(fd uintptr) {
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
		if _, err = unix.Poll(poll, 0); errors.Is(err, unix.EINTR) {
			err = nil
		}
		gone = poll[0].Revents&(unix.POLLRDHUP|unix.POLLHUP|unix.POLLERR) != 0
	})
	return gone, errors.Join(controlErr, err)
}

// OnLeaving calls fn when the other side of a connection goes away before stop is called. Until then
// nothing else may read from the connection. What is neither TCP nor TLS over it cannot be watched.
func OnLeaving(conn net.Conn, fn func()) (stop func()) {
	sc, ok := conn.(syscall.Conn)
	if !ok {
		return func() {}
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return func() {}
	}
	conn.SetReadDeadline(time.Time{})
	done := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		if leaves(raw, done) {
			fn()
		}
	})
	return func() {
		conn.SetReadDeadline(time.Unix(1, 0)) // ends the watch
		close(done)
		watching.Wait()
		conn.SetReadDeadline(time.Time{})
	}
}
