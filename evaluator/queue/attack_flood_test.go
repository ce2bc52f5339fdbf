package queue

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/nats-io/nats.go"

	"warpboard/evaluator/job"
	"warpboard/evaluator/queue/queuetest"
)

// TestAStolenSecretFillsNoMemoryWithSubscriptions checks the limit of subscriptions per connection. Each costs the
// server 3 kB.
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

// TestFloodsOfSeveralWorkersDoNotCutTheSite checks that the server drops messages for the site when too many wait. If it
// cut the site's connection, no worker would be answered.
func TestFloodsOfSeveralWorkersDoNotCutTheSite(t *testing.T) {
	attackedEverywhere(t, func(t *testing.T, a *attacked) {
		var floods sync.WaitGroup
		for _, name := range []string{thief, sibling, victim} {
			nc := a.raw(t, nats.UserInfo(name, "secret-of-"+name))
			floods.Go(func() {
				result := bytes.Repeat([]byte("x"), 15<<20)
				for range 30 {
					nc.PublishRequest(requestSubject(name, resultRequestName), inboxPrefix+name+".x", result)
				}
				nc.Flush()
			})
		}
		floods.Wait()
		settle(t, a)
		if n := a.natsConn.Stats().Reconnects; n > 0 {
			t.Errorf("the site lost its connection %d times", n)
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

// TestASiteEndsSoonThoughAWorkerAskedForMuch checks that a site that stops does not process all waiting requests of a
// worker. The worker repeats the others, to the next process.
func TestASiteEndsSoonThoughAWorkerAskedForMuch(t *testing.T) {
	t.Parallel() // the test waits for several seconds
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
	if err := w.Sync(t.Context(), job.Heartbeat{}); err != nil { // then the site has received all requests
		t.Fatal(err)
	}
	before := handler.asked.Load() // on a busy machine, some requests may have timed out
	stop()
	if n := handler.asked.Load() - before; n > asks/2 { // a few batches of concurrent requests, not all
		t.Errorf("%d of %d questions were dealt with at the end, %s each", n, asks, answerTimeout)
	}
}
