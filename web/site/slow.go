package site

import (
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"warpboard/web/conns"
)

// senderOfRequest returns the resource and the names under which limits count a request's sender: people by account,
// visitors by address.
func senderOfRequest(c *fiber.Ctx, of conns.Resource) (conns.Resource, conns.SenderKeys) {
	if user := Viewer(c); user != nil {
		return of, conns.SenderKeys{fmt.Sprint("person:", user.ID)}
	}
	return VisitorResource(of), senderKeys(c)
}

// acquire counts n units of a resource for the sender of a request. Call give to release them.
func (s *Site) acquire(c *fiber.Ctx, of conns.Resource, n int) (give func(), err error) {
	of, who := senderOfRequest(c, of)
	return s.Limiter.Acquire(of, who, n)
}

// acquireLater takes one unit of a resource when the duration after has passed, unless end is called before: quick
// requests need no permit. If the limit is then reached, it calls refused, and refusal returns the error. It is safe
// for concurrent use.
func (s *Site) acquireLater(c *fiber.Ctx, of conns.Resource, after time.Duration, refused func()) *deferredPermit {
	place := &deferredPermit{}
	of, who := senderOfRequest(c, of)
	place.timer = time.AfterFunc(after, func() {
		place.mu.Lock()
		defer place.mu.Unlock()
		if place.ended {
			return
		}
		if place.release, place.refusalError = s.Limiter.Acquire(of, who, 1); place.refusalError != nil {
			refused()
		}
	})
	return place
}

// deferredPermit is the permit that a slow request needs. The request takes it when the timer fires, unless it has
// ended before. mu guards all fields except timer.
type deferredPermit struct {
	timer        *time.Timer
	mu           sync.Mutex
	ended        bool
	release      func()
	refusalError error
}

func (l *deferredPermit) refusal() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.refusalError
}

func (l *deferredPermit) end() {
	l.timer.Stop()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.release != nil && !l.ended {
		l.release()
	}
	l.ended = true
}

// TakeWaitPermit takes one of the permits for requests that wait for an event. Call end to release it. There are fewer
// permits than concurrent requests, so that waiting requests do not block others.
func (s *Site) TakeWaitPermit(c *fiber.Ctx) (end func(), err error) {
	return s.acquire(c, WaitingResource, 1)
}

// HasWaitParameter reports whether the request has ?wait=.
func HasWaitParameter(c *fiber.Ctx) bool { return c.QueryInt("wait") > 0 }

// LimitWorkOfWaitRequests limits how many requests with ?wait= use the database at the same time, so that thousands of
// them do not block pages. It must run after the body was read, so that a slow sender does not delay others.
func (s *Site) LimitWorkOfWaitRequests(c *fiber.Ctx) error {
	if !HasWaitParameter(c) {
		return c.Next()
	}
	select {
	case s.waitPermits <- struct{}{}:
	case <-c.UserContext().Done():
		return BusyError("Too many requests wait just now. Try again in a moment.")
	}
	defer func() { <-s.waitPermits }()
	return c.Next()
}

// TryTakeWaitPermit takes a permit like TakeWaitPermit, but only from half of the permits. If ok is false, it has set
// the Retry-After header, and the handler must respond at once. Until end is called, the request does not count in
// LimitWorkOfWaitRequests.
func (s *Site) TryTakeWaitPermit(c *fiber.Ctx) (end func(), ok bool) {
	if of, _ := senderOfRequest(c, WaitingResource); !s.Limiter.IsHalfUsed(of) {
		if end, err := s.TakeWaitPermit(c); err == nil {
			<-s.waitPermits
			return func() { end(); s.waitPermits <- struct{}{} }, true
		}
	}
	c.Set(fiber.HeaderRetryAfter, strconv.Itoa(int(TemporaryRetryAfter.Seconds())))
	return nil, false
}
