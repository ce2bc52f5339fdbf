package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"warpboard/evaluator/job"
)

const (
	// requestWait is how long an answer may take; a request can be lost with its connection.
	// A site under load still answers in milliseconds; waiting longer would only delay the next try of whoever asked.
	requestWait = 2 * time.Second
	// dialAgain is the pause before a site that does not answer is tried again.
	dialAgain = 2 * time.Second
)

// WorkerConfig says how a worker reaches the site.
type WorkerConfig struct {
	Queue  *Queue // the site's queue in this process; then URL and Secret are not used
	URL    string // "tls://host:port" or "nats://host:port" of the site, or of its cluster
	CA     string // PEM file of who signed the certificate at URL; empty for who the system trusts
	Name   string // the worker's name, as its credential has it
	Secret string
	Log    *slog.Logger
}

// Conn is a worker's side. It is safe for use by several goroutines.
type Conn struct {
	name    string
	log     *slog.Logger
	nc      *nats.Conn
	dropped atomic.Int64
}

// Dial connects a worker, and waits for a site that is not up yet. A lost connection is
// restored automatically; a refused credential closes it for good. Close it when done.
func Dial(ctx context.Context, cfg WorkerConfig) (*Conn, error) {
	if cfg.Name == "" {
		return nil, errors.New("queue: a worker needs a name")
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	c := &Conn{name: cfg.Name, log: cfg.Log.With("part", "queue")}
	var err error
	if cfg.Queue != nil {
		c.nc, err = cfg.Queue.connect(cfg.Name)
	} else {
		c.nc, err = dialURL(ctx, cfg, c.log)
	}
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		c.nc.Close()
		return nil, err
	}
	return c, nil
}

// MaxReconnects(-1) holds for a connection that was lost. The first one is tried by the loop below, for the library would
// give up.
func dialURL(ctx context.Context, cfg WorkerConfig, log *slog.Logger) (*nats.Conn, error) {
	opts := append(clientOptions(cfg.Name, log), nats.MaxReconnects(-1))
	if cfg.Secret != "" {
		opts = append(opts, nats.UserInfo(cfg.Name, cfg.Secret))
	}
	if cfg.CA != "" {
		opts = append(opts, nats.RootCAs(cfg.CA))
	}
	for {
		nc, err := nats.Connect(cfg.URL, opts...)
		switch {
		case err == nil:
			return nc, nil
		case errors.Is(err, nats.ErrAuthorization):
			return nil, fmt.Errorf("queue: %s refused worker %q: its secret is wrong or was revoked, its join token is used up, or another worker has this name: choose one with --worker-name: %w", cfg.URL, cfg.Name, err)
		case !errors.Is(err, nats.ErrNoServers) && !timedOut(err):
			return nil, fmt.Errorf("queue: connect worker %q to %s: %w", cfg.Name, cfg.URL, err)
		}
		log.Warn("the site does not answer: is it running, with its database, and is this the address of its --nats-listen?", "url", cfg.URL, "err", err, "again_in", dialAgain)
		if err := pause(ctx, dialAgain); err != nil {
			return nil, err
		}
	}
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

// timedOut reports whether nobody answered in time: a machine that is not there, or a site that cannot say now whether the
// worker may come in.
func timedOut(err error) bool {
	var network net.Error
	return errors.Is(err, nats.ErrTimeout) || errors.As(err, &network) && network.Timeout()
}

// explain prefers the reason that a person can act on to the one that the library gives.
func (c *Conn) explain(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	// nats.go closes for good when the same refusal comes twice in a row: the credential was revoked.
	if c.nc.IsClosed() {
		return fmt.Errorf("queue: the site closed the connection of worker %q (last error: %v): %w", c.name, c.nc.LastError(), err)
	}
	return err
}

// PublishEvent sends an event without waiting for the site.
func (c *Conn) PublishEvent(e job.Event) error { return c.send(eventPrefix, e) }

// Heartbeat sends a heartbeat without waiting for the site.
func (c *Conn) Heartbeat(b job.Heartbeat) error { return c.send(beatPrefix, b) }

// The message lies in a buffer until the connection's own goroutine writes it. While the connection is lost up to 8 MB
// wait (the library's default) and go out, late, when it is back; what does not fit gives an error here.
func (c *Conn) send(prefix string, message any) error {
	data, err := json.Marshal(message)
	if err != nil {
		return fmt.Errorf("queue: encode a message for %s: %w", prefix, err)
	}
	if err := c.nc.Publish(prefix+token(c.name), data); err != nil {
		return fmt.Errorf("queue: send to %s: %w", prefix, err)
	}
	return nil
}

// PublishResult hands over a result. When it returns nil the result is on the site's disk and
// stays there until it was recorded; sending it again then changes nothing. A result that does
// not fit gives ErrTooLarge.
func (c *Conn) PublishResult(ctx context.Context, r job.Result) error {
	data, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("queue: encode the result of %s: %w", r.AttemptID, err)
	}
	if int64(len(data)) > c.nc.MaxPayload() {
		return fmt.Errorf("queue: the result of %s has %d bytes, at most %d fit: %w", r.AttemptID, len(data), c.nc.MaxPayload(), ErrTooLarge)
	}
	if err := c.ask(ctx, askResult, data); err != nil {
		return fmt.Errorf("queue: publish the result of %s: %w", r.AttemptID, err)
	}
	return nil
}

// ask sends a request to the site and waits until it was carried out.
func (c *Conn) ask(ctx context.Context, what string, body []byte) error {
	answer, err := c.nc.RequestWithContext(ctx, askSubject(c.name, what), body)
	if err != nil {
		return err
	}
	// Both are errors to the caller, who tries again or not; only Receive tells them apart.
	for _, key := range []string{refusedKey, laterKey} {
		if why := answer.Header.Get(key); why != "" {
			return errors.New(why)
		}
	}
	return nil
}

// Cancels begins to call fn with the id of every attempt that the site cancels, whoever works on
// it; stop ends that. No cancellation is missed of a job that is received after Cancels returned.
func (c *Conn) Cancels(fn func(attemptID string)) (stop func(), err error) {
	sub, err := c.nc.Subscribe(cancelSubject, func(m *nats.Msg) { fn(string(m.Data)) })
	if err != nil {
		return nil, fmt.Errorf("queue: subscribe to cancellations: %w", err)
	}
	return func() {
		if err := sub.Unsubscribe(); err != nil && !errors.Is(err, nats.ErrConnectionClosed) {
			c.log.Warn("unsubscribe from cancellations", "err", err)
		}
	}, nil
}

// Close sends what is buffered and ends the connection.
func (c *Conn) Close() {
	if c.nc.IsConnected() {
		if err := c.nc.FlushTimeout(pullFor); err != nil {
			c.log.Warn("closing the queue with messages unsent", "err", err)
		}
	}
	c.nc.Close()
}

// MaxMessage is the size in bytes of the largest message that the server takes.
func (c *Conn) MaxMessage() int { return int(c.nc.MaxPayload()) }
