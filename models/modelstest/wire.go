package modelstest

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// FaultyProxy forwards connections to the test process's PostgreSQL. A test can freeze and cut the connections.
type FaultyProxy struct {
	URL string // URL of an empty schema, with the proxy as host

	t      testing.TB
	real   string // path of the PostgreSQL server's socket
	own    string // path of the proxy's socket
	frozen sync.RWMutex

	mu    sync.Mutex
	ln    net.Listener // nil between Cut and Restore
	conns []net.Conn
}

const pgSocket = ".s.PGSQL.5432"

// NewWire returns a proxy that forwards connections until the end of the test.
func NewWire(t testing.TB) *FaultyProxy {
	t.Helper()
	direct := PostgresURL(t)
	server, err := start()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "wire") // t.TempDir() is too long for the name of a socket
	if err != nil {
		t.Fatal(err)
	}
	w := &FaultyProxy{t: t, real: filepath.Join(server.dir, pgSocket), own: filepath.Join(dir, pgSocket),
		URL: strings.Replace(direct, "host="+server.dir, "host="+dir, 1)}
	w.Restore()
	t.Cleanup(func() {
		w.Cut()
		os.RemoveAll(dir)
	})
	return w
}

// Freeze stops all traffic. Connections stay open.
func (w *FaultyProxy) Freeze() { w.frozen.Lock() }

// Thaw resumes all traffic.
func (w *FaultyProxy) Thaw() { w.frozen.Unlock() }

// Cut closes every connection and refuses new ones, like a restarting server.
func (w *FaultyProxy) Cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ln != nil {
		w.ln.Close()
		w.ln = nil
	}
	for _, c := range w.conns {
		c.Close()
	}
	w.conns = nil
}

// Restore accepts connections again after Cut.
func (w *FaultyProxy) Restore() {
	w.t.Helper()
	ln, err := net.Listen("unix", w.own)
	if err != nil {
		w.t.Fatal(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ln = ln
	go w.accept(ln)
}

func (w *FaultyProxy) accept(ln net.Listener) {
	for {
		near, err := ln.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("unix", w.real)
		if err != nil {
			near.Close()
			continue
		}
		w.mu.Lock()
		w.conns = append(w.conns, near, far)
		w.mu.Unlock()
		go w.pump(near, far)
		go w.pump(far, near)
	}
}

func (w *FaultyProxy) pump(from, to net.Conn) {
	defer to.Close()
	io.Copy(to, gated{from, &w.frozen})
}

// gated is a reader that returns data only while its gate is unlocked.
type gated struct {
	from io.Reader
	gate *sync.RWMutex
}

func (g gated) Read(p []byte) (int, error) {
	n, err := g.from.Read(p)
	g.gate.RLock()
	defer g.gate.RUnlock()
	return n, err
}
