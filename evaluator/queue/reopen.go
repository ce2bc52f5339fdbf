package queue

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	// Cheap: it reads what has been noted, and asks the server nothing unless it is sick.
	lookEvery = 250 * time.Millisecond
	// roomToOpen is the least that a queue is opened with: a few messages of the largest size.
	// With less it would fail at its first large message and be opened again, over and over.
	roomToOpen = 2 * MaxMessage
	// reopenPause is the pause after a queue could not be opened again.
	reopenPause = 5 * time.Second
	// probe belongs to no device and no attempt: tokens have hexadecimal digits behind "=".
	probe = jobPrefix + "=.probe"
)

// begin starts the embedded server, if there is one, and makes the streams. A folder that cannot be used
// is set aside: all that it held comes again, from the database and from workers.
func (q *Queue) begin(ctx context.Context) error {
	err := q.beginOnce(ctx)
	if _, bad := errors.AsType[broken](err); !bad || ctx.Err() != nil {
		return err
	}
	q.host.stop()
	if full := q.full(); full != nil {
		return errors.Join(full, err)
	}
	aside, asideErr := q.host.setAside(time.Now())
	if asideErr != nil {
		return errors.Join(err, asideErr)
	}
	q.log.Error("the queue's folder cannot be used; it is set aside and the queue is filled again from the database",
		"folder", q.cfg.Dir, "aside", aside, "err", err)
	return q.beginOnce(ctx)
}

// The order is that of the tests from cheap to dear. Any of them that fails over a folder makes the folder the culprit,
// so that the second try of begin starts with an empty one: jobs come again by Refill, and results whose workers still
// wait for an answer. Weakness: a result that was taken and not recorded is lost with the folder; its worker lists the
// attempt no more, which then counts as lost.
func (q *Queue) beginOnce(ctx context.Context) error {
	if q.host != nil {
		if err := q.host.start(); err != nil {
			return err
		}
	}
	if err := q.connected(ctx); err != nil {
		return err
	}
	// Whether they exist is asked anew: the folder may be another one now.
	q.forgetConsumers()
	q.desk.owners.reset()
	if err := q.recovered(ctx); err != nil {
		return err
	}
	if err := q.makeStreams(ctx); err != nil {
		return q.blame(ctx, err)
	}
	if err := q.tryStore(ctx); err != nil {
		return q.blame(ctx, err)
	}
	q.health.reset()
	return nil
}

// blame makes the folder the culprit of an error of the embedded server, unless time ran out.
func (q *Queue) blame(ctx context.Context, err error) error {
	if q.host == nil || ctx.Err() != nil {
		return err
	}
	return broken{err}
}

// recovered fails when a stream that the folder holds did not come back.
func (q *Queue) recovered(ctx context.Context) error {
	if q.host == nil {
		return nil
	}
	for _, stream := range q.host.stored {
		_, err := q.js.Stream(ctx, stream)
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			return broken{fmt.Errorf("queue: the stream %s in %s cannot be read", stream, q.cfg.Dir)}
		}
		if err != nil {
			return q.blame(ctx, fmt.Errorf("queue: open the stream %s: %w", stream, err))
		}
	}
	return nil
}

// tryStore stores a message that nobody gets, and removes it.
func (q *Queue) tryStore(ctx context.Context) error {
	if q.host == nil {
		return nil
	}
	if _, err := q.js.Publish(ctx, probe, nil); err != nil {
		return fmt.Errorf("queue: store a message in %s: %w", q.cfg.Dir, err)
	}
	stream, err := q.js.Stream(ctx, jobsStream)
	if err == nil {
		err = stream.Purge(ctx, jetstream.WithPurgeSubject(probe))
	}
	if err != nil {
		return fmt.Errorf("queue: remove a message from %s: %w", q.cfg.Dir, err)
	}
	return nil
}

