package queue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

const (
	// recordWait is how long a result may take to be recorded before another process of the site gets it, too; the
	// database takes one of them. Its worker names the attempt no more, so it must be shorter than the time after which
	// such an attempt is given up.
	// Too short is harmless: the result is recorded twice, and the second time changes nothing.
	recordWait = 3 * time.Second
	// clusterWait is how long a cluster may take to answer: it chooses a new leader after one of its nodes has died.
	clusterWait = 30 * time.Second
)

// makeStreams makes sure that the streams are there. A cluster that has just lost a node is asked again for a while.
func (q *Queue) makeStreams(ctx context.Context) error {
	// The embedded server is asked once: what it does not do at once it does not do later.
	limit := time.Now().Add(clusterWait)
	for {
		err := q.makeStreamsOnce(ctx)
		if err == nil || q.host != nil || time.Now().After(limit) || ctx.Err() != nil {
			return err
		}
		q.log.Warn("the NATS cluster does not answer yet", "err", err)
		if err := pause(ctx, time.Second); err != nil {
			return err
		}
	}
}

func (q *Queue) makeStreamsOnce(ctx context.Context) error {
	base := jetstream.StreamConfig{
		Retention:  jetstream.WorkQueuePolicy, // a message is gone once it was acknowledged
		Storage:    jetstream.FileStorage,
		Duplicates: duplicateWindow,
	}
	jobs, results := base, base
	// Reading a job straight from the server's files is quicker. On a cluster it may come from a server that lags
	// behind and does not know the job yet.
	jobs.AllowDirect = q.host != nil
	jobs.Name, jobs.Subjects = jobsStream, []string{jobPrefix + "*.*"}
	results.Name, results.Subjects = resultsStream, []string{resultPrefix + "*"}
	// What one worker sends and cannot be recorded yet does not fill the disk for all others.
	results.Discard, results.DiscardNewPerSubject, results.MaxMsgsPerSubject = jetstream.DiscardNew, true, unrecorded
	for _, stream := range []jetstream.StreamConfig{jobs, results} {
		if err := q.makeStream(ctx, stream); err != nil {
			return fmt.Errorf("queue: make stream %s: %w", stream.Name, err)
		}
	}
	_, err := q.js.CreateOrUpdateConsumer(ctx, resultsStream, jetstream.ConsumerConfig{
		Durable: recorder, AckPolicy: jetstream.AckExplicitPolicy, AckWait: min(q.cfg.AckWait, recordWait),
	})
	if err != nil {
		return fmt.Errorf("queue: make the consumer of results: %w", err)
	}
	return nil
}

// makeStream makes a stream, or brings the one that is there to this configuration. As many copies as there are stay,
// unless the settings name a number.
// Several processes may do this at once with the same configuration; the cluster takes it once. Two versions of the
// program with different ones undo each other's, the last to start wins.
func (q *Queue) makeStream(ctx context.Context, cfg jetstream.StreamConfig) error {
	old, err := q.js.Stream(ctx, cfg.Name)
	switch {
	case errors.Is(err, jetstream.ErrStreamNotFound):
		cfg.Replicas = max(q.cfg.Replicas, 1)
	case err != nil:
		return err
	case q.cfg.Replicas == 0:
		cfg.Replicas = old.CachedInfo().Config.Replicas
	default:
		cfg.Replicas = q.cfg.Replicas
	}
	_, err = q.js.CreateOrUpdateStream(ctx, cfg)
	return err
}
