package queue

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"warpboard/evaluator/job"
)

func TestWorkersAreHeardInTurnAndEachLosesOnlyItsOwn(t *testing.T) {
	var dropped counter
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

// TestAFloodOfOneWorkerSilencesNobody has a worker send heartbeats as fast as it can, while the site
// takes its time for each. Another's heartbeat is heard after few of the flood's, those that the site takes while it is on its
// way through the client's buffers, and not behind all of them.
func TestAFloodOfOneWorkerSilencesNobody(t *testing.T) {
	attackedEverywhere(t, func(t *testing.T, a *attacked) {
		const flood = 20_000
		var heard atomic.Int64
		first, goOn, theirs := make(chan struct{}, 1), make(chan struct{}), make(chan int64, 1)
		listening(t, func(ctx context.Context) error {
			return a.Heartbeats(ctx, func(b job.Heartbeat) {
				if n := heard.Add(1); b.Worker == victim {
					select {
					case theirs <- n:
					default:
					}
				}
				select {
				case first <- struct{}{}:
				default:
				}
				<-goOn
				time.Sleep(time.Millisecond)
			})
		})
		thiefs := a.raw(t)
		until(t, first, func() error { return thiefs.Publish(beatPrefix+thief, []byte(`{}`)) })
		for range flood {
			if err := thiefs.Publish(beatPrefix+thief, []byte(`{}`)); err != nil {
				t.Fatal(err)
			}
		}
		if err := thiefs.Flush(); err != nil {
			t.Fatal(err)
		}
		w := a.worker(t, victim)
		if err := w.Heartbeat(job.Heartbeat{}); err != nil {
			t.Fatal(err)
		}
		publish(t, a.Queue, aJob("a1", "H200"))
		done(t, receive(t, w, "H200")) // so the site has the heartbeat before it goes on
		close(goOn)
		select {
		case n := <-theirs:
			if n > flood/10 {
				t.Errorf("the other worker was heard after %d heartbeats of the flood", n-1)
			}
		case <-time.After(time.Minute):
			t.Error("the other worker was not heard")
		}
	})
}

// TestRequestsOfOneWorkerDoNotCrowdOutItsSiblings has a worker ask for jobs more often than all slots
// of a device would, with every inbox open.
func TestRequestsOfOneWorkerDoNotCrowdOutItsSiblings(t *testing.T) {
	attackedEverywhere(t, func(t *testing.T, a *attacked) {
		nc := a.raw(t, nats.CustomInboxPrefix(inboxPrefix+thief))
		if _, err := nc.Subscribe(inboxPrefix+thief+".x", func(*nats.Msg) {}); err != nil {
			t.Fatal(err)
		}
		body, err := json.Marshal(askForJob{Version: job.Version, Wait: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		for range 20 * deskStanding {
			if err := nc.PublishRequest(askSubject(thief, askNext+".CPU"), inboxPrefix+thief+".x", body); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := nc.Request(askSubject(thief, askResult), []byte(`{}`), 90*time.Second); err != nil {
			t.Fatal(err) // the answer comes after all that was asked before
		}
		waitForPulls(t, a.Queue, "CPU", deskStanding)
		consumer, err := a.js.Consumer(t.Context(), jobsStream, consumerName("CPU"))
		if err != nil {
			t.Fatal(err)
		}
		if n := consumer.CachedInfo().NumWaiting; n > deskStanding {
			t.Errorf("%d requests of one worker stand", n)
		}
	})
}
