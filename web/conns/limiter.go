package conns

import (
	"slices"
	"sync"
)

// Share lists the names under which a sender is counted: the sender's own, then those of its groups, from small to
// large. nil is an unknown visitor, who is only counted in total.
type Share []string

// Resource names a limited resource that senders occupy for some time, such as a connection.
type Resource string

// Connections is the resource of open connections, which a Guard counts.
const Connections Resource = "connections"

// Bound limits a resource: Max in total, and Each for the first name of a Share. Each following name of the Share has
// twice the limit of the name before it.
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

// Take counts n units of a resource for who, and returns an error if a limit does not allow it. Call give once to
// release them.
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

// Taken returns the used amount of some resources.
func (l *Limiter) Taken(of ...Resource) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, one := range of {
		n += l.takenByShare[one][""]
	}
	return n
}

// HalfUsed reports whether more than half of the resource's total limit is in use.
func (l *Limiter) HalfUsed(of Resource) bool { return 2*l.Taken(of) > l.bounds[of].Max }
