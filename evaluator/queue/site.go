package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"warpboard/evaluator/job"
)

// recordAgain is the pause before a result that could not be recorded is delivered again.
// Mostly the database is away. Results come one by one, so that one that fails does not hold the others up for longer
// than its try.
const recordAgain = time.Second

// Publish puts a job into its device's queue. Its AttemptID is the message id: publishing an
// attempt again, also after Forget, changes nothing, so a new try needs a new attempt id. A job
// that five workers took and none finished is not delivered any more, and stays until Forget.
func (q *Queue) Publish(ctx context.Context, j job.Job) error {
	data, err := json.Marshal(j)
	if err != nil {
		return fmt.Errorf("queue: encode job %s: %w", j.AttemptID, err)
	}
	if int64(len(data)) > q.nc.MaxPayload() {
		return fmt.Errorf("queue: job %s has %d bytes, at most %d fit: %w", j.AttemptID, len(data), q.nc.MaxPayload(), ErrTooLarge)
	}
	if err := q.makeConsumer(ctx, j.Device); err != nil {
		return err
	}
	_, err = q.js.Publish(ctx, jobSubject(j.Device, j.AttemptID), data, jetstream.WithMsgID(j.AttemptID))
	q.health.note(jobsStream, err)
	if err != nil {
		return fmt.Errorf("queue: publish job %s: %w", j.AttemptID, err)
	}
	return nil
}

// Forget drops the attempt's job if no worker took it. Of a job that is being worked on it only
// prevents that another worker gets it.
// "*" stands for the device: the caller knows the attempt alone. It purges by a filter over the whole stream, which is
// small.
func (q *Queue) Forget(ctx context.Context, attemptID string) error {
	stream, err := q.js.Stream(ctx, jobsStream)
	if err != nil {
		return fmt.Errorf("queue: open the stream of jobs: %w", err)
	}
	if err := stream.Purge(ctx, jetstream.WithPurgeSubject(jobPrefix+"*."+token(attemptID))); err != nil {
		return fmt.Errorf("queue: forget job %s: %w", attemptID, err)
	}
	return nil
}

// Cancel tells all workers to stop this attempt. A worker that is disconnected at this moment
// does not hear it; its next heartbeat still names the attempt, so call it again then.
func (q *Queue) Cancel(ctx context.Context, attemptID string) error {
	if err := q.nc.Publish(cancelSubject, []byte(attemptID)); err != nil {
		return fmt.Errorf("queue: cancel %s: %w", attemptID, err)
	}
	ctx, cancel := context.WithTimeout(ctx, requestWait)
	defer cancel()
	if err := q.nc.FlushWithContext(ctx); err != nil {
		return fmt.Errorf("queue: cancel %s: %w", attemptID, err)
	}
	return nil
}

// Results calls fn with every result, one at a time, until ctx ends; then it returns nil. A
// result is kept until fn returned nil for it: after an error it comes again a second later.
// A process that dies between fn and the acknowledgement gets the result again; fn must be idempotent, and is
// (RecordResult).
func (q *Queue) Results(ctx context.Context, fn func(context.Context, job.Result) error) error {
	consumer, err := q.results(ctx)
	if err != nil {
		return fmt.Errorf("queue: open the consumer of results: %w", err)
	}
	for {
		msg, err := next(ctx, consumer)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return fmt.Errorf("queue: receive results: %w", err)
		}
		if err := q.record(ctx, msg, fn); err != nil {
			q.log.Error("result not recorded", "err", err)
		}
	}
}

// results opens the consumer of results. In a cluster a node that dies takes requests with it, and until another one leads none
// is answered: then it asks again, until ctx ends.
func (q *Queue) results(ctx context.Context) (jetstream.Consumer, error) {
	for {
		answered, cancel := context.WithTimeout(ctx, requestWait)
		consumer, err := q.js.Consumer(answered, resultsStream, recorder)
		cancel()
		if err == nil || ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, nats.ErrNoResponders) {
			return consumer, err
		}
		q.log.Warn("the consumer of results does not answer", "err", err)
		if err := pause(ctx, askAgain); err != nil { // nobody there is said at once
			return nil, err
		}
	}
}

func (q *Queue) record(ctx context.Context, msg jetstream.Msg, fn func(context.Context, job.Result) error) error {
	var r job.Result
	if err := decode(msg.Data(), &r); err != nil {
		q.drop("a result", "subject", msg.Subject(), "err", err)
		return msg.Term()
	}
	// What the message says of its sender is overwritten by the subject, which the server let this worker use.
	r.Machine.Worker = name(strings.TrimPrefix(msg.Subject(), resultPrefix))
	if err := fn(ctx, r); err != nil {
		return errors.Join(fmt.Errorf("queue: result of attempt %s: %w", r.AttemptID, err), msg.NakWithDelay(recordAgain))
	}
	// The site may stop at this moment; a result that is recorded is still taken off.
	ack, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestWait)
	defer cancel()
	if err := msg.DoubleAck(ack); err != nil {
		return fmt.Errorf("queue: result of attempt %s is recorded, but not taken off: %w", r.AttemptID, err)
	}
	return nil
}

// next waits for one message, with one request after the other.
func next(ctx context.Context, consumer jetstream.Consumer) (jetstream.Msg, error) {
	for {
		msg, err := once(ctx, consumer)
		switch {
		case err == nil:
			return msg, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, nats.ErrConnectionClosed):
			return nil, err
		case errors.Is(err, nats.ErrTimeout), errors.Is(err, context.DeadlineExceeded):
			continue
		}
		if err := pause(ctx, askAgain); err != nil { // a server that is restarting: ask again, but not in a busy loop
			return nil, err
		}
	}
}

func once(ctx context.Context, consumer jetstream.Consumer) (jetstream.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, pullFor)
	defer cancel()
	return consumer.Next(jetstream.FetchContext(ctx))
}
