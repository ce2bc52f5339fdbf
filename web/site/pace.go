package site

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const maxTrackedPeople = 1000 // number of remembered people; others have used nothing lately

// RateLimiter limits the rate of each person's actions. Each process counts separately, so two processes allow twice as
// many.
type RateLimiter struct {
	interval time.Duration
	burst    int // burst
	mu       sync.Mutex
	people   map[int64]*rate.Limiter
}

// NewPace allows each person a burst of ahead actions, and then one per interval every.
func NewPace(every time.Duration, ahead int) *RateLimiter {
	return &RateLimiter{interval: every, burst: ahead, people: map[int64]*rate.Limiter{}}
}

// Allows counts an action of a person and reports whether it is within the limit.
func (p *RateLimiter) Allows(person int64, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.people[person] == nil {
		p.forget(now)
		p.people[person] = rate.NewLimiter(rate.Every(p.interval), p.burst)
	}
	return p.people[person].AllowN(now, 1)
}

// forget removes people without recent actions if there are many entries. Their next action begins a new burst.
func (p *RateLimiter) forget(now time.Time) {
	if len(p.people) < maxTrackedPeople {
		return
	}
	for person, limiter := range p.people {
		if limiter.TokensAt(now) >= float64(p.burst) {
			delete(p.people, person)
		}
	}
}
