package conns

import "sync"

// Group runs goroutines that a stopping server waits for. A sync.WaitGroup must not be increased from zero while
// someone waits; a connection that was taken over starts whenever its goroutine gets to run.
type Group struct {
	running sync.WaitGroup
	mu      sync.Mutex
	ended   bool
}

// Go runs do in a goroutine. After Wait has been called it returns false without running it.
func (g *Group) Go(do func()) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ended {
		return false
	}
	g.running.Go(do)
	return true
}

// Wait returns when everything has ended. From then on nothing begins.
func (g *Group) Wait() {
	g.mu.Lock()
	g.ended = true
	g.mu.Unlock()
	g.running.Wait()
}
