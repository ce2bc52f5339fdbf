package site

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const mostPaces = 1000 // people whose pace is known; the others have rested

// Pace limits how often each person does something. It is kept by this process: two of them let twice as much through.
type Pace struct {
	every  time.Duration
	ahead  int // done at once
	mu     sync.Mutex
	people map[int64]*rate.Limiter
}

// NewPace lets each person do something so many times at once, and then once in every time.
func NewPace(every time.Duration, ahead int) *Pace {
	return &Pace{every: every, ahead: ahead, people: map[int64]*rate.Limiter{}}
}

// Allows counts an act, unless it is one too many.
func (p *Pace) Allows(person int64, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.people[person] == nil {
		p.forget(now)
		p.people[person] = rate.NewLimiter(rate.Every(p.every), p.ahead)
	}
	return p.people[person].AllowN(now, 1)
}

// forget drops those who have rested, once there are many: they begin again with as much as they have.
func (p *Pace) forget(now time.Time) {
	if len(p.people) < mostPaces {
		return
	}
	for person, limiter := range p.people {
		if limiter.TokensAt(now) >= float64(p.ahead) {
			delete(p.people, person)
		}
	}
}
