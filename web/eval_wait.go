package web

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/gofiber/fiber/v2"

	"warpboard/models"
)

// evalPoll is how long a missed message of the hub can delay a waiting caller.
const evalPoll = time.Second

// stopPause is when a caller who was cut off by a restart may come again.
const stopPause = 5 * time.Second

// Why nobody waits for an evaluation any more.
var (
	errCallerGone = errors.New("the caller has left")
	errQueueFull  = errors.New("no device came free")
)

// awaitEvaluation follows an evaluation until ctx ends or until ready says that it has seen enough; it
// returns the evaluation as it then is.
func (s *Server) awaitEvaluation(ctx context.Context, id string, ready func(models.Evaluation) bool) (models.Evaluation, error) {
	sub := s.hub.subscribe(topic{kind: topicEvaluation, name: id})
	defer s.hub.unsubscribe(sub)
	poll := time.NewTicker(evalPoll)
	defer poll.Stop()
	for {
		e, err := s.store.Evaluation(ctx, id)
		if err != nil || ready(e) {
			return e, err
		}
		select {
		case <-sub.C:
		case <-poll.C:
		case <-ctx.Done():
			return e, context.Cause(ctx)
		}
	}
}

// waiter waits for the end of an evaluation on behalf of a caller.
type waiter struct {
	id    string
	leave context.CancelCauseFunc
	done  chan struct{} // closed when last and err are set
	last  models.Evaluation
	err   error
}

// waitFor begins to wait until an evaluation has ended. When the caller leaves, or no device comes free in
// time, it is cancelled. Nothing may read from the caller's connection before the waiter is done.
func (s *Server) waitFor(c *fiber.Ctx, e models.Evaluation) *waiter {
	ctx, cancel := context.WithCancelCause(s.streams)
	w := &waiter{id: e.ID, leave: cancel, done: make(chan struct{}), last: e}
	stop := onLeaving(c.Context().Conn(), func() { cancel(errCallerGone) })
	s.sending.Go(func() {
		defer close(w.done)
		defer cancel(nil)
		defer stop()
		w.last, w.err = s.awaitEnd(ctx, cancel, e)
	})
	return w
}

func (s *Server) awaitEnd(ctx context.Context, cancel context.CancelCauseFunc, e models.Evaluation) (models.Evaluation, error) {
	giveUp := e.QueuedAt.Add(s.cfg.EvalLimits.Wait)
	last, err := s.awaitEvaluation(ctx, e.ID, func(e models.Evaluation) bool {
		if e.StartedAt == nil && !e.State.Final() && time.Now().After(giveUp) {
			cancel(errQueueFull)
		}
		return e.State.Final()
	})
	if err != nil && ctx.Err() != nil { // the store may have noticed first, in its own words
		err = context.Cause(ctx)
	}
	switch {
	case errors.Is(err, errCallerGone), errors.Is(err, errQueueFull):
		s.dropEvaluation(e.ID, err)
	case err != nil && s.streams.Err() != nil:
		err = &failure{status: fiber.StatusServiceUnavailable, code: "stopping", retryAfter: stopPause,
			message: "The site is being restarted. The evaluation goes on; its result will be at /api/v1/evaluations/" + e.ID}
	}
	if last.ID == "" { // it could not be read again
		last = e
	}
	return last, err
}

// dropEvaluation cancels an evaluation that nobody waits for.
func (s *Server) dropEvaluation(id string, why error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.requests), requestTimeout)
	defer cancel()
	err := s.cfg.Dispatcher.CancelEvaluation(ctx, id, fmt.Sprintf("It was cancelled: %v.", why))
	if err != nil && models.KindOf(err) != models.Conflict {
		s.log.Error("an evaluation that nobody waits for goes on", "evaluation", id, "error", err)
	}
}

// onLeaving calls fn when the other side of a connection goes away before stop is called. Until then
// nothing else may read from the connection. What is not plain TCP cannot be watched.
func onLeaving(conn net.Conn, fn func()) (stop func()) {
	sc, ok := conn.(syscall.Conn)
	if !ok {
		return func() {}
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return func() {}
	}
	conn.SetReadDeadline(time.Time{})
	var watching sync.WaitGroup
	watching.Go(func() {
		n, err := peek(raw)
		if n == 0 && !errors.Is(err, os.ErrDeadlineExceeded) {
			fn()
		}
	})
	return func() {
		conn.SetReadDeadline(time.Unix(1, 0)) // ends the watch
		watching.Wait()
		conn.SetReadDeadline(time.Time{})
	}
}
