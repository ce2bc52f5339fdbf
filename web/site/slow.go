package site

import (
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"warpboard/web/conns"
)

// sender returns the resource and the names under which limits count a request's sender: people by account, visitors by
// address.
func sender(c *fiber.Ctx, of conns.Resource) (conns.Resource, conns.SenderKeys) {
	if user := Viewer(c); user != nil {
		return of, conns.SenderKeys{fmt.Sprint("person:", user.ID)}
	}
	return ForVisitors(of), shareOf(c)
}

// acquire counts n units of a resource for the sender of a request. Call give to release them.
func (s *Site) acquire(c *fiber.Ctx, of conns.Resource, n int) (give func(), err error) {
	of, who := sender(c, of)
	return s.Limiter.Acquire(of, who, n)
}

// acquireLater takes one unit of a resource after a delay, unless end is called before: quick requests need none. If
// the limit is reached then, it calls refused, and refusal returns the error. It is safe for concurrent use.
func (s *Site) acquireLater(c *fiber.Ctx, of conns.Resource, after time.Duration, refused func()) *deferredPermit {
	place := &deferredPermit{}
	of, who := sender(c, of)
	place.timer = time.AfterFunc(after, func() {
		place.mu.Lock()
		defer place.mu.Unlock()
		if place.ended {
			return
		}
		if place.give, place.why = s.Limiter.Acquire(of, who, 1); place.why != nil {
			refused()
		}
	})
	return place
}

// deferredPermit is the permit that a slow request needs. The request takes it when the timer fires, unless it has
// ended before. mu guards all fields except timer.
type deferredPermit struct {
	timer *time.Timer
	mu    sync.Mutex
	ended bool
	give  func()
	why   error
}

func (l *deferredPermit) refusal() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.why
}

func (l *deferredPermit) end() {
	l.timer.Stop()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.give != nil && !l.ended {
		l.give()
	}
	l.ended = true
}

// Wait takes one of the permits for requests that wait for an event. Call end to release it. There are fewer permits
// than concurrent requests, so that waiting requests do not block others.
func (s *Site) Wait(c *fiber.Ctx) (end func(), err error) { return s.acquire(c, Waiting, 1) }

// AsksToWait reports whether the request has ?wait=.
func AsksToWait(c *fiber.Ctx) bool { return c.QueryInt("wait") > 0 }

// LimitWaiting limits how many requests with ?wait= use the database at the same time, so that thousands of them do not
// block pages. It must run after the body was read, so that a slow sender does not delay others.
func (s *Site) LimitWaiting(c *fiber.Ctx) error {
	if !AsksToWait(c) {
		return c.Next()
	}
	select {
	case s.waitTokens <- struct{}{}:
	case <-c.UserContext().Done():
		return Busy("Too many requests wait just now. Try again in a moment.")
	}
	defer func() { <-s.waitTokens }()
	return c.Next()
}

// TryWait takes a permit as Wait does. If ok is false, respond at once; the Retry-After header is set. Such requests
// get at most half of the permits. Until end is called, the request does not count in LimitWaiting.
func (s *Site) TryWait(c *fiber.Ctx) (end func(), ok bool) {
	if of, _ := sender(c, Waiting); !s.Limiter.HalfUsed(of) {
		if end, err := s.Wait(c); err == nil {
			<-s.waitTokens
			return func() { end(); s.waitTokens <- struct{}{} }, true
		}
	}
	c.Set(fiber.HeaderRetryAfter, strconv.Itoa(int(RetrySoon.Seconds())))
	return nil, false
}
