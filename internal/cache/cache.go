package cache

import (
	"math"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// Cache keeps values until their sizes together are above its bound; then those go that were used longest ago. It may be used by
// many goroutines at once.
type Cache[K comparable, V any] struct {
	mu   sync.Mutex
	kept *simplelru.LRU[K, sized[V]]
	room int64 // that is left; below 0 only with a single value above the bound
}

type sized[V any] struct {
	value V
	size  int64
}

// New returns an empty cache. The bound is in whatever unit the sizes are: bytes, or values.
func New[K comparable, V any](bound int64) *Cache[K, V] {
	c := &Cache[K, V]{room: bound}
	kept, err := simplelru.NewLRU(math.MaxInt, func(_ K, v sized[V]) { c.room += v.size })
	if err != nil {
		panic(err) // it fails for a length below 1 only
	}
	c.kept = kept
	return c
}

// Get returns what is kept under a key.
func (c *Cache[K, V]) Get(key K) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, ok := c.kept.Get(key)
	return found.value, ok
}

// Put stores a value, and replaces one with the same key. A value larger than the bound is kept alone.
func (c *Cache[K, V]) Put(key K, value V, size int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept.Remove(key)
	c.kept.Add(key, sized[V]{value, size})
	for c.room -= size; c.room < 0 && c.kept.Len() > 1; {
		c.kept.RemoveOldest()
	}
}

// Len is how many values are kept.
func (c *Cache[K, V]) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.kept.Len()
}
