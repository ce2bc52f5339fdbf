package attempt

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"warpboard/evaluator/device"
	"warpboard/evaluator/job"
	"warpboard/evaluator/slots"
)

// TestPreemptedWorkDoesNotCountAsAFaultOfItsSlot is a regression test: jobs preempted a check of the profiler again and
// again, until the worker took the intact GPU out of service.
func TestPreemptedWorkDoesNotCountAsAFaultOfItsSlot(t *testing.T) {
	for _, c := range []struct {
		cause   error
		want    job.Outcome
		retired bool
	}{
		{slots.ErrPreempted, job.OutcomeHandedBack, false},
		{ErrStopping, job.OutcomeHandedBack, false},
		{ErrCancelled, job.OutcomeCancelled, false},
		{errors.New("no disk"), job.OutcomeLost, true},
	} {
		set := slots.NewSet(slots.Config{ConcurrentBuilds: 1, Slots: []device.Slot{{Device: "H200"}}})
		s := set.AllSlots()[0]
		for range 5 {
			a := New(Config{Slots: set, Slot: s})
			if got := a.Conclude(fmt.Errorf("building: %w", c.cause)); got.Outcome != c.want {
				t.Errorf("%v: outcome %s, want %s", c.cause, got.Outcome, c.want)
			}
		}
		if retired := s.ServiceContext().Err() != nil; retired != c.retired {
			t.Errorf("%v: retired %v, want %v", c.cause, retired, c.retired)
		}
	}
}

func TestCutKeepsBothEndsAndCharactersWhole(t *testing.T) {
	for _, limit := range []int{0, 1, 30, 31, 32, 33, 34, 50, 100} {
		got := ShortenMiddle("begin "+strings.Repeat("é", 200)+" end", limit)
		if !utf8.ValidString(got) || !strings.Contains(got, "bytes cut") || len(got) > limit+40 {
			t.Errorf("limit %d: %q", limit, got)
		}
		if limit == 100 && (!strings.HasPrefix(got, "begin é") || !strings.HasSuffix(got, "é end")) {
			t.Errorf("limit %d: %q", limit, got)
		}
	}
	if got := ShortenMiddle("short", 5); got != "short" {
		t.Errorf("got %q", got)
	}
}
