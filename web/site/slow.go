package site

import (
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"warpboard/web/conns"
)

// sender returns the resource and the share for the sender of a request: people are counted individually, strangers by
// address.
func sender(c *fiber.Ctx, of conns.Resource) (conns.Resource, conns.Share) {
	if user := Viewer(c); user != nil {
		return of, conns.Share{fmt.Sprint("person:", user.ID)}
	}
	return ForVisitors(of), shareOf(c)
}

// take counts n more of a resource for the sender of a request until give is called.
func (s *Site) take(c *fiber.Ctx, of conns.Resource, n int) (give func(), err error) {
	of, who := sender(c, of)
	return s.Limiter.Take(of, who, n)
}

// takeLater takes one of a resource, unless end is called before: quick requests need no place. If there is no place
// then, it calls refused, and refusal returns the error. It is safe for concurrent use.
func (s *Site) takeLater(c *fiber.Ctx, of conns.Resource, after time.Duration, refused func()) *deferredPlace {
	place := &deferredPlace{}
	of, who := sender(c, of)
	place.timer = time.AfterFunc(after, func() {
		place.mu.Lock()
		defer place.mu.Unlock()
		if place.ended {
			return
		}
		if place.give, place.why = s.Limiter.Take(of, who, 1); place.why != nil {
			refused()
		}
	})
	return place
}

// deferredPlace is the place of a request among the slow ones, which are limited. The request takes it when the timer
// fires, and never if it has ended before. mu guards everything except the timer.
type deferredPlace struct {
	timer *time.Timer
	mu    sync.Mutex
	ended bool
	give  func()
	why   error
}

func (l *deferredPlace) refusal() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.why
}

func (l *deferredPlace) end() {
	l.timer.Stop()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.give != nil && !l.ended {
		l.give()
	}
	l.ended = true
}

// Wait takes one of the places for requests that wait for an event, until end is called. There are fewer than places
// for all requests, so that others are still answered.
func (s *Site) Wait(c *fiber.Ctx) (end func(), err error) { return s.take(c, Waiting, 1) }

// AsksToWait reports whether a request asks for an answer after an end.
func AsksToWait(c *fiber.Ctx) bool { return c.QueryInt("wait") > 0 }

// LimitWaiting lets few of the requests that ask to wait work concurrently, so that thousands do not block pages from
// the database. It must come after the body was read: no request holds its turn while it waits for its sender.
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

// TryWait is Wait for a request that can also be answered at once: if ok is false, answer now; the answer then has the
// time to ask again. Such requests take half of the places, so that other requests find one. Until end is called,
// others have the turn that LimitWaiting gave.
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
