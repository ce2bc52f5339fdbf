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
	maxBurst int // largest number of actions at once
	mu       sync.Mutex
	people   map[int64]*rate.Limiter
}

// NewRateLimiter allows each person a burst of ahead actions, and then one per interval every.
func NewRateLimiter(every time.Duration, ahead int) *RateLimiter {
	return &RateLimiter{interval: every, maxBurst: ahead, people: map[int64]*rate.Limiter{}}
}

// Allows counts an action of a person and reports whether it is within the limit.
func (p *RateLimiter) Allows(person int64, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.people[person] == nil {
		p.forgetInactive(now)
		p.people[person] = rate.NewLimiter(rate.Every(p.interval), p.maxBurst)
	}
	return p.people[person].AllowN(now, 1)
}

// forgetInactive removes people without recent actions if there are many entries. Their next action begins a new burst.
func (p *RateLimiter) forgetInactive(now time.Time) {
	if len(p.people) < maxTrackedPeople {
		return
	}
	for person, limiter := range p.people {
		if limiter.TokensAt(now) >= float64(p.maxBurst) {
			delete(p.people, person)
		}
	}
}
