package queue

import (
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

const serverReady = 10 * time.Second

// host runs the embedded server.
type host struct {
	cfg    Config
	secret string // what the site itself shows to the server
	log    *slog.Logger
	// Log lines that strangers cause: refused logins, and the server's own messages about clients.
	refused, clients *seldom
	server           *server.Server
}

func (h *host) start() error {
	opts, err := h.options()
	if err != nil {
		return err
	}
	if err := tryListen(opts); err != nil {
		return err
	}
	if h.server, err = server.NewServer(opts); err != nil {
		return fmt.Errorf("queue: set up the embedded NATS server: %w", err)
	}
	var fatal atomic.Pointer[string]
	h.server.SetLoggerV2(serverLog{h.log, h.clients, &fatal}, false, false, false)
	h.server.Start()
	if text := fatal.Load(); text != nil {
		return fmt.Errorf("queue: start the embedded NATS server: %s", *text)
	}
	if !h.server.ReadyForConnections(serverReady) {
		return fmt.Errorf("queue: the embedded NATS server was not ready after %s", serverReady)
	}
	return nil
}

// tryListen finds out what the server would only log: that its address is taken.
// Between this and the server's own listening another program may take the port: then the site fails as it would have
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

func (h *host) stop() {
	if h.server != nil {
		h.server.Shutdown()
		h.server.WaitForShutdown()
	}
}
