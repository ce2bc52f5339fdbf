package conns

import (
	"slices"
	"sync"
)

// Share identifies a sender: their name, then those of their groups, from small to large. nil is an unknown visitor,
// who has no share.
type Share []string

// Resource is a limited resource that senders hold for a while.
type Resource string

// Connections are the open connections, which a Guard counts.
const Connections Resource = "connections"

// Bound limits a resource: in all, and for the first name of each Share. Each further name of a Share has twice the
// limit of the one before. The errors are for refused senders.
type Bound struct {
	Max, Each          int
	ErrFull, ErrUsedUp error // the resource is used up; the sender's share is used up
}

// Limiter counts the use of resources.
type Limiter struct {
	bounds       map[Resource]Bound
	mu           sync.Mutex
	takenByShare map[Resource]map[string]int // by name; the total has the empty name
}

// NewLimiter returns a limiter of these resources.
func NewLimiter(bounds map[Resource]Bound) *Limiter {
	l := &Limiter{bounds: bounds, takenByShare: map[Resource]map[string]int{}}
	for of := range bounds {
		l.takenByShare[of] = map[string]int{}
	}
	return l
}

// Take counts n more of a resource for who until give is called, once, if the limits allow it.
func (l *Limiter) Take(of Resource, who Share, n int) (give func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	bound := l.bounds[of]
	for i, name := range who {
		if l.takenByShare[of][name]+n > bound.Each<<i {
			return nil, bound.ErrUsedUp
		}
	}
	if l.takenByShare[of][""]+n > bound.Max {
		return nil, bound.ErrFull
	}
	l.add(of, who, n)
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.add(of, who, -n)
	}, nil
}

func (l *Limiter) add(of Resource, who Share, n int) {
	for _, name := range slices.Concat(who, Share{""}) {
		if l.takenByShare[of][name] += n; l.takenByShare[of][name] == 0 {
			delete(l.takenByShare[of], name)
		}
	}
}

// Taken returns the amount of some resources in use.
func (l *Limiter) Taken(of ...Resource) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, one := range of {
		n += l.takenByShare[one][""]
	}
	return n
}

// HalfUsed reports whether more than half of a resource is in use.
func (l *Limiter) HalfUsed(of Resource) bool { return 2*l.Taken(of) > l.bounds[of].Max }
