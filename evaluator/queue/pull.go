package queue

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// pull is one request for a message: how long it stands, and what else is asked for.
type pull struct {
	wait    time.Duration
	options []jetstream.FetchOpt
}

func plainPull() pull { return pull{wait: pullFor} }

// next waits for one message, with one request after the other.
func next(ctx context.Context, consumer jetstream.Consumer, request func() pull) (jetstream.Msg, error) {
	for {
		msg, err := once(ctx, consumer, request())
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
		select { // a server that is restarting: ask again, but not in a busy loop
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(consumerPoll):
		}
	}
}

func once(ctx context.Context, consumer jetstream.Consumer, p pull) (jetstream.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, p.wait)
	defer cancel()
	return consumer.Next(append(p.options, jetstream.FetchContext(ctx))...)
}
