package conns

import (
	"errors"
	"testing"
)

var errFull, errUsedUp = errors.New("full"), errors.New("used up")

// limited is a limiter of connections.
func limited(most, each int) *Limiter {
	return NewLimiter(map[Resource]Bound{Connections: {Max: most, Each: each, ErrFull: errFull, ErrUsedUp: errUsedUp}})
}

func TestALimiterForgetsWhoHasGivenEverythingBack(t *testing.T) {
	l := limited(3, 2)
	var gives []func()
	for _, want := range []error{nil, nil, errUsedUp} {
		give, got := l.Take(Connections, Share{"a"}, 1)
		if got != want {
			t.Errorf("taking for a: %v, want %v", got, want)
		}
		gives = append(gives, give)
	}
	if _, got := l.Take(Connections, nil, 2); got != errFull {
		t.Errorf("taking more than there is: %v", got)
	}
	gives[0]()
	gives[1]()
	if l.Taken(Connections) != 0 || len(l.takenByShare[Connections]) != 0 {
		t.Errorf("%v are left", l.takenByShare)
	}
}

func TestAWiderGroupHasTwiceTheShare(t *testing.T) {
	l := limited(99, 2)
	for i, test := range []struct {
		who  Share
		want error
	}{
		{Share{"a", "x", "all"}, nil}, {Share{"a", "x", "all"}, errUsedUp}, {Share{"b", "x", "all"}, nil}, {Share{"c", "x", "all"}, errUsedUp},
		{Share{"d", "y", "all"}, nil}, {Share{"e", "y", "all"}, nil}, {Share{"f", "z", "all"}, errUsedUp},
	} {
		if _, got := l.Take(Connections, test.who, 2); got != test.want {
			t.Errorf("%d: %v has %v, want %v", i, test.who, got, test.want)
		}
	}
	_, full := l.Take(Connections, nil, 92)
	if _, fits := l.Take(Connections, nil, 2); full != errFull || fits != nil {
		t.Error("what was refused is counted")
	}
}
