package toolchain

import (
	"context"
	"sync"
)

// claims let one goroutine at a time make what belongs under a key, so that those who want the same
// find it made. The zero value is ready.
type claims struct {
	mu   sync.Mutex
	open map[string]chan struct{} // closed when the claim is given up
}

// claim waits until nobody else makes what belongs under the key, or for ctx to end. Whoever has the
// claim must give it up.
func (c *claims) claim(ctx context.Context, key string) (giveUp func(), err error) {
	for {
		taken := c.take(key)
		if taken == nil {
			return func() { c.drop(key) }, nil
		}
		select {
		case <-taken:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// take takes the claim, or returns what is closed when the one who has it gives it up.
func (c *claims) take(key string) (taken <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if held, ok := c.open[key]; ok {
		return held
	}
	if c.open == nil {
		c.open = map[string]chan struct{}{}
	}
	c.open[key] = make(chan struct{})
	return nil
}

func (c *claims) drop(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.open[key])
	delete(c.open, key)
}
