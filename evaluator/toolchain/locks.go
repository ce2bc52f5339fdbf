package toolchain

import (
	"context"
	"sync"
)

// keyLocks lets one goroutine at a time make the product of a key, so that the others find it made. The zero value is ready.
// This is not x/sync's singleflight: a waiting caller can be cancelled alone, and a making one returns only when its process
// has ended, because its build slot then goes to another.
type keyLocks struct {
	mu   sync.Mutex
	held map[string]chan struct{} // closed at the unlock
}

// lock waits until no one holds the key, or for ctx to end. The caller must unlock.
func (l *keyLocks) lock(ctx context.Context, key string) (unlock func(), err error) {
	for {
		taken, unlock := l.tryLock(key)
		if unlock != nil {
			return unlock, nil
		}
		select {
		// Then it tries again: another waiter may have been quicker. No one is promised an order.
		case <-taken:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// tryLock returns an unlock, or what is closed when the holder of the key unlocks it.
func (l *keyLocks) tryLock(key string) (taken <-chan struct{}, unlock func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if held, ok := l.held[key]; ok {
		return held, nil
	}
	if l.held == nil {
		l.held = map[string]chan struct{}{}
	}
	mine := make(chan struct{})
	l.held[key] = mine
	return nil, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.held, key)
		close(mine)
	}
}
