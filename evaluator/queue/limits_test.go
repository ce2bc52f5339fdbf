package queue

import (
	"sync/atomic"
	"testing"
	"time"

	"warpboard/evaluator/job"
)

func TestAWorkerThatSendsTooMuchLosesItsOwn(t *testing.T) {
	f, goOn := newWorkerLimits(1, 1, 3, 1000), make(chan struct{})
	do := func(worker string, size int) bool {
		return f.runWithinLimits(t.Context(), worker, size, func() { <-goOn })
	}
	for _, c := range []struct {
		worker string
		size   int
		fits   bool
	}{{"a", 2, true}, {"a", 2, true}, {"a", 2, true}, {"a", 2, false}, {"b", 2000, true}, {"b", 2, false},
		{"c", 999, true}, {"c", 2, false}, {"c", 1, true}} {
		if fits := do(c.worker, c.size); fits != c.fits {
			t.Errorf("%d bytes of %s: %v", c.size, c.worker, fits)
		}
	}
	close(goOn)
	f.runningRequests.Wait()
	if !do("a", 2) || !do("b", 2) {
		t.Error("who has nothing waiting is not heard")
	}
	f.runningRequests.Wait()
}

// TestAFloodOfOneWorkerDoesNotSilenceOthers has one worker send results as fast as it can to a slow site. The result of
// another worker must be recorded after only a few of them, and not behind all.
func TestAFloodOfOneWorkerDoesNotSilenceOthers(t *testing.T) {
	attackedEverywhere(t, func(t *testing.T, a *attacked) {
		const flood = 20_000
		var received atomic.Int64
		first, goOn, theirs := make(chan struct{}, 1), make(chan struct{}), make(chan int64, 1)
		a.handler.OnResult = func(r job.Result) error {
			if n := received.Add(1); r.Machine.Worker == victim {
				theirs <- n
			}
			select {
			case first <- struct{}{}:
			default:
			}
			<-goOn
			time.Sleep(time.Millisecond)
			return nil
		}
		thiefs := a.raw(t)
		for range flood {
			if err := thiefs.PublishRequest(requestSubject(thief, resultRequestName), inboxPrefix+thief+".x",
				[]byte(`{}`)); err != nil {
				t.Fatal(err)
			}
		}
		if err := thiefs.Flush(); err != nil {
			t.Fatal(err)
		}
		<-first
		w, published := a.worker(t, victim), make(chan error, 1)
		go func() { published <- w.PublishResult(t.Context(), job.Result{AttemptID: "a1"}) }()
		close(goOn)
		if n := <-theirs; n > flood/10 {
			t.Errorf("the other worker was heard after %d results of the flood", n-1)
		}
		if err := <-published; err != nil {
			t.Error(err)
		}
	})
}
