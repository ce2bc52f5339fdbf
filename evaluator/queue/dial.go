package queue

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"

	"warpboard/evaluator/job"
)

// dialAgain is the pause before a server that does not answer is tried again.
const dialAgain = 2 * time.Second

// connect waits until ctx ends for a server that does not answer. The library would try a first connection a few times only.
func connect(ctx context.Context, address string, log *slog.Logger, absent string, opts []nats.Option) (*nats.Conn, error) {
	for {
		nc, err := nats.Connect(address, opts...)
		if err == nil || !errors.Is(err, nats.ErrNoServers) && !timedOut(err) && !isNoWebSocket(err) {
			return nc, err
		}
		log.Warn(absent, "err", err, "again_in", dialAgain)
		if ended := pause(ctx, dialAgain); ended != nil {
			return nil, fmt.Errorf("%w (%w)", err, ended)
		}
	}
}

func dialURL(ctx context.Context, cfg WorkerConfig, log *slog.Logger, lost func()) (*nats.Conn, error) {
	opts := clientOptions(cfg.Name, log, lost)
	if cfg.Secret != "" {
		opts = append(opts, nats.UserInfo(cfg.Name, cfg.Secret))
	}
	if cfg.CA != "" {
		opts = append(opts, nats.RootCAs(cfg.CA))
	}
	address, opts := overHTTP(cfg.URL, opts)
	nc, err := connect(ctx, address, log.With("url", cfg.URL),
		"the site does not answer: is it running, with its database, and is this its address (of its --nats-listen, for --nats-url)?", opts)
	if errors.Is(err, nats.ErrAuthorization) {
		return nil, fmt.Errorf("queue: %s refused worker %q: its secret is wrong or was revoked, its join token is used up, or another worker has this name: choose one with --worker-name: %w", cfg.URL, cfg.Name, err)
	} else if err != nil {
		return nil, fmt.Errorf("queue: connect worker %q to %s: %w", cfg.Name, cfg.URL, err)
	}
	return nc, nil
}

// overHTTP gives the WebSocket address for that of a site, and leaves other addresses as they are.
func overHTTP(address string, opts []nats.Option) (string, []nats.Option) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" {
		return address, opts
	}
	scheme := map[string]string{"https": "wss", "http": "ws"}[u.Scheme]
	// The server announces the address of its own port, which may be out of the worker's reach.
	return scheme + "://" + u.Host, append(opts, nats.ProxyPath(strings.TrimSuffix(u.Path, "/")+job.WorkerPath), nats.IgnoreDiscoveredServers())
}

// isNoWebSocket recognizes nats.go's error for an HTTP answer without an upgrade, which has no exported value or type: a
// proxy answers 502 while the site restarts.
func isNoWebSocket(err error) bool {
	return strings.Contains(err.Error(), "invalid websocket connection")
}

// pause waits, or gives the error of ctx when that ends before.
func pause(ctx context.Context, wait time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(wait):
		return nil
	}
}

// timedOut reports whether there was no answer: from a machine that is not there, from a site that cannot check the worker now,
// or because the connection broke.
func timedOut(err error) bool {
	var network net.Error
	for _, cut := range []error{nats.ErrTimeout, io.EOF, syscall.EPIPE, syscall.ECONNRESET} {
		if errors.Is(err, cut) {
			return true
		}
	}
	return errors.As(err, &network) && network.Timeout()
}
