package web

import (
	"net"
	"syscall"
	"time"
)

// watch blocks until the other side of the connection is gone, then closes the channel. Without
// it a closed page is only noticed at the second heartbeat after it. It peeks and eats no byte.
// What is not plain TCP cannot be watched this way; heartbeats must do there, and gone stays open.
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
	var b [1]byte
	raw.Read(func(fd uintptr) bool {
		_, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK)
		return err != syscall.EAGAIN && err != syscall.EINTR
	})
	close(gone)
}
