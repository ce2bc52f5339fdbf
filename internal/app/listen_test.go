package app

import (
	"net"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestListenNamesABusyAddress(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	if _, err := systemdOrNewListener(ln.Addr().String()); err == nil || !strings.Contains(err.Error(), "--addr") {
		t.Errorf("listening ended with %v, want a sentence that says what to do", err)
	}
}

func TestASocketOfSystemdIsServed(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	file, err := ln.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for name, test := range map[string]struct {
		fds, pid string
		taken    bool
		err      string
	}{
		"ours":       {"1", strconv.Itoa(unix.Getpid()), true, ""},
		"another's":  {"1", "1", false, ""},
		"none":       {"", "", false, ""},
		"too many":   {"2", "", false, "expected one socket"},
		"no process": {"1", "", true, ""},
	} {
		fd, err := unix.Dup(int(file.Fd()))
		if err != nil {
			t.Fatal(err)
		}
		got, err := systemdListener(func(key string) string {
			return map[string]string{"LISTEN_FDS": test.fds, "LISTEN_PID": test.pid}[key]
		}, fd)
		if (got != nil) != test.taken || (err == nil) != (test.err == "") ||
			err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
		if got == nil {
			unix.Close(fd)
			continue
		}
		if got.Addr().String() != ln.Addr().String() {
			t.Errorf("%s: it listens on %s", name, got.Addr())
		}
		got.Close()
	}
}
