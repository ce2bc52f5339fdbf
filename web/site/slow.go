package site

import (
	"fmt"

	"github.com/gofiber/fiber/v2"

	"warpboard/web/wire"
)

// pool has room for requests that take as long as their senders like, in fewer numbers than there is room for requests: however
// many wait, others are answered.
type pool struct{ people, strangers *wire.Tally }

func newPool(most, each int) pool { return pool{wire.NewTally(most, each), wire.NewTally(most, each)} }

// Taken is how many requests are counted.
func (p pool) Taken() int { return p.people.Taken() + p.strangers.Taken() }

// take counts one more request until end is called. People count for themselves, strangers by address.
func (p pool) take(c *fiber.Ctx, doing string) (end func(), err error) {
	tally, who := p.strangers, shareOf(c)
	if user := Viewer(c); user != nil {
		tally, who = p.people, personShare(user.ID)
	}
	switch tally.Take(who, 1) {
	case wire.UsedUp:
		return nil, TooMany(fmt.Sprintf("Too many of your requests %s at once. Try again in a moment.", doing), RetrySoon)
	case wire.Full:
		return nil, Busy(fmt.Sprintf("Too many requests %s just now. Try again in a moment.", doing))
	}
	return func() { tally.Give(who, 1) }, nil
}

func personShare(id int64) wire.Share { return wire.Share{fmt.Sprint("person:", id)} }

// Wait takes one of the places for requests that are answered when something happens, until end is called.
func (s *Site) Wait(c *fiber.Ctx) (end func(), err error) { return s.Waiting.take(c, "wait") }
