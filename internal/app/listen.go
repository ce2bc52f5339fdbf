package app

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// firstSystemdFD is the descriptor of the first socket passed by systemd (sd_listen_fds).
const firstSystemdFD = 3

// systemdOrNewListener returns the listener that systemd passes, or a new one.
func systemdOrNewListener(addr string) (net.Listener, error) {
	given, err := systemdListener(os.Getenv, firstSystemdFD)
	if err != nil || given != nil {
		return given, err
	}
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w (is another server running there? choose another address with --addr or WARPBOARD_ADDR)", addr, err)
	}
	return ln, nil
}

// systemdListener returns the socket of a systemd socket unit, or nil if there is none. systemd keeps the socket open,
// too: connections wait in the kernel while no process accepts them.
func systemdListener(getenv func(string) string, first int) (net.Listener, error) {
	n, pid := getenv("LISTEN_FDS"), getenv("LISTEN_PID")
	// The variables may be for another process, such as a parent that did not remove them.
	if n == "" || pid != "" && pid != strconv.Itoa(os.Getpid()) {
		return nil, nil
	}
	if n != "1" {
		return nil, fmt.Errorf("LISTEN_FDS is %s: expected one socket", n)
	}
	unix.CloseOnExec(first)
	file := os.NewFile(uintptr(first), "listener")
	defer file.Close()
	ln, err := net.FileListener(file)
	if err != nil {
		return nil, errors.New("LISTEN_FDS: the passed descriptor is not a listening socket")
	}
	return ln, nil
}
