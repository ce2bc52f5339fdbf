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

// hangUpCheckInterval is the interval at which the server checks whether the client has disconnected, if the connection
// has unread data (the next request, or a closing message of TLS). Without unread data the server notices at once.
const hangUpCheckInterval = 250 * time.Millisecond

// Disconnected returns a channel that is closed when the client disconnects. Without Disconnected a disconnect is only
// noticed at the second heartbeat after it. Disconnected peeks at the connection and consumes no data. It works with
// TCP only; for other connections the channel stays open.
func (o *Writer) Disconnected() <-chan struct{} {
	gone := make(chan struct{})
	OnDisconnect(o.chunks.conn, func() { close(gone) })
	return gone
}

// waitForClose blocks until the client disconnects (true), or until the connection is closed, its read deadline passes,
// or done is closed (false).
func waitForClose(raw syscall.RawConn, done <-chan struct{}) bool {
	if n, err := waitForInput(raw); n == 0 {
		return !errors.Is(err, os.ErrDeadlineExceeded)
	}
	tick := time.NewTicker(hangUpCheckInterval)
	defer tick.Stop()
	for {
		if gone, err := isClosedByPeer(raw); gone || err != nil {
			return gone
		}
		select {
		case <-done:
			return false
		case <-tick.C:
		}
	}
}

// waitForInput blocks until there is something to read, the client has left, or the read deadline passes. It returns
// the number of bytes seen, 0 at the end of the stream, and the error of reading.
func waitForInput(raw syscall.RawConn) (n int, err error) {
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

// isClosedByPeer reports whether the client has closed the connection, even if unread data precedes the end.
func isClosedByPeer(raw syscall.RawConn) (gone bool, err error) {
	controlErr := raw.Control(func(fd uintptr) {
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
		if _, err = unix.Poll(poll, 0); errors.Is(err, unix.EINTR) {
			err = nil
		}
		gone = poll[0].Revents&(unix.POLLRDHUP|unix.POLLHUP|unix.POLLERR) != 0
	})
	return gone, errors.Join(controlErr, err)
}

// OnDisconnect calls fn when the client closes the connection before stop is called. Until then nothing else may read
// from the connection. Only TCP, and TLS over it, can be watched.
func OnDisconnect(conn net.Conn, fn func()) (stop func()) {
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
		if waitForClose(raw, done) {
			fn()
		}
	})
	return func() {
		conn.SetReadDeadline(time.Unix(1, 0)) // ends the pending read, and so the watch
		close(done)
		watching.Wait()
		conn.SetReadDeadline(time.Time{})
	}
}
