package costtest

import (
	"runtime"
	"syscall"
	"testing"
	"time"

	"warpboard/internal/tier"
)

// What one request may take.
const (
	CPU    = 100 * time.Millisecond
	Memory = 64 << 20 // bytes that are allocated, which is more than are held at any time
)

// tries is the number of times that work is measured before it fails: other goroutines of the process count, too.
const tries = 4

// Check fails the test if work takes more than one request may each time that it is tried. Processor time counts in
// `make test-timed` alone.
func Check(t *testing.T, what string, work func()) {
	t.Helper()
	var cpu time.Duration
	var memory uint64
	timed := tier.Has(t, tier.Timed)
	for range tries {
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		began := computed(t)
		work()
		cpu = computed(t) - began
		runtime.ReadMemStats(&after)
		memory = after.TotalAlloc - before.TotalAlloc
		if (cpu <= CPU || !timed) && memory <= Memory*fatter {
			t.Logf("%s: %v of processor time, %.1f MB allocated", what, cpu.Round(time.Millisecond), float64(memory)/1e6)
			return
		}
	}
	t.Errorf("%s: %v of processor time and %.1f MB allocated; a request may take %v and %d MB", what, cpu.Round(time.Millisecond),
		float64(memory)/1e6, CPU, Memory*fatter>>20)
}

// computed is the processor time that this process has taken.
func computed(t *testing.T) time.Duration {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
