package app

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// inherit asks the process before for its listener; nil when it is gone.
func (t *tenure) inherit() net.Listener {
	if _, err := t.before.Write([]byte{ready}); err != nil {
		return nil
	}
	if err := t.before.SetReadDeadline(time.Now().Add(answerIn)); err != nil {
		return nil
	}
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
