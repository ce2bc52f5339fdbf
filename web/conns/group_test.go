package conns

import (
	"sync"
	"sync/atomic"
	"testing"
)

func TestAGroupIsWaitedForWhileOthersBegin(t *testing.T) {
	var group GoroutineGroup
	var begun, ended, refused atomic.Int32
	release := make(chan struct{})
	const callers = 50
	var calling sync.WaitGroup
	first := make(chan struct{})
	group.Go(func() { close(first); <-release })
	<-first
	for range callers {
		calling.Go(func() {
			if !group.Go(func() { begun.Add(1); <-release; ended.Add(1) }) {
				refused.Add(1)
			}
		})
	}
	waited := make(chan int32)
	go func() { group.Wait(); waited <- ended.Load() }()
	calling.Wait()
	select {
	case <-waited:
		t.Fatal("no one waits for what runs")
	default:
	}
	close(release)
	if ended := <-waited; ended != callers-refused.Load() || begun.Load() != ended {
		t.Errorf("%d have ended of %d that began; %d of %d were refused", ended, begun.Load(), refused.Load(), callers)
	}
	if group.Go(func() { t.Error("something began after the end") }) {
		t.Error("a group that has ended takes more")
	}
}
