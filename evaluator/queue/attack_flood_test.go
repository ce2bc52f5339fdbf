package queue

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/nats-io/nats.go"

	"warpboard/evaluator/job"
	"warpboard/evaluator/queue/queuetest"
)

// TestAStolenSecretFillsNoMemoryWithSubscriptions, each of which costs the server three kilobytes.
func TestAStolenSecretFillsNoMemoryWithSubscriptions(t *testing.T) {
	attackedEverywhere(t, func(t *testing.T, a *attacked) {
		nc := a.raw(t)
		for i := range 2000 {
			if _, err := nc.Subscribe(fmt.Sprintf("%s%s.%d", inboxPrefix, encodeToken(thief), i),
				func(*nats.Msg) {}); err != nil {
				t.Fatal(err)
			}
		}
		if err := nc.Flush(); err != nil {
			t.Fatal(err)
		}
		if err := nc.LastError(); !errors.Is(err, nats.ErrMaxSubscriptionsExceeded) {
			t.Errorf("2,000 subscriptions: %v", err)
		}
	})
}

// stuck is a site whose database has stopped answering.
type stuck struct {
	*queuetest.Handler
	asked atomic.Int64
}

func (s *stuck) StoreResult(ctx context.Context, _ job.Result) error {
	s.asked.Add(1)
	<-ctx.Done()
	return ctx.Err()
}

// TestASiteEndsSoonThoughAWorkerAskedForMuch: what it does not answer is asked again, of the next process.
func TestASiteEndsSoonThoughAWorkerAskedForMuch(t *testing.T) {
	t.Parallel() // seconds of waiting
	q, err := OpenQueue(t.Context(), Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(q.Close)
	handler := &stuck{Handler: &queuetest.Handler{}}
	stop := serving(t, q, handler)
	w := dial(t, WorkerConfig{Queue: q, Name: "w1"})
	const asks = 100
	for i := range asks {
		err := w.natsConn.PublishRequest(requestSubject("w1", resultRequestName), fmt.Sprintf("%s%s.%d", inboxPrefix, encodeToken("w1"), i),
			[]byte("{}"))
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Sync(t.Context(), job.Heartbeat{}); err != nil { // then all of them wait
		t.Fatal(err)
	}
	before := handler.asked.Load() // a busy machine may take longer than answerTimeout to come here
	stop()
	if n := handler.asked.Load() - before; n > asks/2 { // a few rounds, and not all of them
		t.Errorf("%d of %d questions were dealt with at the end, %s each", n, asks, answerTimeout)
	}
}
