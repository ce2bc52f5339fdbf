package tier

import (
	"crypto/sha256"
	"errors"
	"sync"
	"testing"
	"time"
)

// Patience measures how long this machine takes to hash hashedBytes. An idle machine with two cores takes idleHashTime.
// A machine that is slower by some factor gets that multiple of minPatience, up to maxPatience.
const (
	hashedBytes  = 32 << 20
	idleHashTime = 30 * time.Millisecond
	minPatience  = 2 * time.Minute
	maxPatience  = 8 * time.Minute
)

// Patience returns how long a test waits for a state before it fails: two to eight minutes, depending on the speed of
// this machine, which is measured once per process. A test that passes does not wait that long.
var Patience = sync.OnceValue(func() time.Duration {
	began := time.Now()
	sha256.Sum256(make([]byte, hashedBytes))
	slowness := float64(time.Since(began)) / float64(idleHashTime)
	return min(max(minPatience, time.Duration(slowness*float64(minPatience))), maxPatience)
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
