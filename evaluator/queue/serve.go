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
	// maxRequests limits the requests that are processed concurrently, and maxWorkerRequests those of one worker. Each
	// may wait for the database.
	maxRequests, maxWorkerRequests = 4, 2
	// maxWaitingRequests limits the waiting requests of one worker, and maxWaitingRequestBytes their size. Sixteen
	// workers at the limit take 1 GiB.
	maxWaitingRequests, maxWaitingRequestBytes = 512, 4 * MaxMessage
	// answerTimeout limits the time for processing one request.
	answerTimeout = 4 * time.Second
	// maxHeartbeatBytesPerSecond limits heartbeats, in bytes per second. A worker with 1,024 slots sends 350 kB/s, one
	// with eight slots 3 kB/s. Each heartbeat counts at least minHeartbeatCost.
	maxHeartbeatBytesPerSecond, heartbeatBurst, minHeartbeatCost = 512 << 10, 2 * job.MaxHeartbeatBytes, 4 << 10
)

// Handler processes the requests of workers. The worker's name comes from the subject, not from the message. After an
// error the worker asks again. Calls of Sync are sequential; all others are concurrent.
type Handler interface {
	// Next starts an attempt and returns its job as JSON, or a task to precompile if ask.WantsPrecompileJob is set. It
	// returns nil if there is none.
	Next(ctx context.Context, ask job.WorkRequest) ([]byte, error)
	// Sync and StoreEvents return the attempts that the worker must drop.
	Sync(ctx context.Context, h job.Heartbeat) (drop []string, err error)
	StoreEvents(ctx context.Context, batch []job.Event) (drop []string, err error)
	StoreResult(ctx context.Context, r job.Result) error
}

// requestResponder passes requests of workers to the Handler and sends its responses.
//
// The goroutine of Serve calls acceptRequest, which never blocks. Two requests of one worker may be processed
// concurrently and in any order.
type requestResponder struct {
	queue                        *Queue
	handler                      Handler
	answerTime                   context.Context // is done answerTimeout after Serve stops listening
	jobRequestLimits, syncLimits *workerLimits
	heartbeatRates               map[string]*rate.Limiter // of heartbeats, by worker; only Serve's goroutine uses it
}

// Serve processes requests until ctx ends, and then for up to answerTimeout those received before. Workers repeat
// requests without a response, to another process or the next one. It returns an error if the connection is closed
// permanently.
func (q *Queue) Serve(ctx context.Context, handler Handler) error {
	answering, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	c := &requestResponder{
		queue: q, handler: handler, answerTime: answering, heartbeatRates: map[string]*rate.Limiter{},
		jobRequestLimits: newWorkerLimits(maxRequests, maxWorkerRequests, maxWaitingRequests, maxWaitingRequestBytes),
		syncLimits:       newWorkerLimits(1, 1, 2, 2*job.MaxHeartbeatBytes), // older waiting heartbeats can be dropped
	}
	closed := q.natsConn.StatusChanged(nats.CLOSED)
	asked := make(chan *nats.Msg, 1<<16) // while the channel is full, NATS drops requests of all workers
	sub, err := q.natsConn.ChanQueueSubscribe(requestPrefix+">", sitesQueueGroup, asked)
	if err == nil {
		err = q.natsConn.FlushTimeout(requestTimeout) // requests may arrive as soon as Serve has started
	}
	if err != nil {
		return fmt.Errorf("queue: listen to workers: %w", err)
	}
	for ctx.Err() == nil && err == nil {
		select {
		case m := <-asked:
			c.acceptRequest(m)
		case <-ctx.Done():
		case <-closed:
			err = fmt.Errorf("queue: the connection is closed: %w", q.natsConn.LastError())
		}
	}
	if failed := sub.Unsubscribe(); failed != nil && !errors.Is(failed, nats.ErrConnectionClosed) {
		err = errors.Join(err, fmt.Errorf("queue: stop listening to workers: %w", failed))
	}
	for len(asked) > 0 {
		c.acceptRequest(<-asked)
	}
	defer time.AfterFunc(answerTimeout, end).Stop()
	c.jobRequestLimits.runningRequests.Wait()
	c.syncLimits.runningRequests.Wait()
	return err
}

