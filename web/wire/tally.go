package wire

import "sync"

// Room is what a tally says of a wish.
type Room int

const (
	Enough Room = iota // what was wished is counted
	Full               // nobody gets more
	UsedUp             // this one has its share
)

// Tally counts what is under way: in all, and for each whom it is done for. The empty name is somebody
// unknown, who has no share of his own.
type Tally struct {
	most, share int

	mu  sync.Mutex
	all int
	of  map[string]int
}

// NewTally counts up to most in all, and up to share for each name.
func NewTally(most, share int) *Tally { return &Tally{most: most, share: share, of: map[string]int{}} }

// Take counts n more for who, if there is room; give must follow then, and only then.
func (t *Tally) Take(who string, n int) Room {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case who != "" && t.of[who]+n > t.share:
		return UsedUp
	case t.all+n > t.most:
		return Full
	}
	t.all += n
	if who != "" {
		t.of[who] += n
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
func (t *Tally) Give(who string, n int) {
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
