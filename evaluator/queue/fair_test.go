package queue

import (
	"context"

	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"warpboard/evaluator/job"
)

func TestWorkersAreHeardInTurnAndEachLosesOnlyItsOwn(t *testing.T) {
	var dropped tally
	dropped.log = discard
	f := newFair(3, 1000, &dropped)
	put := func(worker, text string) { f.put(worker, &nats.Msg{Data: []byte(text)}) }
	for _, text := range []string{"a1", "a2", "a3", "a4", "a5"} {
		put("a", text)
	}
	put("b", "b1")
	put("c", "c1")
	put("c", string(make([]byte, 999)))
	put("c", "c3")
	var got []string
	for range 5 {
		worker, m, ok := f.take(t.Context())
		if !ok {
			t.Fatal("nothing waits")
		}
		got = append(got, worker+" "+string(m.Data))
	}
	if diff := cmp.Diff([]string{"a a3", "b b1", "c c3", "a a4", "a a5"}, got); diff != "" {
		t.Errorf("heard (-want +got):\n%s", diff)
	}
	if n := dropped.n.Load(); n != 4 {
		t.Errorf("%d messages were dropped", n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, ok := f.take(ctx); ok {
		t.Error("something waits")
	}
}

// TestAFloodOfOneWorkerDoesNotSilenceOthers has a worker send results as fast as it can, while the site takes its time for each.
// Another's is recorded after few of the flood's, those that the site takes while it is on its way, and not behind all of them.
func TestAFloodOfOneWorkerDoesNotSilenceOthers(t *testing.T) {
	attackedEverywhere(t, func(t *testing.T, a *attacked) {
		const flood = 20_000
		var heard atomic.Int64
		first, goOn, theirs := make(chan struct{}, 1), make(chan struct{}), make(chan int64, 1)
		a.desk.OnResult = func(r job.Result) error {
			if n := heard.Add(1); r.Machine.Worker == victim {
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
			if err := thiefs.PublishRequest(askSubject(thief, askResult), inboxPrefix+thief+".x", []byte(`{}`)); err != nil {
				t.Fatal(err)
			}
		}
		if err := thiefs.Flush(); err != nil {
			t.Fatal(err)
		}
		<-first
		w, told := a.worker(t, victim), make(chan error, 1)
		go func() { told <- w.PublishResult(t.Context(), job.Result{AttemptID: "a1"}) }()
		close(goOn)
		if n := <-theirs; n > flood/10 {
			t.Errorf("the other worker was heard after %d results of the flood", n-1)
		}
		if err := <-told; err != nil {
			t.Error(err)
		}
	})
}
