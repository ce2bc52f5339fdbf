package costtest

import (
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"warpboard/internal/test/tier"
)

// Limits of the cost of one request.
const (
	CPU    = 100 * time.Millisecond
	Memory = 64 << 20 // bytes allocated in total, including freed ones
)

// tries is the number of attempts before a check fails: other goroutines of the process also use memory and time.
const tries = 4

// Check fails the test if work exceeds the limits of one request in every try. Processor time is checked only in `make
// test-timed`.
func Check(t *testing.T, what string, work func()) {
	t.Helper()
	var cpu time.Duration
	var memory uint64
	// Called by a fuzz target: make test-timed runs only its seeds.
	drawn := strings.HasPrefix(t.Name(), "Fuzz") && !strings.Contains(t.Name(), "/")
	timed := !drawn && tier.Has(t, tier.Timed)
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

// computed returns the processor time that the process has used.
func computed(t *testing.T) time.Duration {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
