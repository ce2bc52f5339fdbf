package app

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

// TestTheCollectorLeavesRoom: a site that holds little is collected late, one that holds much as before.
func TestTheCollectorLeavesRoom(t *testing.T) {
	before := debug.SetGCPercent(100)
	defer debug.SetGCPercent(before)
	// next is how many bytes there are until the next collection. The percentage is set after one, by another goroutine: it
	// collects until there are as many as are wanted, or for as long as a busy machine may take.
	next := func(want int64) (left int64) {
		for end := time.Now().Add(30 * time.Second); left < want && time.Now().Before(end); {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			left = int64(m.NextGC) - int64(m.HeapAlloc)
		}
		return left
	}
	stop := LeaveRoom()
	if little := next(room * 9 / 10); little < room*9/10 {
		t.Errorf("with little, it collects after %d MiB, want about %d", little>>20, room>>20)
	}
	much := make([]byte, 4*room)
	if after := next(3 * room); after < 3*room {
		t.Errorf("with %d MiB, it collects after %d MiB, want as many", len(much)>>20, after>>20)
	}
	runtime.KeepAlive(much)
	much = nil
	if stop(); next(1) > room/2 {
		t.Error("it still leaves room")
	}
}
