package costtest

import (
	"encoding/json"
	"math"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"warpboard/internal/test/tier"
)

// Limits of the cost of one request.
const (
	CPU    = 100 * time.Millisecond // on a machine that does sample in sampleTime
	Memory = 64 << 20               // bytes allocated in total, including freed ones
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
		if (!timed || cpu <= CPU || cpu <= slowerBy(t, CPU)) && memory <= Memory*fatter {
			t.Logf("%s: %v of processor time, %.1f MB allocated", what, cpu.Round(time.Millisecond), float64(memory)/1e6)
			return
		}
	}
	t.Errorf("%s: %v of processor time and %.1f MB allocated; a request may take %v and %d MB", what, cpu.Round(time.Millisecond),
		float64(memory)/1e6, CPU, Memory*fatter>>20)
}

// sampleTime is the processor time that sample takes on the machine for which CPU is the limit.
const sampleTime = 10 * time.Millisecond

// slowerBy multiplies a time by the factor by which this machine is now slower than that one, if it is. The factor
// varies, because processes on other processors share the caches and the memory.
func slowerBy(t *testing.T, d time.Duration) time.Duration {
	t.Helper()
	least := time.Duration(math.MaxInt64)
	for range 3 {
		runtime.GC()
		began := computed(t)
		sample(t)
		least = min(least, computed(t)-began)
	}
	return max(d, time.Duration(float64(d)*float64(least)/float64(sampleTime)))
}

// sample parses a text into many small objects, as most requests do.
func sample(t *testing.T) {
	t.Helper()
	var into any
	if err := json.Unmarshal([]byte("["+strings.Repeat(`{"a": ["b"]},`, 20_000)+"0]"), &into); err != nil {
		t.Fatal(err)
	}
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
