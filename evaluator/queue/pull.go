package queue

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

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
		select { // a server that is restarting: ask again, but not in a busy loop
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(askAgain):
		}
	}
}

func once(ctx context.Context, consumer jetstream.Consumer) (jetstream.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, pullFor)
	defer cancel()
	return consumer.Next(jetstream.FetchContext(ctx))
}