func (c *requestResponder) acceptRequest(m *nats.Msg) {
	worker, what, device := parseRequestSubject(m.Subject)
	// A response to another worker's reply subject would be sent there with the site's own permissions.
	if worker == "" || !isReplyToWorker(worker, m.Reply) {
		c.queue.logInvalid("ask", "subject", m.Subject, "reply", m.Reply)
		return
	}
	waiting := c.jobRequestLimits
	if what == heartbeatRequestName {
		waiting = c.syncLimits
		of := c.heartbeatRates[worker]
		if of == nil {
			of = rate.NewLimiter(maxHeartbeatBytesPerSecond, heartbeatBurst)
			c.heartbeatRates[worker] = of
		}
		if size := len(m.Data); size > job.MaxHeartbeatBytes || !of.AllowN(time.Now(), max(size, minHeartbeatCost)) {
			c.queue.logInvalid("a sync that is too large or comes too soon", "worker", worker, "bytes", size)
			return
		}
	}
	if !waiting.runWithinLimits(c.answerTime, worker, len(m.Data), func() { c.answer(worker, what, device, m) }) && what != heartbeatRequestName {
		c.queue.logInvalid("a request of a worker that sends too many", "worker", worker)
	}
}

func (c *requestResponder) answer(worker, what, device string, m *nats.Msg) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.answerTime), answerTimeout)
	defer cancel()
	body, err := c.reply(ctx, worker, what, device, m.Data)
	answer := nats.NewMsg(m.Reply)
	answer.Data = body
	switch {
	case errors.Is(err, errRefusedPermanently):
		c.queue.logInvalid(what, "worker", worker, "err", err)
		answer.Header.Set(refusedHeader, strings.TrimPrefix(errorHeaderValue(err), errRefusedPermanently.Error()+": "))
	case err != nil:
		c.queue.failedLog.write(slog.LevelWarn, "a worker's request failed", "worker", worker, "what", what, "err", err)
		answer.Header.Set(retryHeader, errorHeaderValue(err))
	}
	if err := c.queue.natsConn.PublishMsg(answer); err != nil {
		c.queue.log.Warn("a worker was not answered", "subject", m.Subject, "err", err)
	}
}

// errorHeaderValue converts an error to the value of a header.
func errorHeaderValue(err error) string {
	return shortenForLog(strings.Join(strings.Fields(err.Error()), " "))
}

func (c *requestResponder) reply(ctx context.Context, worker, what, device string, data []byte) ([]byte, error) {
	switch what {
	case jobRequestName:
		ask, err := decodeMessage[job.WorkRequest](data)
		if err != nil {
			return nil, err
		}
		ask.Worker, ask.Device = worker, device
		return c.handler.Next(ctx, ask)
	case heartbeatRequestName:
		h, err := decodeMessage[job.Heartbeat](data)
		if err != nil {
			return nil, err
		}
		h.Worker = worker
		return encodeDroppedAttempts(c.handler.Sync(ctx, h))
	case eventsRequestName:
		b, err := decodeMessage[eventBatch](data)
		if err != nil {
			return nil, err
		}
		for i := range b {
			b[i].Worker = worker
		}
		return encodeDroppedAttempts(c.handler.StoreEvents(ctx, b))
	case resultRequestName:
		r, err := decodeMessage[job.Result](data)
		if err != nil {
			return nil, err
		}
		r.Machine.Worker = worker
		return nil, c.handler.StoreResult(ctx, r)
	}
	return nil, fmt.Errorf("%w: this version of the site does not know %.20q: update the worker", errRefusedPermanently, what)
}

// encodeDroppedAttempts encodes a response that lists attempts.
func encodeDroppedAttempts(drop []string, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	return json.Marshal(droppedAttemptsReply{drop})
}
