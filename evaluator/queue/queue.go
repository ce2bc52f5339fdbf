package queue

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// MaxMessage is the size of the largest job or result that the embedded server accepts, in bytes. Before raising it,
// raise max_payload of an external cluster. Each message is in memory as a whole several times, in server and client.
const MaxMessage = 16 << 20

// Config configures the site's queue.
type Config struct {
	ClusterURL    string // external cluster instead of the embedded server, "nats://user:password@host:4222"
	ClusterCAFile string // external cluster: PEM file of its certificate authority; empty for the system's
	// AccountSeed is the seed of the account key with which the site authorizes workers for an external cluster with
	// auth_callout.
	AccountSeed    string
	ClusterAccount string // external cluster: the workers' account, with AccountSeed
	ListenAddress  string // embedded server: "host:port" for remote workers; empty opens no port
	// CertFile and KeyFile are the PEM files of the certificate for remote workers. Without them the port uses no TLS.
	CertFile, KeyFile string
	// Authorize returns the devices for which the worker with a name and secret may receive jobs. An error means that
	// the check is not possible now; the worker then tries again. It is called when a remote worker connects to the
	// embedded server, or to a cluster with auth_callout. nil refuses all workers.
	Authorize func(name, secret string) (devices []string, ok bool, err error)
	Log       *slog.Logger
}

// Queue is the site's side of the queue. It is safe for concurrent use.
type Queue struct {
	cfg          Config
	log          *slog.Logger
	server       *server.Server // nil with an external cluster
	sitePassword string         // the site's own password for the embedded server
	natsConn     *nats.Conn     // with NoEcho: this process does not receive its own announcements

	workerConnsMu sync.Mutex
	workerConns   map[string]workerConn // newest connection of each worker to the embedded server, by the worker's name

	refusedLog *limitedLog // log of refused and replaced connections
	droppedLog *limitedLog // log of invalid and excess messages
	failedLog  *limitedLog // log of failed requests
}

// OpenQueue starts the embedded server, or connects to the cluster at cfg.ClusterURL within clusterTimeout. The caller
// must call Close.
func OpenQueue(ctx context.Context, cfg Config) (*Queue, error) {
	log := cmp.Or(cfg.Log, slog.New(slog.DiscardHandler)).With("part", "queue")
	q := &Queue{
		cfg: cfg, log: log, sitePassword: rand.Text(), workerConns: map[string]workerConn{},
		refusedLog: newLimitedLog(log), droppedLog: newLimitedLog(log), failedLog: newLimitedLog(log),
	}
	if err := q.openServer(ctx); err != nil {
		q.Close()
		return nil, err
	}
	return q, nil
}

func (q *Queue) openServer(ctx context.Context) (err error) {
	if q.cfg.ClusterURL == "" {
		if err := q.startServer(); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, clusterTimeout)
	defer cancel()
	if q.natsConn, err = q.connect(ctx, siteUserName, func() {}); err != nil {
		return err
	}
	return q.serveAuthRequests()
}

// clusterTimeout limits the wait for a cluster, which may still be starting.
const clusterTimeout = 30 * time.Second

// connect opens a connection with the site's own permissions. lost is called at each disconnect.
func (q *Queue) connect(ctx context.Context, name string, lost func()) (*nats.Conn, error) {
	opts := append(clientOptions(name, q.log, lost), nats.NoEcho())
	if q.server != nil {
		opts = append(opts, nats.InProcessServer(q.server), nats.UserInfo(siteUserName, q.sitePassword))
	} else if q.cfg.ClusterCAFile != "" {
		opts = append(opts, nats.RootCAs(q.cfg.ClusterCAFile))
	}
	nc, err := connect(ctx, q.cfg.ClusterURL, q.log, "the NATS cluster does not answer yet", opts)
	if err != nil {
		return nil, fmt.Errorf("queue: connect to NATS: %w", err)
	}
	return nc, nil
}

// NewWorkerConn returns a new connection for a remote worker to the embedded server, which will require a credential.
func (q *Queue) NewWorkerConn() (net.Conn, error) {
	if q.server == nil {
		return nil, errors.New("queue: workers connect to the external NATS server")
	}
	return q.server.InProcessConn()
}

// AnnounceWork tells the workers of a device that work may wait for it. The message can be lost; workers also ask every
// few seconds.
func (q *Queue) AnnounceWork(device string) error {
	if err := q.natsConn.Publish(workSubject(device), nil); err != nil {
		return fmt.Errorf("queue: announce work for %s: %w", device, err)
	}
	return nil
}

// AnnounceCancellation tells all workers that an attempt is cancelled. A disconnected worker misses the message; the
// response to its next heartbeat repeats it.
func (q *Queue) AnnounceCancellation(attemptID string) error {
	if err := q.natsConn.Publish(cancelSubject, []byte(attemptID)); err != nil {
		return fmt.Errorf("queue: cancel %s: %w", attemptID, err)
	}
	return nil
}

// CheckHealth returns an error if NATS does not respond.
func (q *Queue) CheckHealth(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	if err := q.natsConn.FlushWithContext(ctx); err != nil {
		return fmt.Errorf("queue: NATS does not answer: %w", err)
	}
	return nil
}

// MaxMessage returns the size in bytes of the largest message that the server accepts.
func (q *Queue) MaxMessage() int { return int(q.natsConn.MaxPayload()) }

// Close closes the connection and stops the embedded server.
func (q *Queue) Close() {
	if q.natsConn != nil {
		q.natsConn.Close()
	}
	if q.server != nil {
		q.server.Shutdown()
		q.server.WaitForShutdown()
	}
}

// logInvalid counts and logs an invalid message.
func (q *Queue) logInvalid(what string, about ...any) {
	q.droppedLog.write(slog.LevelWarn, "dropped: "+what+" that cannot be right", about...)
}

// DroppedMessageCount returns the number of messages dropped since OpenQueue: invalid, too many from one worker, or
// from a sender without permission.
func (q *Queue) DroppedMessageCount() int64 { return q.droppedLog.messageCount.Load() }
