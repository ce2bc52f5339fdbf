package conns

import "testing"

func TestATallyForgetsWhoHasGivenEverythingBack(t *testing.T) {
	tally := NewTally(3, 2)
	for _, want := range []Room{Enough, Enough, UsedUp} {
		if got := tally.Take(Share{"a"}, 1); got != want {
			t.Errorf("taking for a: %v, want %v", got, want)
		}
	}
	if got := tally.Take(nil, 2); got != Full {
		t.Errorf("taking more than there is: %v", got)
	}
	tally.Give(Share{"a"}, 2)
	if tally.Taken() != 0 || len(tally.of) != 0 {
		t.Errorf("%d taken by %d are left", tally.Taken(), len(tally.of))
	}
}

func TestAWiderGroupHasTwiceTheShare(t *testing.T) {
	tally := NewTally(99, 2)
	for i, test := range []struct {
		who  Share
		want Room
	}{
		{Share{"a", "x", "all"}, Enough}, {Share{"a", "x", "all"}, UsedUp}, {Share{"b", "x", "all"}, Enough}, {Share{"c", "x", "all"}, UsedUp},
		{Share{"d", "y", "all"}, Enough}, {Share{"e", "y", "all"}, Enough}, {Share{"f", "z", "all"}, UsedUp},
	} {
		if got := tally.Take(test.who, 2); got != test.want {
			t.Errorf("%d: %v has %v, want %v", i, test.who, got, test.want)
		}
	}
	if tally.Take(nil, 92) != Full || tally.Take(nil, 2) != Enough {
		t.Error("what was refused is counted")
	}
}
