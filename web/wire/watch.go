package wire

import (
	"errors"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// Watch closes a channel when the other side is gone. Without it a closed page is only noticed at the
// second heartbeat after it. It peeks and eats no byte. What is not plain TCP cannot be watched this way;
// heartbeats must do there, and the channel stays open.
func (o *Writer) Watch() <-chan struct{} {
	gone := make(chan struct{})
	go watch(o.chunks.conn, gone)
	return gone
}

func watch(conn net.Conn, gone chan<- struct{}) {
	sc, ok := conn.(syscall.Conn)
	if !ok {
		return
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return
	}
	conn.SetReadDeadline(time.Time{}) // the request's deadline must not end the watch
	peek(raw)
	close(gone)
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

// OnLeaving calls fn when the other side of a connection goes away before stop is called. Until then
// nothing else may read from the connection. What is not plain TCP cannot be watched.
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
	var watching sync.WaitGroup
	watching.Go(func() {
		n, err := peek(raw)
		if n == 0 && !errors.Is(err, os.ErrDeadlineExceeded) {
			fn()
		}
	})
	return func() {
		conn.SetReadDeadline(time.Unix(1, 0)) // ends the watch
		watching.Wait()
		conn.SetReadDeadline(time.Time{})
	}
}
