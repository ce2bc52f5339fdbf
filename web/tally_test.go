package web

import "testing"

func TestATallyForgetsWhoHasGivenEverythingBack(t *testing.T) {
	tally := newTally(3, 2)
	for _, want := range []room{roomEnough, roomEnough, roomUsedUp} {
		if got := tally.take("a", 1); got != want {
			t.Errorf("taking for a: %v, want %v", got, want)
		}
	}
	if got := tally.take("", 2); got != roomFull {
		t.Errorf("taking more than there is: %v", got)
	}
	tally.give("a", 2)
	if tally.taken() != 0 || len(tally.of) != 0 {
		t.Errorf("%d taken by %d are left", tally.taken(), len(tally.of))
	}
}
