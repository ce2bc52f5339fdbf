package queue

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// ErrTooLarge says that a message is larger than the queue carries.
var ErrTooLarge = errors.New("message too large for the queue")

const (
	// MaxMessage is the largest job or result in bytes that the embedded server carries.
	// It is also the worker's and the cluster's limit: raising it needs the cluster's max_payload to be raised first.
	// Each message is in memory as a whole, several times over, in server and client.
	MaxMessage = 16 << 20

	defaultAckWait = 30 * time.Second
	// maxDeliver bounds how many workers one attempt may take down with it.
	// After the fifth the job lies in the stream undelivered, until the watch finds its attempt stuck and forgets it.
	maxDeliver = 5
	// duplicateWindow is how long an attempt's id is remembered after its job was published.
	// An attempt that lies longer than this before Refill publishes it again is there twice; two workers then have one
	// attempt, which the database settles (work.NoteTaken). The server keeps the ids of the window in memory.
	duplicateWindow = 24 * time.Hour
	// unrecorded is how many results of one worker may wait to be recorded. It sends the next one again.
	unrecorded = 64
	// maxWaiting is how many requests for a device's jobs may stand.
	maxWaiting = 64 * deskStanding
)

// Config says where the queue lives.
type Config struct {
	Dir      string // embedded server: directory of its files
	URL      string // external cluster instead of the embedded server, "nats://user:password@host:4222"
	Replicas int    // external cluster: copies of each stream; 0 keeps as many as there are, and makes streams with 1
	CA       string // external cluster: PEM file of who signed its certificate; empty for who the system trusts
	// AccountSeed has the site tell an external cluster who its workers are: the key of the issuer of its auth_callout.
	AccountSeed string
	Account     string // external cluster: the account that workers are in, with AccountSeed
	Listen      string // embedded server: "host:port" where remote workers connect; empty opens no port
	// Cert and Key are the PEM files of the certificate that remote workers are shown; without them
	// the port speaks no TLS.
	Cert, Key string
	// Authorize tells which devices the worker with this name and secret may take jobs for. An error says that it cannot be
	// known now: the worker tries again, and is not refused.
	// It is asked whenever a remote worker connects to the embedded server, or to a cluster that asks; nil refuses them all.
	Authorize func(name, secret string) (devices []string, ok bool, err error)
	// AckWait is how long a delivered job may stay without a sign of life before it is
	// delivered again; 0 means 30 s.
	AckWait time.Duration
	// Refill is called whenever the queue was opened or opened again: jobs that were published before may be
	// gone, and have to be published again. Those that are not gone are not there twice.
	Refill func(context.Context) error
	Log    *slog.Logger
}

// Queue is the site's side. It is safe for use by several goroutines.
//
// Goroutines: watch (embedded server only) and the desk's clerks, all in running, ended by stop. nc and js are set once,
// by the first begin, and stay valid when the server is started again. mu guards consumers, and is held while one is
// made: two publishers of a new device must not make it twice.
type Queue struct {
	cfg  Config
	log  *slog.Logger
	host *host // nil with an external cluster
	nc   *nats.Conn
	js   jetstream.JetStream
	desk *desk
	// origin tells this process's announcements from those of others.
	origin string

	health   health
	refused  *seldom // who may not connect
	dropped  counter
	failed   counter     // requests of workers that could not be carried out
	unfilled atomic.Bool // the queue was opened again, and not filled yet
	running  sync.WaitGroup
	stop     context.CancelFunc

	mu        sync.Mutex
	consumers map[string]bool // devices whose consumer is known to exist
}

