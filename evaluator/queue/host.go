package queue

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

const serverReady = 10 * time.Second

// broken says that the queue's folder cannot be used as it is. An error of any other kind has a cause that
// setting the folder aside would not take away.
type broken struct{ error }

func (b broken) Unwrap() error { return b.error }

// host runs the embedded server. It can be stopped and started again: the connections of this process find
// the new one, because they ask the host, and so do remote workers, at the same address.
//
// start and stop are called by Open, then by the goroutine of Queue.watch alone, and by Close after that has ended. mu
// lets others (connections, Kick, Health) read server meanwhile: it is nil between stop and start, for up to serverReady.
type host struct {
	cfg    Config
	secret string // what the site itself shows to the server
	log    *slog.Logger
	ill    func(error)
	// What strangers cause: refused logins, and what the server itself says of its clients.
	refused, clients *seldom

	mu     sync.Mutex
	server *server.Server
	port   int      // where it listens, once it did
	stored []string // the streams that the folder held before the last start
}

// InProcessConn connects to the server of this moment.
func (h *host) InProcessConn() (net.Conn, error) {
	if ns := h.current(); ns != nil {
		return ns.InProcessConn()
	}
	return nil, errors.New("the embedded NATS server is being started again")
}

func (h *host) current() *server.Server {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.server
}

// start starts the server over what the folder holds.
func (h *host) start() (err error) {
	if h.cfg.Dir == "" {
		return errors.New("queue: the embedded NATS server needs a directory")
	}
	opts, err := h.options()
	if err != nil {
		return err
	}
	if err := tryListen(opts); err != nil {
		return err
	}
	stored, err := h.streams()
	if err != nil {
		return err
	}
	ns, err := server.NewServer(opts)
	if err != nil {
		return fmt.Errorf("queue: set up the embedded NATS server: %w", err)
	}
	var fatal atomic.Pointer[string]
	// The logger is how the server tells of what it could not open; it must be set before Start, which reads the folder.
	ns.SetLoggerV2(serverLog{h.log, h.clients, &fatal, h.ill}, false, false, false)
	ns.Start()
	if text := fatal.Load(); text != nil || !ns.JetStreamEnabled() || !ns.ReadyForConnections(serverReady) {
		ns.Shutdown()
		ns.WaitForShutdown()
		why := fmt.Sprintf("it was not ready after %s", serverReady)
		if text != nil {
			why = *text
		}
		return broken{fmt.Errorf("queue: start the embedded NATS server over %s: %s", h.cfg.Dir, why)}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.server, h.stored = ns, stored
	if addr, ok := ns.Addr().(*net.TCPAddr); ok {
		h.port = addr.Port
	}
	return nil
}

// tryListen finds out what the server would only log: that its address is taken.
// Between this and the server's own listening somebody else may take the port: then the site fails as it would have
// without.
func tryListen(opts *server.Options) error {
	if opts.DontListen {
		return nil
	}
	l, err := net.Listen("tcp", net.JoinHostPort(opts.Host, strconv.Itoa(max(opts.Port, 0))))
	if err != nil {
		return fmt.Errorf("queue: listen for workers: %w", err)
	}
	return l.Close()
}

// streams lists the streams that the folder holds, or held: the server skips what it cannot read.
func (h *host) streams() ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(h.cfg.Dir, server.JetStreamStoreDir, server.DEFAULT_GLOBAL_ACCOUNT, "streams"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, broken{fmt.Errorf("queue: read the folder %s: %w", h.cfg.Dir, err)}
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, nil
}

// stop ends the server; its files are complete then.
// server is nil before it shuts down, so that nobody connects to one that ends. Waiting is not optional: the next start
// reads files that this one still writes.
func (h *host) stop() {
	h.mu.Lock()
	ns := h.server
	h.server = nil
	h.mu.Unlock()
	if ns != nil {
		ns.Shutdown()
		ns.WaitForShutdown()
	}
}

// setAside puts the folder out of the way, for a person to look at, and removes the one that was set aside
// before it.
// At most one folder is kept: a disk that breaks the queue every night must not fill up with what nobody reads.
func (h *host) setAside(now time.Time) (aside string, err error) {
	older, err := filepath.Glob(h.cfg.Dir + ".broken-*")
	if err != nil {
		return "", fmt.Errorf("queue: look for folders set aside: %w", err)
	}
	aside = h.cfg.Dir + ".broken-" + now.UTC().Format("20060102T150405.000")
	if err := os.Rename(h.cfg.Dir, aside); err != nil {
		return "", fmt.Errorf("queue: set the folder aside: %w", err)
	}
	for _, old := range older {
		err = errors.Join(err, os.RemoveAll(old))
	}
	if err != nil {
		h.log.Warn("a folder that was set aside earlier is left", "err", err)
	}
	return aside, nil
}
