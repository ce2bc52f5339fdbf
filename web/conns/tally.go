package conns

import "sync"

// Room is a tally's answer to a request.
type Room int

const (
	Enough Room = iota // the request is counted
	Full               // no one gets more
	UsedUp             // this one has its share
)

// Share identifies a sender: their name, then those of their groups, from small to large. nil is an unknown visitor, who has
// no share.
type Share []string

// Tally counts what is under way: in all, and for each name. The first name of a Share has one share, each further one
// twice as much as the one before.
type Tally struct {
	most, share int

	mu  sync.Mutex
	all int
	of  map[string]int
}

// NewTally counts up to most in all, and up to share for the first name of each Share.
func NewTally(most, share int) *Tally { return &Tally{most: most, share: share, of: map[string]int{}} }

// Take counts n more for who, if there is room; give must follow then, and only then.
func (t *Tally) Take(who Share, n int) Room {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, name := range who {
		if t.of[name]+n > t.share<<i {
			return UsedUp
		}
	}
	if t.all+n > t.most {
		return Full
	}
	t.all += n
	for _, name := range who {
		t.of[name] += n
	}
	return Enough
}

// Crowded reports whether more than half of the room is taken.
func (t *Tally) Crowded() bool {
	return 2*t.Taken() > t.most
}

// Taken is how much is under way in all.
func (t *Tally) Taken() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.all
}

// Give takes back what was counted.
func (t *Tally) Give(who Share, n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all -= n
	for _, name := range who {
		if t.of[name] -= n; t.of[name] <= 0 {
			delete(t.of, name)
		}
	}
}
