package conns

import (
	"slices"
	"sync"
)

// SenderKeys lists the names under which a sender is counted: the sender's own, then those of its groups, from small to
// large. nil is an unknown visitor, who is only counted in total.
type SenderKeys []string

// Resource names a limited resource that senders occupy for some time, such as a connection.
type Resource string

// ConnectionsResource is the resource of open connections, which a LimitedListener counts.
const ConnectionsResource Resource = "connections"

// ResourceLimit limits a resource: Total in total, and PerSender for the first key of SenderKeys. Each following key
// has twice the limit of the one before it.
type ResourceLimit struct {
	Total, PerSender              int
	ErrTotalLimit, ErrSenderLimit error // the resource is used up; the sender's share is used up
}

// Limiter counts the use of resources.
type Limiter struct {
	limits       map[Resource]ResourceLimit
	mu           sync.Mutex
	usedBySender map[Resource]map[string]int // resource → sender's name → amount in use; the empty name has the total
}

// NewLimiter returns a limiter of these resources.
func NewLimiter(bounds map[Resource]ResourceLimit) *Limiter {
	l := &Limiter{limits: bounds, usedBySender: map[Resource]map[string]int{}}
	for of := range bounds {
		l.usedBySender[of] = map[string]int{}
	}
	return l
}

// Acquire counts n units of a resource for the sender with the keys who, and returns an error if a limit does not allow
// it. Call give once to release the units.
func (l *Limiter) Acquire(of Resource, who SenderKeys, n int) (give func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	bound := l.limits[of]
	for i, name := range who {
		if l.usedBySender[of][name]+n > bound.PerSender<<i {
			return nil, bound.ErrSenderLimit
		}
	}
	if l.usedBySender[of][""]+n > bound.Total {
		return nil, bound.ErrTotalLimit
	}
	l.addUse(of, who, n)
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.addUse(of, who, -n)
	}, nil
}

func (l *Limiter) addUse(of Resource, who SenderKeys, n int) {
	for _, name := range slices.Concat(who, SenderKeys{""}) {
		if l.usedBySender[of][name] += n; l.usedBySender[of][name] == 0 {
			delete(l.usedBySender[of], name)
		}
	}
}

// InUse returns the used amount of some resources.
func (l *Limiter) InUse(of ...Resource) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, one := range of {
		n += l.usedBySender[one][""]
	}
	return n
}

// IsHalfUsed reports whether more than half of the resource's total limit is in use.
func (l *Limiter) IsHalfUsed(of Resource) bool { return 2*l.InUse(of) > l.limits[of].Total }
