package cache

import (
	"math"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// Cache keeps values in memory up to a total size, and evicts the least recently used ones. It is safe for concurrent
// use.
type Cache[K comparable, V any] struct {
	mu             sync.Mutex
	entries        *simplelru.LRU[K, sizedValue[V]]
	remainingBytes int64 // remaining size; negative only for a single value above the bound
}

type sizedValue[V any] struct {
	value V
	size  int64
}

// New returns an empty cache. bound is its capacity, in the unit of the sizes that Put gets: bytes or values.
func New[K comparable, V any](bound int64) *Cache[K, V] {
	c := &Cache[K, V]{remainingBytes: bound}
	kept, err := simplelru.NewLRU(math.MaxInt, func(_ K, v sizedValue[V]) { c.remainingBytes += v.size })
	if err != nil {
		panic(err) // fails only for a length below 1
	}
	c.entries = kept
	return c
}

// Get returns the value stored under a key.
func (c *Cache[K, V]) Get(key K) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, ok := c.entries.Get(key)
	return found.value, ok
}

// Put stores a value and replaces one with the same key. If the value is larger than the bound, all other values are
// evicted.
func (c *Cache[K, V]) Put(key K, value V, size int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries.Remove(key)
	c.entries.Add(key, sizedValue[V]{value, size})
	for c.remainingBytes -= size; c.remainingBytes < 0 && c.entries.Len() > 1; {
		c.entries.RemoveOldest()
	}
}

// Len returns the number of stored values.
func (c *Cache[K, V]) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.entries.Len()
}
