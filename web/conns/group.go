package conns

import "sync"

// Group runs what a server waits for when it stops. A sync.WaitGroup forbids that something begins while someone waits
// for nothing; a connection that was taken over begins whenever its goroutine gets to run.
type Group struct {
	running sync.WaitGroup
	mu      sync.Mutex
	ended   bool
}

// Go runs do beside its caller. After Wait has been called it does not, and returns false.
func (g *Group) Go(do func()) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ended {
		return false
	}
	g.running.Go(do)
	return true
}

// Wait returns when everything has ended. From now on nothing begins.
func (g *Group) Wait() {
	g.mu.Lock()
	g.ended = true
	g.mu.Unlock()
	g.running.Wait()
}
