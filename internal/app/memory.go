package app

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// room is how much a site may allocate between two garbage collections, at least. A page takes some 300 kB: while a site
// holds little, the collector would run at every tenth, and be what the slowest pages wait for.
const room = 128 << 20

// LeaveRoom has the collector wait until there is that much to collect, until stop. A site that holds more is collected as
// GOGC says, 100 if it says nothing: it takes twice what it holds, or that much more than it holds.
func LeaveRoom() (stop func()) {
	l := &leisure{percent: debug.SetGCPercent(-1)}
	debug.SetGCPercent(l.percent)
	if l.percent <= 0 {
		return func() {} // it was turned off, or asked to collect all the time
	}
	runtime.GC()
	l.next()
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.stopped = true
		debug.SetGCPercent(l.percent)
	}
}

// leisure sets the collector's percentage after each collection, by what is live then.
type leisure struct {
	percent int // that it had
	mu      sync.Mutex
	stopped bool
}

// next sets the percentage, and is called again after the next collection: that finds the object, which no one holds.
func (l *leisure) next() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopped {
		return
	}
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	percent := max(float64(l.percent), 100*room/float64(max(live[0].Value.Uint64(), 1<<20)))
	debug.SetGCPercent(int(math.Ceil(percent)))
	unheld := new([16]byte)
	runtime.SetFinalizer(unheld, func(*[16]byte) { l.next() })
}
