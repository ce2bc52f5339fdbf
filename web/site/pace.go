package site

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const maxTrackedPeople = 1000 // number of remembered people; others have used nothing lately

// Pace limits the rate of each person's acts. Each process counts separately: two of them allow twice as much.
type Pace struct {
	interval time.Duration
	burst    int // burst
	mu       sync.Mutex
	people   map[int64]*rate.Limiter
}

// NewPace allows each person a burst of acts, and then one per interval.
func NewPace(every time.Duration, ahead int) *Pace {
	return &Pace{interval: every, burst: ahead, people: map[int64]*rate.Limiter{}}
}

// Allows counts an act and reports whether it is within the limit.
func (p *Pace) Allows(person int64, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.people[person] == nil {
		p.forget(now)
		p.people[person] = rate.NewLimiter(rate.Every(p.interval), p.burst)
	}
	return p.people[person].AllowN(now, 1)
}

// forget drops people without recent acts, once there are many: they start again with the full burst.
func (p *Pace) forget(now time.Time) {
	if len(p.people) < maxTrackedPeople {
		return
	}
	for person, limiter := range p.people {
		if limiter.TokensAt(now) >= float64(p.burst) {
			delete(p.people, person)
		}
	}
}
