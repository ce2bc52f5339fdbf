package conns

import "sync"

// GoroutineGroup runs goroutines and waits for their end when the server stops. Unlike with a sync.WaitGroup, Go may be
// called while Wait waits: it then starts nothing.
type GoroutineGroup struct {
	running sync.WaitGroup
	mu      sync.Mutex
	ended   bool
}

// Go runs do in a goroutine and returns true. After a call of Wait it returns false without running do.
func (g *GoroutineGroup) Go(do func()) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ended {
		return false
	}
	g.running.Go(do)
	return true
}

// Wait returns when all goroutines have ended. Later calls of Go start none.
func (g *GoroutineGroup) Wait() {
	g.mu.Lock()
	g.ended = true
	g.mu.Unlock()
	g.running.Wait()
}
