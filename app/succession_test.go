package app

import (
	"log/slog"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestTheNextProcessGetsTheListenerOfOneThatStops when both want the same address, and nobody else does.
func TestTheNextProcessGetsTheListenerOfOneThatStops(t *testing.T) {
	dir, log := t.TempDir()+strings.Repeat("/a-long-name", 20), slog.New(slog.DiscardHandler)
	first, err := takeData(t.Context(), dir, log)
	if err != nil {
		t.Fatal(err)
	}
	defer first.end()
	seat, err := first.listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer seat.Close()
	if _, err := takeData(t.Context(), dir, log); err == nil || !strings.Contains(err.Error(), "another warpboard is using it") {
		t.Fatalf("beside one that does not stop: %v", err)
	}
	first.stop()
	taken := make(chan *tenure)
	go func() {
		next, err := takeData(t.Context(), dir, log)
		if err != nil {
			t.Error(err)
		}
		taken <- next
	}()
	handed := make(chan struct{})
	waits(t, first)
	go func() { first.handOver(seat, log); close(handed) }()
	next := <-taken
	defer next.end()
	heir, err := next.listen(seat.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer heir.Close()
	if heir.Addr().String() != seat.Addr().String() {
		t.Errorf("it listens on %s, the one before on %s", heir.Addr(), seat.Addr())
	}
	next.served()
	<-handed
	seat.Close()
	for range 20 {
		conn, err := net.Dial("tcp", heir.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		conn.Close()
		got, err := heir.Accept()
		if err != nil {
			t.Fatal(err)
		}
		got.Close()
	}
}

// waits returns when a process waits for this one.
func waits(t *testing.T, of *tenure) {
	t.Helper()
	for t.Context().Err() == nil {
		of.mu.Lock()
		next := of.next
		of.mu.Unlock()
		if next != nil {
			return
		}
	}
}

func TestAProcessThatNobodyWaitsForEndsAtOnceAndOneThatDiesIsForgotten(t *testing.T) {
	dir, log := t.TempDir(), slog.New(slog.DiscardHandler)
	first, err := takeData(t.Context(), dir, log)
	if err != nil {
		t.Fatal(err)
	}
	seat, err := first.listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer seat.Close()
	first.stop()
	for range 2 { // the second one takes the place of the first, which died
		knocked := knock(dir)
		if knocked == nil {
			t.Fatal("nobody may wait")
		}
		waits(t, first)
		if stopping, followed := first.handingOver(); !stopping || !followed {
			t.Errorf("while one waits: stopping %v, followed %v", stopping, followed)
		}
		if other := knock(dir); other != nil {
			t.Error("two wait at the same time")
		}
		knocked.Close()
		if stopping, followed := first.handingOver(); !stopping || followed {
			t.Errorf("after it died: stopping %v, followed %v", stopping, followed)
		}
	}
	first.handOver(seat, log) // returns
	first.end()
	next, err := takeData(t.Context(), dir, log)
	if err != nil {
		t.Fatal(err)
	}
	next.end()
}

// TestASocketOfSystemdIsServedAndNotTheOneBefore: both are one, and what is not served is closed.
func TestASocketOfSystemdIsServedAndNotTheOneBefore(t *testing.T) {
	given, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := pair(t)
	go func() {
		if hear(theirs) == ready {
			_ = newSeat(given).pass(theirs)
		}
	}()
	before := descriptors(t)
	got, err := (&tenure{before: ours}).sit(given.Addr().String(), given)
	if err != nil || got.Listener != given {
		t.Fatalf("%v, %v", got, err)
	}
	if after := descriptors(t); after > before {
		t.Errorf("%d descriptors are open, %d before", after, before)
	}
	got.Close()
}

// pair is a connection between two processes.
func pair(t *testing.T) (one, other *net.UnixConn) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	var ends [2]*net.UnixConn
	for i, fd := range fds {
		file := os.NewFile(uintptr(fd), "pair")
		conn, err := net.FileConn(file)
		if err != nil {
			t.Fatal(err)
		}
		file.Close()
		ends[i] = conn.(*net.UnixConn)
		t.Cleanup(func() { conn.Close() })
	}
	return ends[0], ends[1]
}

// descriptors counts what this process has open.
func descriptors(t *testing.T) (n int) {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
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
		"too many":   {"2", "", false, "one socket is wanted"},
		"no process": {"1", "", true, ""},
	} {
		fd, err := unix.Dup(int(file.Fd()))
		if err != nil {
			t.Fatal(err)
		}
		got, err := activated(func(key string) string {
			return map[string]string{"LISTEN_FDS": test.fds, "LISTEN_PID": test.pid}[key]
		}, fd)
		if (got != nil) != test.taken || (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
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
	if isAt(ln, "127.0.0.1:1") || !isAt(ln, ln.Addr().String()) {
		t.Error("addresses are mixed up")
	}
}
