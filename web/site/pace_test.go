package site

import (
	"testing"
	"time"
)

// TestAPaceLetsABurstThroughAndThenOneASecond checks that each person has a separate limit, and that people without
// recent actions are removed from memory.
func TestAPaceLetsABurstThroughAndThenOneASecond(t *testing.T) {
	p, now := NewRateLimiter(time.Second, 10), time.Now()
	passed := func(person int64, times int) (n int) {
		for range times {
			if p.Allows(person, now) {
				n++
			}
		}
		return n
	}
	if n := passed(1, 50); n != 10 {
		t.Errorf("%d pass at once, want %d", n, 10)
	}
	if n := passed(2, 1); n != 1 {
		t.Error("someone else is refused")
	}
	now = now.Add(time.Second)
	if n := passed(1, 5); n != 1 {
		t.Errorf("%d pass a second later, want 1", n)
	}
	for person := range int64(maxTrackedPeople) {
		passed(10+person, 1)
	}
	now = now.Add(time.Hour)
	if passed(1, 1); len(p.people) > maxTrackedPeople+2 {
		t.Errorf("%d people are remembered", len(p.people))
	}
	passed(5000, 1)
	if len(p.people) > 2 {
		t.Errorf("%d people are remembered once all have rested", len(p.people))
	}
}
