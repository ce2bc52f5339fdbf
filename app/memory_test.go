package app

import (
	"runtime"
	"runtime/debug"
	"testing"
)

// TestTheCollectorLeavesRoom: a site that holds little is collected late, one that holds much as before.
func TestTheCollectorLeavesRoom(t *testing.T) {
	before := debug.SetGCPercent(100)
	defer debug.SetGCPercent(before)
	next := func() int64 { // bytes until the next collection, from what is live
		for range 3 { // the percentage is set after a collection, by another goroutine
			runtime.GC()
			runtime.Gosched()
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.NextGC) - int64(m.HeapAlloc)
	}
	stop := LeaveRoom()
	if little := next(); little < room*9/10 {
		t.Errorf("with little, it collects after %d MiB, want about %d", little>>20, room>>20)
	}
	much := make([]byte, 4*room)
	if after := next(); after < 3*room {
		t.Errorf("with %d MiB, it collects after %d MiB, want as many", len(much)>>20, after>>20)
	}
	runtime.KeepAlive(much)
	much = nil
	if stop(); next() > room/2 {
		t.Error("it still leaves room")
	}
}
