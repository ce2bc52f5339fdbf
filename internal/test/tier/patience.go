package tier

import (
	"crypto/sha256"
	"errors"
	"sync"
	"testing"
	"time"
)

// The time in which an idle machine with two cores hashes a number of bytes, and the limits of Patience.
const (
	hashed        = 32 << 20
	idle          = 30 * time.Millisecond
	leastPatience = 2 * time.Minute
	mostPatience  = 8 * time.Minute
)

// Patience returns how long a test waits for a state before it fails: two to eight minutes, depending on the speed of
// this machine, which is measured once per process. A test that passes does not wait that long.
var Patience = sync.OnceValue(func() time.Duration {
	began := time.Now()
	sha256.Sum256(make([]byte, hashed))
	slowness := float64(time.Since(began)) / float64(idle)
	return min(max(leastPatience, time.Duration(slowness*float64(leastPatience))), mostPatience)
})

// WaitFor calls cond until it returns nil. It fails the test with cond's last error after Patience.
func WaitFor(tb testing.TB, what string, cond func() error) {
	tb.Helper()
	limit := Patience()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	timeout := time.NewTimer(limit)
	defer timeout.Stop()
	for {
		err := cond()
		if err == nil {
			return
		}
		select {
		case <-tb.Context().Done():
			tb.Fatalf("%s: %v", what, err)
		case <-timeout.C:
			tb.Fatalf("waited %v for %s: %v", limit, what, err)
		case <-tick.C:
		}
	}
}

// Until is WaitFor with a condition that returns no error.
func Until(tb testing.TB, what string, done func() bool) {
	tb.Helper()
	WaitFor(tb, what, func() error {
		if done() {
			return nil
		}
		return errors.New("it is not so")
	})
}
