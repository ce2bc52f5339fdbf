package queue

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/sync/semaphore"

	"warpboard/evaluator/job"
)

const (
	// requestTimeout limits the wait for a response. A request can be lost with its connection, and a site under load
	// still responds in milliseconds, so waiting longer would only delay the retry.
	requestTimeout = 2 * time.Second
	// resultTimeout limits the wait for the response to a result, which can have MaxMessage bytes.
	resultTimeout = 5 * time.Second
)

// WorkerConfig configures a worker's connection to the site.
type WorkerConfig struct {
	Queue  *Queue // the site's queue if it is in this process; URL and Secret are then unused
	URL    string // "https://host/path" of the site, or "tls://host:port" or "nats://host:port" of its --nats-listen or cluster
	CAFile string // PEM file of the certificate authority; empty for the system's
	Name   string // the worker's name, as in its credential
	Secret string
	Log    *slog.Logger
}

// Conn is a worker's connection to the site. It is safe for concurrent use.
//
// A goroutine (deliverEvents) sends events from ConnectWorker to Close. mu guards heldAttempts, announcements, and
// onAttemptDropped, and is held only briefly.
type Conn struct {
	workerName  string
	log         *slog.Logger
	natsConn    *nats.Conn
	outbox      *eventOutbox
	requestTurn *semaphore.Weighted // allows one request for a job at a time
	eventSender sync.WaitGroup
	stop        context.CancelFunc

	mu               sync.Mutex
	heldAttempts     map[string]bool          // attempts that arrived and have not ended
	announcements    map[string]chan struct{} // closed when work for the device is announced
	onAttemptDropped func(attemptID string)   // called for attempts that no longer count
	// connectedContext is replaced after each disconnect. Pending requests then fail and are sent again at once.
	connectedContext context.Context
	markDisconnected context.CancelFunc
}

// ConnectWorker connects a worker and waits for a site that is not running yet. A lost connection is restored
// automatically; a refused credential closes it permanently. The caller must call Close.
func ConnectWorker(ctx context.Context, cfg WorkerConfig) (*Conn, error) {
	if cfg.Name == "" {
		return nil, errors.New("queue: a worker needs a name")
	}
	c := &Conn{
		workerName: cfg.Name, log: cmp.Or(cfg.Log, slog.New(slog.DiscardHandler)).With("part", "queue"), outbox: newOutbox(), requestTurn: semaphore.NewWeighted(1),
		heldAttempts: map[string]bool{}, announcements: map[string]chan struct{}{}, onAttemptDropped: func(string) {},
	}
	c.connectedContext, c.markDisconnected = context.WithCancel(context.Background())
	var err error
	if cfg.Queue != nil {
		c.natsConn, err = cfg.Queue.connect(ctx, cfg.Name, c.failPendingRequests)
	} else {
		c.natsConn, err = dialURL(ctx, cfg, c.log, c.failPendingRequests)
	}
	if err != nil {
		return nil, err
	}
	sending, stop := context.WithCancel(context.WithoutCancel(ctx))
	c.stop = stop
	c.eventSender.Go(func() { c.deliverEvents(sending) })
	return c, nil
}

// PublishEvent queues an event and returns at once. It returns an error if too many events wait because the site is
// unreachable.
func (c *Conn) PublishEvent(e job.Event) error { return c.outbox.addEvent(e) }

// Sync sends a heartbeat, and drops the attempts that no longer count.
func (c *Conn) Sync(ctx context.Context, h job.Heartbeat) error {
	if err := c.sendAndDrop(ctx, heartbeatRequestName, h); err != nil {
		return fmt.Errorf("queue: sync: %w", err)
	}
	return nil
}

// sendAndDrop sends a request, and drops the attempts that the response lists.
func (c *Conn) sendAndDrop(ctx context.Context, what string, request any) error {
	var o droppedAttemptsReply
	if err := c.sendRequest(ctx, what, request, &o, requestTimeout); err != nil {
		return err
	}
	c.mu.Lock()
	drop := c.onAttemptDropped
	c.mu.Unlock()
	for _, id := range o.DroppedAttempts {
		drop(id)
	}
	return nil
}

// PublishResult sends a result, after the events that precede it. If it returns nil, the result is stored or its
// attempt no longer counts. Sending it again is harmless.
func (c *Conn) PublishResult(ctx context.Context, r job.Result) error {
	before, cancel := context.WithTimeout(ctx, requestTimeout)
	err := c.flushEvents(before)
	cancel()
	if err != nil {
		c.log.Debug("events not stored before their result", "attempt", r.AttemptID, "err", err)
	}
	err = c.sendRequest(ctx, resultRequestName, r, nil, resultTimeout)
	if errors.Is(err, errRefusedPermanently) { // a retry would be refused, too
		c.log.Error("the site refuses a result", "attempt", r.AttemptID, "err", err)
	} else if err != nil {
		return fmt.Errorf("queue: publish the result of %s: %w", r.AttemptID, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.heldAttempts, r.AttemptID)
	return nil
}

// sendRequest sends a request, waits until the site has processed it, and decodes the response into answer. An empty
// response leaves answer unchanged.
func (c *Conn) sendRequest(ctx context.Context, what string, request, answer any, wait time.Duration) error {
	body, err := json.Marshal(request)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	c.mu.Lock()
	connected := c.connectedContext
	c.mu.Unlock()
	defer context.AfterFunc(connected, cancel)()
	reply, err := c.natsConn.RequestWithContext(ctx, requestSubject(c.workerName, what), body)
	if err != nil {
		return fmt.Errorf("sending %d bytes: %w", len(body), err)
	}
	if why := reply.Header.Get(refusedHeader); why != "" {
		return fmt.Errorf("%w: %s", errRefusedPermanently, why)
	}
	if why := reply.Header.Get(retryHeader); why != "" {
		return fmt.Errorf("%w: %s", errRetryLater, why)
	}
	if len(reply.Data) == 0 {
		return nil
	}
	// A lost job is sent again, because the next request does not list it.
	if err = json.Unmarshal(reply.Data, answer); err != nil {
		c.log.Error("an unreadable answer is dropped", "to", what, "err", err)
	}
	return err
}

// failPendingRequests ends the pending requests, whose responses will not arrive.
func (c *Conn) failPendingRequests() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.markDisconnected()
	c.connectedContext, c.markDisconnected = context.WithCancel(context.Background())
}

// SubscribeCancellations subscribes fn to the IDs of attempts that the site cancels or reports as stale, including
// those of other workers.
func (c *Conn) SubscribeCancellations(fn func(attemptID string)) error {
	c.mu.Lock()
	c.onAttemptDropped = fn
	c.mu.Unlock()
	if _, err := c.natsConn.Subscribe(cancelSubject, func(m *nats.Msg) { fn(string(m.Data)) }); err != nil {
		return fmt.Errorf("queue: subscribe to cancellations: %w", err)
	}
	return nil
}

// Close sends the waiting events, for at most requestTimeout, and closes the connection.
func (c *Conn) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
	defer cancel()
	if c.natsConn.IsConnected() {
		_ = c.flushEvents(ctx) // an error is ignored: events are only hints
	}
	c.stop()
	c.eventSender.Wait()
	c.natsConn.Close()
	c.failPendingRequests()
}

// MaxMessage returns the size in bytes of the largest message that the server accepts.
func (c *Conn) MaxMessage() int { return int(c.natsConn.MaxPayload()) }
