package wire

import "testing"

func TestATallyForgetsWhoHasGivenEverythingBack(t *testing.T) {
	tally := NewTally(3, 2)
	for _, want := range []Room{Enough, Enough, UsedUp} {
		if got := tally.Take("a", 1); got != want {
			t.Errorf("taking for a: %v, want %v", got, want)
		}
	}
	if got := tally.Take("", 2); got != Full {
		t.Errorf("taking more than there is: %v", got)
	}
	tally.Give("a", 2)
	if tally.Taken() != 0 || len(tally.of) != 0 {
		t.Errorf("%d taken by %d are left", tally.Taken(), len(tally.of))
	}
}
