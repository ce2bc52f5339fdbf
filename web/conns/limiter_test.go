package conns

import (
	"errors"
	"testing"
)

var errFull, errUsedUp = errors.New("full"), errors.New("used up")

// limited is a limiter of connections.
func limited(most, each int) *Limiter {
	return NewLimiter(map[Resource]ResourceLimit{ConnectionsResource: {Total: most, PerSender: each, ErrTotalLimit: errFull, ErrSenderLimit: errUsedUp}})
}

func TestALimiterForgetsWhoHasGivenEverythingBack(t *testing.T) {
	l := limited(3, 2)
	var gives []func()
	for _, want := range []error{nil, nil, errUsedUp} {
		give, got := l.Acquire(ConnectionsResource, SenderKeys{"a"}, 1)
		if got != want {
			t.Errorf("taking for a: %v, want %v", got, want)
		}
		gives = append(gives, give)
	}
	if _, got := l.Acquire(ConnectionsResource, nil, 2); got != errFull {
		t.Errorf("taking more than there is: %v", got)
	}
	gives[0]()
	gives[1]()
	if l.InUse(ConnectionsResource) != 0 || len(l.usedBySender[ConnectionsResource]) != 0 {
		t.Errorf("%v are left", l.usedBySender)
	}
}

func TestAWiderGroupHasTwiceTheShare(t *testing.T) {
	l := limited(99, 2)
	for i, test := range []struct {
		who  SenderKeys
		want error
	}{
		{SenderKeys{"a", "x", "all"}, nil}, {SenderKeys{"a", "x", "all"}, errUsedUp}, {SenderKeys{"b", "x", "all"}, nil}, {SenderKeys{"c", "x", "all"}, errUsedUp},
		{SenderKeys{"d", "y", "all"}, nil}, {SenderKeys{"e", "y", "all"}, nil}, {SenderKeys{"f", "z", "all"}, errUsedUp},
	} {
		if _, got := l.Acquire(ConnectionsResource, test.who, 2); got != test.want {
			t.Errorf("%d: %v has %v, want %v", i, test.who, got, test.want)
		}
	}
	_, full := l.Acquire(ConnectionsResource, nil, 92)
	if _, fits := l.Acquire(ConnectionsResource, nil, 2); full != errFull || fits != nil {
		t.Error("what was refused is counted")
	}
}
