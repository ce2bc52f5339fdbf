package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/time/rate"

	"warpboard/evaluator/job"
)

const (
	// How many requests are answered at the same time, and of one worker. Each may wait for the database.
	deskClerks, deskTurns = 4, 2
	// How many may wait of one worker, and how many bytes. Sixteen workers that fill theirs cost 1 GiB.
	deskWaiting, deskBytes = 512, 4 * MaxMessage
	// deskPatience bounds how long one worker's request keeps a clerk.
	deskPatience = 4 * time.Second
	// In bytes a second. A worker with 1,024 slots sends 350 kB a second, one with eight slots 3 kB. Each sync counts for
	// at least beatLeast.
	beatRate, beatBurst, beatLeast = 512 << 10, 2 * job.MaxHeartbeat, 4 << 10
)

// Desk answers workers. The subject, not the message, says which worker asks. After an error the worker asks again. Sync
// calls come one after the other; all others are concurrent.
type Desk interface {
	// Next begins an attempt and returns its job as JSON, or a task to precompile where that is asked for (job.Ask.Ahead).
	// Empty: there is none for now.
	Next(ctx context.Context, ask job.Ask) ([]byte, error)
	// Sync and Events return the attempts that the worker is to drop.
	Sync(ctx context.Context, h job.Heartbeat) (drop []string, err error)
	Events(ctx context.Context, batch []job.Event) (drop []string, err error)
	Result(ctx context.Context, r job.Result) error
}

// counter passes requests of workers to the desk and sends its answers.
//
// Serve's goroutine calls put, which never blocks. Two requests of one worker may be answered at the same time, or in another
// order than they came.
type counter struct {
	q           *Queue
	desk        Desk
	patience    context.Context // ends deskPatience after the site stops listening
	asks, syncs *fair
	rates       map[string]*rate.Limiter // of syncs, by worker; only Serve's goroutine uses it
}

// Serve answers workers until ctx ends, and then for some seconds what they have asked by then: what is not answered is asked
// again, of another process or the next one. It fails when the connection is closed for good.
func (q *Queue) Serve(ctx context.Context, desk Desk) error {
	patience, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	c := &counter{
		q: q, desk: desk, patience: patience, rates: map[string]*rate.Limiter{},
		asks:  newFair(deskClerks, deskTurns, deskWaiting, deskBytes),
		syncs: newFair(1, 1, 2, 2*job.MaxHeartbeat), // what a sync says is old soon
	}
	closed := q.nc.StatusChanged(nats.CLOSED)
	asked := make(chan *nats.Msg, 1<<16) // while it is full NATS drops messages of everyone
	sub, err := q.nc.ChanQueueSubscribe(askPrefix+">", askSites, asked)
	if err == nil {
		err = q.nc.FlushTimeout(requestWait) // who began to serve may be asked at once
	}
	if err != nil {
		return fmt.Errorf("queue: listen to workers: %w", err)
	}
	for ctx.Err() == nil && err == nil {
		select {
		case m := <-asked:
			c.put(m)
		case <-ctx.Done():
		case <-closed:
			err = fmt.Errorf("queue: the connection is closed: %w", q.nc.LastError())
		}
	}
	if failed := sub.Unsubscribe(); failed != nil && !errors.Is(failed, nats.ErrConnectionClosed) {
		err = errors.Join(err, fmt.Errorf("queue: stop listening to workers: %w", failed))
	}
	for len(asked) > 0 {
		c.put(<-asked)
	}
	defer time.AfterFunc(deskPatience, end).Stop()
	c.asks.running.Wait()
	c.syncs.running.Wait()
	return err
}

func (c *counter) put(m *nats.Msg) {
	worker, what, device := parseAsk(m.Subject)
	// Another's reply subject would have the site send there with its own rights.
	if worker == "" || !ownReply(worker, m.Reply) {
		c.q.drop("ask", "subject", m.Subject, "reply", m.Reply)
		return
	}
	waiting := c.asks
	if what == askSync {
		waiting = c.syncs
		of := c.rates[worker]
		if of == nil {
			of = rate.NewLimiter(beatRate, beatBurst)
			c.rates[worker] = of
		}
		if size := len(m.Data); size > job.MaxHeartbeat || !of.AllowN(time.Now(), max(size, beatLeast)) {
			c.q.drop("a sync that is too large or comes too soon", "worker", worker, "bytes", size)
			return
		}
	}
	if !waiting.do(c.patience, worker, len(m.Data), func() { c.answer(worker, what, device, m) }) && what != askSync {
		c.q.drop("a request of a worker that sends too many", "worker", worker)
	}
}

func (c *counter) answer(worker, what, device string, m *nats.Msg) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.patience), deskPatience)
	defer cancel()
	body, err := c.reply(ctx, worker, what, device, m.Data)
	answer := nats.NewMsg(m.Reply)
	answer.Data = body
	switch {
	case errors.Is(err, errNever):
		c.q.drop(what, "worker", worker, "err", err)
		answer.Header.Set(refusedKey, strings.TrimPrefix(oneLine(err), errNever.Error()+": "))
	case err != nil:
		c.q.failed.say(slog.LevelWarn, "a worker's request failed", "worker", worker, "what", what, "err", err)
		answer.Header.Set(laterKey, oneLine(err))
	}
	if err := c.q.nc.PublishMsg(answer); err != nil {
		c.q.log.Warn("a worker was not answered", "subject", m.Subject, "err", err)
	}
}

// oneLine is an error as the value of a header.
func oneLine(err error) string { return short(strings.Join(strings.Fields(err.Error()), " ")) }

func (c *counter) reply(ctx context.Context, worker, what, device string, data []byte) ([]byte, error) {
	switch what {
	case askNext:
		ask, err := decode[job.Ask](data)
		if err != nil {
			return nil, err
		}
		ask.Worker, ask.Device = worker, device
		return c.desk.Next(ctx, ask)
	case askSync:
		h, err := decode[job.Heartbeat](data)
		if err != nil {
			return nil, err
		}
		h.Worker = worker
		return ordered(c.desk.Sync(ctx, h))
	case askEvents:
		b, err := decode[batch](data)
		if err != nil {
			return nil, err
		}
		for i := range b {
			b[i].Worker = worker
		}
		return ordered(c.desk.Events(ctx, b))
	case askResult:
		r, err := decode[job.Result](data)
		if err != nil {
			return nil, err
		}
		r.Machine.Worker = worker
		return nil, c.desk.Result(ctx, r)
	}
	return nil, fmt.Errorf("%w: this version of the site does not know %.20q: update the worker", errNever, what)
}

// ordered is an answer that names attempts.
func ordered(drop []string, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	return json.Marshal(orders{drop})
}
