package toolchain

import (
	"context"
	"sync"
)

// buildLocks serializes building the product of a key, so that later callers find it in the store. The zero value is
// ready to use. It differs from x/sync/singleflight: a waiting caller can be cancelled alone, and the caller that
// compiles returns only when its process has ended, because its build slot is then given to another.
type buildLocks struct {
	mu         sync.Mutex
	lockedKeys map[string]chan struct{} // each channel is closed when its key is unlocked
}

// lock waits until the key is free or ctx ends. The caller must call unlock.
func (l *buildLocks) lock(ctx context.Context, key string) (unlock func(), err error) {
	for {
		taken, unlock := l.tryLock(key)
		if unlock != nil {
			return unlock, nil
		}
		select {
		// Another waiter may have locked the key first, so lock tries again. The order is not guaranteed.
		case <-taken:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// tryLock locks the key and returns its unlock function. If the key is locked, it returns a channel that is closed at
// the unlock.
func (l *buildLocks) tryLock(key string) (taken <-chan struct{}, unlock func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if held, ok := l.lockedKeys[key]; ok {
		return held, nil
	}
	if l.lockedKeys == nil {
		l.lockedKeys = map[string]chan struct{}{}
	}
	mine := make(chan struct{})
	l.lockedKeys[key] = mine
	return nil, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.lockedKeys, key)
		close(mine)
	}
}
