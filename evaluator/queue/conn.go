package queue

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"warpboard/evaluator/job"
)

const (
	// pullFor bounds one request for a message, and so how long a request that was lost with a
	// broken connection goes unnoticed.
	pullFor = 5 * time.Second
	// pullAheadFor bounds a request on behalf of a busy slot, which may be idle soon.
	pullAheadFor = time.Second
	// requestWait is how long an answer may take; a request can be lost with its connection.
	requestWait = 2 * time.Second
	// consumerPoll is the pause before asking again for a device's consumer, which the site
	// makes with the first job for that device.
	consumerPoll = 200 * time.Millisecond
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
	name string
	log  *slog.Logger
	nc   *nats.Conn
	js   jetstream.JetStream
}

// Dial connects a worker, and waits for a site that is not up yet. A lost connection is taken up again by itself; a refused credential
// closes it for good. Close it when done.
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
	if c.js, err = jetstream.New(c.nc); err != nil {
		c.nc.Close()
		return nil, fmt.Errorf("queue: start JetStream: %w", err)
	}
	if err := ctx.Err(); err != nil {
		c.nc.Close()
		return nil, err
	}
	return c, nil
}

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
			return nil, fmt.Errorf("queue: %s refused worker %q: its name or secret is wrong, or it was revoked: %w", cfg.URL, cfg.Name, err)
		case !errors.Is(err, nats.ErrNoServers):
			return nil, fmt.Errorf("queue: connect worker %q to %s: %w", cfg.Name, cfg.URL, err)
		}
		log.Warn("nobody answers; is the site up, and is this the address of its --nats-listen?", "url", cfg.URL, "again_in", dialAgain)
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(dialAgain):
		}
	}
}

// Receive waits for a job of the device. It returns ctx's error when ctx ends, and another error
// when the connection is closed for good.
func (c *Conn) Receive(ctx context.Context, device string) (*Delivery, error) {
	return c.Prefetch(ctx, device, func() bool { return false })
}

// Prefetch is Receive for a slot that may be busy: while it is, all idle slots of the device,
// on whatever worker, get their jobs before it.
func (c *Conn) Prefetch(ctx context.Context, device string, busy func() bool) (*Delivery, error) {
	consumer, err := c.consumer(ctx, device)
	if err != nil {
		return nil, err
	}
	request := func() pull {
		if busy() {
			return pull{pullAheadFor, []jetstream.FetchOpt{jetstream.FetchPriorityGroup(slotsGroup), jetstream.FetchPrioritized(1)}}
		}
		return pull{pullFor, []jetstream.FetchOpt{jetstream.FetchPriorityGroup(slotsGroup)}}
	}
	for {
		msg, err := next(ctx, consumer, request)
		if err != nil {
			return nil, c.explain(ctx, fmt.Errorf("queue: receive jobs for %s: %w", device, err))
		}
		d := &Delivery{msg: msg}
		if err := json.Unmarshal(msg.Data(), &d.Job); err != nil {
			c.log.Error("unreadable job is dropped", "subject", msg.Subject(), "err", errors.Join(err, msg.Term()))
			continue
		}
		return d, nil
	}
}

func (c *Conn) consumer(ctx context.Context, device string) (jetstream.Consumer, error) {
	for {
		ask, cancel := context.WithTimeout(ctx, requestWait)
		consumer, err := c.js.Consumer(ask, jobsStream, consumerName(device))
		cancel()
		if err == nil {
			return consumer, nil
		}
		if c.nc.IsClosed() || ctx.Err() != nil {
			return nil, c.explain(ctx, fmt.Errorf("queue: open the consumer of device %s: %w", device, err))
		}
		select {
		case <-ctx.Done():
		case <-time.After(consumerPoll):
		}
	}
}

// explain prefers the reason that a person can act on to the one that the library gives.
func (c *Conn) explain(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if c.nc.IsClosed() {
		return fmt.Errorf("queue: the site closed the connection of worker %q (last error: %v): %w", c.name, c.nc.LastError(), err)
	}
	return err
}

// PublishEvent sends an event without waiting for the site.
func (c *Conn) PublishEvent(e job.Event) error { return c.send(eventPrefix, e) }

// Heartbeat sends a heartbeat without waiting for the site.
func (c *Conn) Heartbeat(b job.Heartbeat) error { return c.send(beatPrefix, b) }

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
	// The secret is part of the id: nobody else can use the id up before the true result comes.
	sum := sha256.Sum256([]byte(r.AttemptID + "\x00" + r.Secret))
	id := hex.EncodeToString(sum[:])
	if _, err := c.js.Publish(ctx, resultPrefix+token(c.name), data, jetstream.WithMsgID(id)); err != nil {
		return fmt.Errorf("queue: publish the result of %s: %w", r.AttemptID, err)
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
