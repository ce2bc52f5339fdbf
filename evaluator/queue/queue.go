package queue

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// MaxMessage is the largest job or result in bytes that the embedded server carries.
// It is also the worker's and the cluster's limit: raising it needs the cluster's max_payload to be raised first.
// Each message is in memory as a whole, several times over, in server and client.
const MaxMessage = 16 << 20

// Config says which way messages go.
type Config struct {
	URL string // external cluster instead of the embedded server, "nats://user:password@host:4222"
	CA  string // external cluster: PEM file of who signed its certificate; empty for who the system trusts
	// AccountSeed is the issuer's key of an external cluster's auth_callout. With it the site tells the cluster who its
	// workers are.
	AccountSeed string
	Account     string // external cluster: the account that workers are in, with AccountSeed
	Listen      string // embedded server: "host:port" where remote workers connect; empty opens no port
	// Cert and Key are the PEM files of the certificate for remote workers; without them the port has no TLS.
	Cert, Key string
	// Authorize returns the devices for which the worker with this name and secret may take jobs. After an error, which
	// means that the answer is not available now, the worker tries again and is not refused. It is called when a remote
	// worker connects to the embedded server, or to a cluster with auth_callout; nil refuses all.
	Authorize func(name, secret string) (devices []string, ok bool, err error)
	Log       *slog.Logger
}

// Queue is the site's side. It is safe for use by several goroutines.
type Queue struct {
	cfg    Config
	log    *slog.Logger
	server *server.Server // nil with an external cluster
	secret string         // what the site itself shows to the embedded server
	nc     *nats.Conn     // it does not hear what this process says

	refused *seldom // who may not connect
	dropped *seldom // messages that no one should have sent, and too many
	failed  *seldom // requests of workers that could not be carried out
}

// Open starts the embedded server, or connects to the cluster at cfg.URL, which it waits for. Close it when done.
func Open(ctx context.Context, cfg Config) (*Queue, error) {
	log := cmp.Or(cfg.Log, slog.New(slog.DiscardHandler)).With("part", "queue")
	q := &Queue{cfg: cfg, log: log, secret: rand.Text(), refused: newSeldom(log), dropped: newSeldom(log), failed: newSeldom(log)}
	if err := q.open(ctx); err != nil {
		q.Close()
		return nil, err
	}
	return q, nil
}

func (q *Queue) open(ctx context.Context) (err error) {
	if q.cfg.URL == "" {
		if err := q.startServer(); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, clusterWait)
	defer cancel()
	if q.nc, err = q.connect(ctx, siteUser, func() {}); err != nil {
		return err
	}
	return q.openCallout()
}

// clusterWait is how long a cluster may take to let the site in: it may be starting, too.
const clusterWait = 30 * time.Second

// connect opens a connection with the site's own rights. See clientOptions for lost.
func (q *Queue) connect(ctx context.Context, name string, lost func()) (*nats.Conn, error) {
	opts := append(clientOptions(name, q.log, lost), nats.NoEcho())
	if q.server != nil {
		opts = append(opts, nats.InProcessServer(q.server), nats.UserInfo(siteUser, q.secret))
	} else if q.cfg.CA != "" {
		opts = append(opts, nats.RootCAs(q.cfg.CA))
	}
	nc, err := connect(ctx, q.cfg.URL, q.log, "the NATS cluster does not answer yet", opts)
	if err != nil {
		return nil, fmt.Errorf("queue: connect to NATS: %w", err)
	}
	return nc, nil
}

// WorkerConn is a new connection of a remote worker to the embedded server, which asks it for a credential.
func (q *Queue) WorkerConn() (net.Conn, error) {
	if q.server == nil {
		return nil, errors.New("queue: workers connect to the external NATS server")
	}
	return q.server.InProcessConn()
}

// WorkFor tells the workers of a device that work may wait for it. It may be lost: workers also ask now and then without it.
func (q *Queue) WorkFor(device string) error {
	if err := q.nc.Publish(workSubject(device), nil); err != nil {
		return fmt.Errorf("queue: announce work for %s: %w", device, err)
	}
	return nil
}

// Cancel tells all workers to stop this attempt. A worker that is disconnected at this moment misses it; the answer to its
// next sync repeats it.
func (q *Queue) Cancel(attemptID string) error {
	if err := q.nc.Publish(cancelSubject, []byte(attemptID)); err != nil {
		return fmt.Errorf("queue: cancel %s: %w", attemptID, err)
	}
	return nil
}

// Health says why the queue carries no messages at this moment; nil when it does, as far as is known.
func (q *Queue) Health(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, requestWait)
	defer cancel()
	if err := q.nc.FlushWithContext(ctx); err != nil {
		return fmt.Errorf("queue: NATS does not answer: %w", err)
	}
	return nil
}

// MaxMessage is the size in bytes of the largest message that the server takes.
func (q *Queue) MaxMessage() int { return int(q.nc.MaxPayload()) }

// Close ends the connection and stops the embedded server.
func (q *Queue) Close() {
	if q.nc != nil {
		q.nc.Close()
	}
	if q.server != nil {
		q.server.Shutdown()
		q.server.WaitForShutdown()
	}
}

// drop counts a message that no one should have sent.
func (q *Queue) drop(what string, about ...any) {
	q.dropped.say(slog.LevelWarn, "dropped: "+what+" that cannot be right", about...)
}

// Dropped is how many messages were dropped since Open: unreadable, too many of one worker, or of a sender
// who may not send them.
func (q *Queue) Dropped() int64 { return q.dropped.n.Load() }