// full fails when the disk of the embedded queue has no room to work.
func (q *Queue) full() error {
	if q.host == nil {
		return nil
	}
	free, err := freeBytes(filepath.Dir(q.cfg.Dir))
	if err != nil {
		return fmt.Errorf("queue: %w", err)
	}
	if free < roomToOpen {
		return fmt.Errorf("queue: the disk of %s has %d MiB left, the queue needs %d MiB: free some, then it opens", q.cfg.Dir, free>>20, roomToOpen>>20)
	}
	return nil
}

// watch starts the embedded server again when it stores nothing any more, as soon as the disk has room.
// It alone opens the queue again, so that opening needs no lock against itself. A full disk is logged once per text, and
// looked at again each time.
func (q *Queue) watch(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	var said string
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		why := q.sick(ctx)
		if why == nil {
			said = ""
			continue
		}
		if err := q.full(); err != nil {
			if said != err.Error() {
				said = err.Error()
				q.log.Error("the queue stores nothing", "why", why, "err", err)
			}
			continue
		}
		if err := q.reopen(ctx, why); err != nil && ctx.Err() == nil {
			q.log.Error("the queue could not be opened again", "err", err, "again_in", reopenPause)
			_ = pause(ctx, reopenPause) // the loop sees the end of ctx
		}
	}
}

// sick says why the embedded server has to be started again.
func (q *Queue) sick(ctx context.Context) error {
	if err := q.stopped(); err != nil {
		return err
	}
	if since, err := q.health.since(); err != nil && time.Since(since) > sickFor {
		if !isTimeout(err) || !q.stores(ctx) {
			return err
		}
		// The streams' sickness is forgotten also where another stream failed for another reason: its next message notes
		// it again.
		q.health.reset() // it was slow, or the caller in a hurry
	}
	if q.unfilled.Load() {
		return errors.New("it was not filled again")
	}
	return nil
}

func isTimeout(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrTimeout)
}

func (q *Queue) stores(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, requestWait)
	defer cancel()
	return q.tryStore(ctx) == nil
}

// reopen starts the embedded server again and has the queue filled.
func (q *Queue) reopen(ctx context.Context, why error) error {
	// A queue that is open and only was not filled (the database was away) keeps its server.
	if q.stopped() != nil || !q.unfilled.Load() {
		q.log.Warn("the queue is opened again", "why", why)
		q.host.stop()
		if err := q.begin(ctx); err != nil {
			return err
		}
		q.log.Info("the queue is open again")
	}
	return q.refill(ctx)
}

// refill has the jobs published again that may be gone.
// unfilled is set first: if this process dies or the database fails in between, watch or the next start does it again.
func (q *Queue) refill(ctx context.Context) error {
	q.unfilled.Store(true)
	if q.cfg.Refill != nil {
		if err := q.cfg.Refill(ctx); err != nil {
			return fmt.Errorf("queue: fill it again: %w", err)
		}
	}
	q.unfilled.Store(false)
	return nil
}

// connected waits for this process's connection, which finds a new server automatically.
func (q *Queue) connected(ctx context.Context) (err error) {
	if q.nc == nil {
		if q.nc, err = q.connect(siteUser); err != nil {
			return err
		}
		if q.js, err = jetstream.New(q.nc); err != nil {
			return fmt.Errorf("queue: start JetStream: %w", err)
		}
		return nil
	}
	tick := time.NewTicker(lookEvery / 5)
	defer tick.Stop()
	// Connected is not enough: it may still be to the old server, whose end was not noticed yet.
	for limit := time.After(serverReady); q.nc.ConnectedServerId() != q.host.current().ID(); {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-limit:
			return fmt.Errorf("queue: the connection to the embedded server does not come back: %w", q.nc.LastError())
		case <-tick.C:
		}
	}
	return nil
}

func (q *Queue) forgetConsumers() {
	q.mu.Lock()
	defer q.mu.Unlock()
	clear(q.consumers)
}
