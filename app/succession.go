package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// A site that restarts without being away. The process that stops serves pages until its worker is done and its queue is
// closed. Then it frees the data directory for the next process, which waits for that, and goes on with pages alone: what
// is submitted is in the database. When the next one is ready it gets the listening socket itself, so that no connection
// is refused in between, and the old one ends.
//
//	next → old   connects to the socket "next" in the data directory; answered with mayWait while the old one stops, else refused
//	next → old   ready, when it has the data and wants the listener
//	old → next   a byte with the descriptor of the listener
//	next → old   serving
//
// Trap: both have the database open for a moment. Migrations only add, so the old one reads on; SQLite and PostgreSQL let
// two processes write. A next process that dies leaves the old one to end as without it, and its place to another.
const (
	mayWait = 's'
	ready   = 'l'
	passed  = 'f'
	serving = 'k'
)

const (
	nextSocket = "next"
	// answerIn is how long one of the two waits for the other: the next one migrates and opens the queue meanwhile.
	answerIn = 2 * time.Minute
	// settle is how long the old one answers what it has accepted before it closes connections that are idle.
	settle = 250 * time.Millisecond
)

// tenure is a process's hold on the data directory. The zero value holds nothing, and listens for itself.
//
// release, door and before are set by takeData, before any other goroutine has it. mu guards the rest, which answer's
// goroutine, pages (handingOver) and the end of serveSite share.
type tenure struct {
	release func()
	door    *net.UnixListener // where the next process knocks
	before  *net.UnixConn     // to the process that had the directory before and still has the listener

	mu       sync.Mutex
	stopping bool
	next     *net.UnixConn // the process that waits
	passed   bool          // it has the listener
}

// takeData takes the data directory. Where a process that stops still has it, that is waited for.
func takeData(ctx context.Context, dir string, log *slog.Logger) (*tenure, error) {
	release, err := lockData(dir)
	t := &tenure{}
	if err != nil {
		if t.before = knock(dir); t.before == nil {
			return nil, err
		}
		log.Info("the process that stops is let finish; its pages stay until this one serves", "data", dir)
		if release, err = awaitData(ctx, dir); err != nil {
			t.before.Close()
			return nil, err
		}
	}
	t.release = sync.OnceFunc(release)
	if t.door, err = openDoor(dir); err != nil {
		log.Warn("a restart will leave the site away for a moment", "err", err)
		return t, nil
	}
	go t.answer()
	return t, nil
}

// awaitData tries until the directory is free.
func awaitData(ctx context.Context, dir string) (release func(), err error) {
	// The lock has no queue: polling is what there is. Ten milliseconds is what a restart may leave the queue closed for
	// longer than it must.
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if release, err = lockData(dir); err == nil {
			return release, nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// socketIn calls use with an address of the socket that is short enough wherever the directory is.
func socketIn(dir string, use func(*net.UnixAddr) error) error {
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer folder.Close()
	return use(&net.UnixAddr{Net: "unix", Name: fmt.Sprintf("/proc/self/fd/%d/%s", folder.Fd(), nextSocket)})
}

func openDoor(dir string) (door *net.UnixListener, err error) {
	// It is this process's own socket from here on: a next one that knocks in between is sent away, and ends as without
	// one.
	_ = os.Remove(filepath.Join(dir, nextSocket)) // of a process that is gone: this one has the lock
	err = socketIn(dir, func(addr *net.UnixAddr) error {
		door, err = net.ListenUnix("unix", addr)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("--data %s: the socket for the next process cannot be made: %w", dir, err)
	}
	door.SetUnlinkOnClose(false) // by then it may be the next one's
	return door, os.Chmod(filepath.Join(dir, nextSocket), 0o600)
}

// knock connects to a process that stops; nil when there is none.
func knock(dir string) (conn *net.UnixConn) {
	err := socketIn(dir, func(addr *net.UnixAddr) (err error) {
		conn, err = net.DialUnix("unix", nil, addr)
		return err
	})
	if err != nil {
		return nil
	}
	if hear(conn) != mayWait {
		conn.Close()
		return nil
	}
	return conn
}

// hear reads one byte; 0 when none comes.
func hear(conn *net.UnixConn) byte {
	var one [1]byte
	if err := conn.SetReadDeadline(time.Now().Add(answerIn)); err != nil {
		return 0
	}
	if _, err := conn.Read(one[:]); err != nil {
		return 0
	}
	return one[0]
}

// answer lets one process wait while this one stops, and sends all others away.
func (t *tenure) answer() {
	for {
		conn, err := t.door.AcceptUnix()
		if err != nil {
			return
		}
		t.mu.Lock()
		if t.next != nil && gone(t.next) {
			t.next.Close()
			t.next = nil
		}
		// One may wait. A third process is refused as if nobody stopped: its supervisor starts it again.
		if t.stopping && t.next == nil {
			if _, err := conn.Write([]byte{mayWait}); err == nil {
				t.next, conn = conn, nil
			}
		}
		t.mu.Unlock()
		if conn != nil {
			conn.Close()
		}
	}
}

// gone reports whether the other end of a connection is closed; nothing is read from it.
func gone(conn *net.UnixConn) bool {
	raw, err := conn.SyscallConn()
	if err != nil {
		return true
	}
	closed := false
	err = raw.Control(func(fd uintptr) {
		var one [1]byte
		// Peeking leaves what the other one may have said for hear.
		n, _, err := unix.Recvfrom(int(fd), one[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
		closed = n == 0 && err == nil || errors.Is(err, unix.ECONNRESET)
	})
	return closed || err != nil
}

// handingOver reports whether this process stops, and whether another waits to take over from it.
func (t *tenure) handingOver() (stopping, followed bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.stopping, t.stopping && t.next != nil && (t.passed || !gone(t.next))
}

// stop lets the next process wait.
func (t *tenure) stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stopping = true
}

// end frees the data directory and forgets the other processes.
func (t *tenure) end() {
	t.release()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.door != nil {
		t.door.Close()
	}
	for _, conn := range []*net.UnixConn{t.before, t.next} {
		if conn != nil {
			conn.Close()
		}
	}
}

// served tells the process before that this one answers.
func (t *tenure) served() {
	if t.before != nil {
		_, _ = t.before.Write([]byte{serving}) // it notices the end of the connection as well
		t.before.Close()
	}
}

// handOver frees the data directory, and goes on until the next process serves, if one waits.
func (t *tenure) handOver(ln *seat, log *slog.Logger) {
	if t.release == nil {
		return
	}
	t.release()
	t.mu.Lock()
	next := t.next
	t.mu.Unlock()
	if next == nil || hear(next) != ready {
		return
	}
	if err := ln.pass(next); err != nil {
		log.Warn("the next process listens for itself", "err", err)
		return
	}
	t.mu.Lock()
	t.passed = true
	t.mu.Unlock()
	if hear(next) == serving {
		log.Info("the next process serves")
		ln.leave()
		// Connections that the kernel had given to this process are answered; an idle one is closed, and its client
		// connects to the next.
		time.Sleep(settle)
	}
}
