package site

import (
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"warpboard/web/conns"
)

// pool has places for requests whose length the senders choose. There are fewer than the places for all requests, so that
// others are still answered.
type pool struct{ people, strangers *conns.Tally }

func newPool(most, each int) pool {
	return pool{conns.NewTally(most, each), conns.NewTally(most, each)}
}

// Taken is how many requests are counted.
func (p pool) Taken() int { return p.people.Taken() + p.strangers.Taken() }

// take counts one more request until end is called. People count for themselves, strangers by address.
func (p pool) take(c *fiber.Ctx, doing string) (end func(), err error) {
	tally, who := p.of(c)
	return takeOf(tally, who, doing)
}

// of is where the sender of a request counts, and as whom.
func (p pool) of(c *fiber.Ctx) (*conns.Tally, conns.Share) {
	if user := Viewer(c); user != nil {
		return p.people, personShare(user.ID)
	}
	return p.strangers, shareOf(c)
}

func takeOf(tally *conns.Tally, who conns.Share, doing string) (end func(), err error) {
	switch tally.Take(who, 1) {
	case conns.UsedUp:
		return nil, TooMany(fmt.Sprintf("Too many of your requests %s at once. Try again in a moment.", doing), RetrySoon)
	case conns.Full:
		return nil, Busy(fmt.Sprintf("Too many requests %s just now. Try again in a moment.", doing))
	}
	return func() { tally.Give(who, 1) }, nil
}

// takeLater counts one more request, unless it has ended after so long: those that are quick need no room. If there is none then,
// refused is called, and refusal says why. Several goroutines may ask; after end nothing is called any more.
func (p pool) takeLater(c *fiber.Ctx, after time.Duration, doing string, refused func()) *laterPlace {
	place := &laterPlace{}
	tally, who := p.of(c)
	place.timer = time.AfterFunc(after, func() {
		place.mu.Lock()
		defer place.mu.Unlock()
		if place.ended {
			return
		}
		if place.give, place.why = takeOf(tally, who, doing); place.why != nil {
			refused()
		}
	})
	return place
}

// laterPlace is a place in a pool that is taken later, or never. mu guards all but the timer.
type laterPlace struct {
	timer *time.Timer
	mu    sync.Mutex
	ended bool
	give  func()
	why   error
}

func (l *laterPlace) refusal() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.why
}

func (l *laterPlace) end() {
	l.timer.Stop()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.give != nil && !l.ended {
		l.give()
	}
	l.ended = true
}

func personShare(id int64) conns.Share { return conns.Share{fmt.Sprint("person:", id)} }

// Wait takes one of the places for requests that are answered when something happens, until end is called.
func (s *Site) Wait(c *fiber.Ctx) (end func(), err error) { return s.Waiting.take(c, "wait") }

// AsksToWait reports whether a request asks for an answer that comes when something has ended.
func AsksToWait(c *fiber.Ctx) bool { return c.QueryInt("wait") > 0 }

// InTurn lets few of the requests that ask to wait work at once, so that thousands do not keep the database from pages. It comes
// after the body was read: no request holds its turn while it waits for its sender.
func (s *Site) InTurn(c *fiber.Ctx) error {
	if !AsksToWait(c) {
		return c.Next()
	}
	select {
	case s.turns <- struct{}{}:
	case <-c.UserContext().Done():
		return Busy("Too many requests wait just now. Try again in a moment.")
	}
	defer func() { <-s.turns }()
	return c.Next()
}

// WaitIfRoom is Wait for a request that can be answered at once, too: false says to do that, and the answer says when to ask
// again. Such requests take half of the places, so that those that cannot find one. Until end is called, others have the turn
// that InTurn gave.
func (s *Site) WaitIfRoom(c *fiber.Ctx) (end func(), ok bool) {
	if tally, _ := s.Waiting.of(c); !tally.Crowded() {
		if end, err := s.Wait(c); err == nil {
			<-s.turns
			return func() { end(); s.turns <- struct{}{} }, true
		}
	}
	c.Set(fiber.HeaderRetryAfter, strconv.Itoa(int(RetrySoon.Seconds())))
	return nil, false
}
