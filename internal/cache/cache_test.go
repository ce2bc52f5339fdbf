package cache_test

import (
	"fmt"
	"sync"
	"testing"

	"warpboard/internal/cache"
)

func TestTheCacheKeepsTheMostRecentlyUsed(t *testing.T) {
	c := cache.New[string, int](4)
	for i := range 6 {
		c.Put(fmt.Sprint(i), i, 1)
		if got, ok := c.Get("0"); !ok || got != 0 {
			t.Fatalf("what is asked for again and again was dropped when %d came", i)
		}
	}
	for key, kept := range map[string]bool{"0": true, "1": false, "2": false, "3": true, "4": true, "5": true} {
		if _, ok := c.Get(key); ok != kept {
			t.Errorf("%s: %v, want it kept: %v", key, ok, kept)
		}
	}
	if c.Put("huge", 7, 8); c.Len() != 1 {
		t.Errorf("%d values are kept beside one that is larger than the bound", c.Len()-1)
	}
	if got, ok := c.Get("huge"); !ok || got != 7 {
		t.Errorf("the value above the bound: %v, %v", got, ok)
	}
	c.Put("a", 1, 3)
	c.Put("a", 2, 1) // replaces a value of size 3 by one of size 1
	c.Put("b", 3, 3)
	if got, ok := c.Get("a"); !ok || got != 2 || c.Len() != 2 {
		t.Errorf("a value that was put again: %v, %v, of %d", got, ok, c.Len())
	}
}

func TestTheCacheIsSafeForConcurrentUse(t *testing.T) {
	c := cache.New[int, int](8)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range 1000 {
				if got, ok := c.Get(i % 16); ok && got != i%16 {
					t.Errorf("%d under the key %d", got, i%16)
				}
				c.Put(i%16, i%16, 1)
			}
		})
	}
	all.Wait()
	if c.Len() != 8 {
		t.Errorf("%d values, want 8", c.Len())
	}
}