// Open starts the embedded server, or connects to the cluster at cfg.URL, and makes sure that the
// streams exist. Whatever an earlier process left in cfg.Dir is still there, unless it cannot be read. Close
// it when done.
func Open(ctx context.Context, cfg Config) (*Queue, error) {
	if cfg.AckWait == 0 {
		cfg.AckWait = defaultAckWait
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	q := &Queue{cfg: cfg, log: cfg.Log.With("part", "queue"), origin: rand.Text(), stop: func() {}, consumers: map[string]bool{}}
	q.refused = newSeldom(q.log)
	if cfg.URL == "" {
		q.host = &host{cfg: cfg, secret: rand.Text(), log: q.log, refused: q.refused, clients: newSeldom(q.log), ill: func(err error) { q.health.note(wholeServer, err) }}
	}
	q.dropped.log, q.failed.log = q.log, q.log
	q.desk = newDesk(q)
	if err := q.open(ctx); err != nil {
		q.Close()
		return nil, err
	}
	return q, nil
}

func (q *Queue) open(ctx context.Context) error {
	if err := q.begin(ctx); err != nil {
		return errors.Join(err, q.full())
	}
	// Before anybody may ask for jobs: a worker that came first would find the queue empty, which harms nothing but takes
	// a second.
	if err := q.refill(ctx); err != nil {
		return err
	}
	// What runs beside the caller ends with Close, not with the context of opening.
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	q.stop = stop
	if q.host != nil {
		q.running.Go(func() { q.watch(running) })
	}
	if err := q.openCallout(running); err != nil {
		return err
	}
	return q.desk.open(running)
}

// connect opens a connection with the site's own rights.
func (q *Queue) connect(name string) (*nats.Conn, error) {
	opts := append(clientOptions(name, q.log), nats.MaxReconnects(-1))
	if q.host != nil {
		opts = append(opts, nats.InProcessServer(q.host), nats.UserInfo(siteUser, q.host.secret))
	} else if q.cfg.CA != "" {
		opts = append(opts, nats.RootCAs(q.cfg.CA))
	}
	nc, err := nats.Connect(q.cfg.URL, opts...)
	if err != nil {
		return nil, fmt.Errorf("queue: connect to NATS: %w", err)
	}
	return nc, nil
}

// makeConsumer makes sure that the device's jobs can be received. All workers of a device share
// one durable consumer, so each job goes to one of them.
func (q *Queue) makeConsumer(ctx context.Context, device string) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.consumers[device] {
		return nil
	}
	// How many requests may wait cannot be changed of a consumer that an older version made.
	waiting := maxWaiting
	if old, err := q.js.Consumer(ctx, jobsStream, consumerName(device)); err == nil {
		waiting = old.CachedInfo().Config.MaxWaiting
	}
	_, err := q.js.CreateOrUpdateConsumer(ctx, jobsStream, jetstream.ConsumerConfig{
		Durable:       consumerName(device),
		FilterSubject: jobPrefix + token(device) + ".*",
		AckPolicy:     jetstream.AckExplicitPolicy,
		AckWait:       q.cfg.AckWait,
		MaxDeliver:    maxDeliver,
		MaxWaiting:    waiting,
		// An idle slot anywhere comes before a busy one that only wants to build its next job.
		PriorityPolicy: jetstream.PriorityPolicyPrioritized,
		PriorityGroups: []string{slotsGroup},
	})
	if err != nil {
		q.health.note(jobsStream, err)
		return fmt.Errorf("queue: make the consumer of device %s: %w", device, err)
	}
	q.consumers[device] = true
	return nil
}

// Addr is the URL where remote workers connect; empty when the queue does not listen.
// Only for a queue that is not being opened again at this moment: there is no server to ask then.
func (q *Queue) Addr() string {
	if q.host == nil || q.cfg.Listen == "" {
		return ""
	}
	return q.host.current().ClientURL()
}

// Close ends the connection and stops the embedded server. Undelivered jobs and unrecorded
// results stay in cfg.Dir.
// The order matters: watch would start the server again, clerks need the connection, and the server's files must be
// complete last.
func (q *Queue) Close() {
	q.stop()
	q.running.Wait()
	if q.nc != nil {
		q.nc.Close()
	}
	if q.host != nil {
		q.host.stop()
	}
}

// drop counts a message that nobody should have sent.
func (q *Queue) drop(what string, about ...any) {
	q.dropped.count("dropped: "+what+" that cannot be right", about...)
}

// Dropped is how many messages were dropped since Open: unreadable, too many of one worker, or of somebody
// who may not send them.
func (q *Queue) Dropped() int64 { return q.dropped.n.Load() }
