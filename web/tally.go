package web

import "sync"

// room is what a tally says of a wish.
type room int

const (
	roomEnough room = iota
	roomFull        // nobody gets more
	roomUsedUp      // this one has its share
)

// tally counts what is under way: in all, and for each whom it is done for. The empty name is somebody
// unknown, who has no share of his own.
type tally struct {
	most, share int

	mu  sync.Mutex
	all int
	of  map[string]int
}

func newTally(most, share int) *tally { return &tally{most: most, share: share, of: map[string]int{}} }

// take counts n more for who, if there is room; give must follow then, and only then.
func (t *tally) take(who string, n int) room {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case who != "" && t.of[who]+n > t.share:
		return roomUsedUp
	case t.all+n > t.most:
		return roomFull
	}
	t.all += n
	if who != "" {
		t.of[who] += n
	}
	return roomEnough
}

// crowded tells whether more than half of the room is taken.
func (t *tally) crowded() bool {
	return 2*t.taken() > t.most
}

// taken is how much is under way in all.
func (t *tally) taken() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.all
}

// give takes back what was counted.
func (t *tally) give(who string, n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all -= n
	if who == "" {
		return
	}
	if t.of[who] -= n; t.of[who] <= 0 {
		delete(t.of, who)
	}
}
