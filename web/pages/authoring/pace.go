package authoring

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	checkEvery  = time.Second // a page sends a check half a second after the last key
	checksAhead = 10          // of someone who has several pages open
	mostPaces   = 1000        // people whose pace is known; the others have rested
)

// pace limits how often each person has a task checked. It is kept by this process: two of them let twice as much through.
type pace struct {
	mu     sync.Mutex
	people map[int64]*rate.Limiter
}

func newPace() *pace { return &pace{people: map[int64]*rate.Limiter{}} }

// allows counts a check, unless it is one too many.
func (p *pace) allows(person int64, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.people[person] == nil {
		p.forget(now)
		p.people[person] = rate.NewLimiter(rate.Every(checkEvery), checksAhead)
	}
	return p.people[person].AllowN(now, 1)
}

// forget drops those who have rested, once there are many: they begin again with as much as they have.
func (p *pace) forget(now time.Time) {
	if len(p.people) < mostPaces {
		return
	}
	for person, limiter := range p.people {
		if limiter.TokensAt(now) >= checksAhead {
			delete(p.people, person)
		}
	}
}
