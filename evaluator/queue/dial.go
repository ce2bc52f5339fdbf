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

// redialDelay is the pause before dialing a server again that did not respond.
const redialDelay = 2 * time.Second

// connect connects to a server, and retries until ctx ends if it does not respond. nats.go itself retries a first
// connection only a few times.
func connect(
	ctx context.Context, address string, log *slog.Logger, absent string, opts []nats.Option,
) (*nats.Conn, error) {
	for {
		nc, err := nats.Connect(address, opts...)
		if err == nil || !errors.Is(err, nats.ErrNoServers) && !isTimeout(err) && !isNoWebSocket(err) {
			return nc, err
		}
		log.Warn(absent, "err", err, "again_in", redialDelay)
		if ended := sleepContext(ctx, redialDelay); ended != nil {
			return nil, fmt.Errorf("%w (%w)", err, ended)
		}
	}
}

func dialURL(ctx context.Context, cfg WorkerConfig, log *slog.Logger, lost func()) (*nats.Conn, error) {
	opts := clientOptions(cfg.Name, log, lost)
	if cfg.Secret != "" {
		opts = append(opts, nats.UserInfo(cfg.Name, cfg.Secret))
	}
	if cfg.CAFile != "" {
		opts = append(opts, nats.RootCAs(cfg.CAFile))
	}
	address, opts := webSocketAddress(cfg.URL, opts)
	nc, err := connect(ctx, address, log.With("url", cfg.URL),
		"the site does not answer: is it running, with its database, and is this its address (of its --nats-listen, for --nats-url)?", opts)
	if errors.Is(err, nats.ErrAuthorization) {
		return nil, fmt.Errorf("queue: %s refused worker %q: its secret is wrong or was revoked, its join token is used up, or another worker has this name: choose one with --worker-name: %w", cfg.URL, cfg.Name, err)
	} else if err != nil {
		return nil, fmt.Errorf("queue: connect worker %q to %s: %w", cfg.Name, cfg.URL, err)
	}
	return nc, nil
}

// webSocketAddress converts the URL of a site to its WebSocket URL. It returns other addresses unchanged.
func webSocketAddress(address string, opts []nats.Option) (string, []nats.Option) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" {
		return address, opts
	}
	scheme := map[string]string{"https": "wss", "http": "ws"}[u.Scheme]
	// The addresses that the server announces are ignored: they have its own port, which the worker may not reach.
	return scheme + "://" + u.Host, append(opts, nats.ProxyPath(strings.TrimSuffix(u.Path, "/")+job.WorkerPath), nats.IgnoreDiscoveredServers())
}

// isNoWebSocket reports whether err is nats.go's error for an HTTP response without an upgrade, such as a proxy's 502
// while the site restarts. nats.go does not export it.
func isNoWebSocket(err error) bool {
	return strings.Contains(err.Error(), "invalid websocket connection")
}

// sleepContext waits. It returns the error of ctx if ctx ends first.
func sleepContext(ctx context.Context, wait time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(wait):
		return nil
	}
}

// isTimeout reports whether err means that no response arrived: the host is unreachable, the site cannot check the
// worker now, or the connection broke.
func isTimeout(err error) bool {
	var network net.Error
	for _, cut := range []error{nats.ErrTimeout, io.EOF, syscall.EPIPE, syscall.ECONNRESET} {
		if errors.Is(err, cut) {
			return true
		}
	}
	return errors.As(err, &network) && network.Timeout()
}
