package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
)

// record collects the attempt ids of the next n results.
func record(t *testing.T, q *Queue, n int) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	var ids []string
	err := q.Results(ctx, func(_ context.Context, r job.Result) error {
		if ids = append(ids, r.AttemptID); len(ids) == n {
			defer cancel()
		}
		return nil
	})
	if err != nil || len(ids) < n {
		t.Fatalf("got results %v, want %d; error %v", ids, n, err)
	}
	return ids
}

// unacknowledged counts the results that were delivered and will come again.
func unacknowledged(t *testing.T, q *Queue) int {
	t.Helper()
	consumer, err := q.js.Consumer(t.Context(), resultsStream, recorder)
	if err != nil {
		t.Fatal(err)
	}
	info, err := consumer.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return info.NumAckPending
}

func TestResultIsKeptUntilItWasRecorded(t *testing.T) {
	everywhere(t, func(t *testing.T, s site) {
		sent := job.Result{RunID: 1, AttemptID: "a1", Secret: "x", Machine: job.Machine{Worker: "somebody else"}}
		w := s.worker(t, "w.1")
		for range 2 {
			if err := w.PublishResult(t.Context(), sent); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		var got []job.Result
		err := s.Results(ctx, func(_ context.Context, r job.Result) error {
			got = append(got, r)
			if len(got) < 2 {
				return errors.New("the database is away")
			}
			cancel()
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		want := sent
		want.Machine.Worker = "w.1"
		if diff := cmp.Diff([]job.Result{want, want}, got); diff != "" {
			t.Errorf("first refused, then recorded (-want +got):\n%s", diff)
		}
	})
}

func TestRecordedResultDoesNotComeAgain(t *testing.T) {
	everywhere(t, func(t *testing.T, s site) {
		w := s.worker(t, "w1")
		for _, id := range []string{"a1", "a2", "a3"} {
			if err := w.PublishResult(t.Context(), job.Result{AttemptID: id}); err != nil {
				t.Fatal(err)
			}
		}
		ids := record(t, s.Queue, 3)
		if n := unacknowledged(t, s.Queue); n > 0 {
			t.Errorf("%d results were recorded while the site stopped and not taken off", n)
		}
		if err := w.PublishResult(t.Context(), job.Result{AttemptID: "a4"}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"a1", "a2", "a3", "a4"}, append(ids, record(t, s.Queue, 1)...)); diff != "" {
			t.Errorf("results (-want +got):\n%s", diff)
		}
	})
}

func TestResultCannotBeBlockedByItsAttemptIDAlone(t *testing.T) {
	everywhere(t, func(t *testing.T, s site) {
		for worker, secret := range map[string]string{"bad": "guessed", "good": "true"} {
			if err := s.worker(t, worker).PublishResult(t.Context(), job.Result{AttemptID: "a1", Secret: secret}); err != nil {
				t.Fatal(err)
			}
		}
		if ids := record(t, s.Queue, 2); !slices.Equal(ids, []string{"a1", "a1"}) {
			t.Errorf("results: %v", ids)
		}
	})
}

// listening runs fn, which blocks until its context ends, and stops it when the test is over.
func listening(t *testing.T, fn func(ctx context.Context) error) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- fn(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// until repeats send, which core NATS drops while nobody has subscribed, until heard is closed.
func until(t *testing.T, heard <-chan struct{}, send func() error) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(time.Minute); ; {
		if err := send(); err != nil {
			t.Fatal(err)
		}
		select {
		case <-heard:
			return
		case <-deadline:
			t.Fatal("nobody heard it")
		case <-tick.C:
		}
	}
}

func TestEventsArriveInOrderUnderTheTrueName(t *testing.T) {
	everywhere(t, func(t *testing.T, s site) {
		const n = 500
		w, heard, all := s.worker(t, "w 1"), make(chan struct{}), make(chan struct{})
		var once sync.Once
		var got []int
		listening(t, func(ctx context.Context) error {
			return s.Events(ctx, func(e job.Event) {
				once.Do(func() { close(heard) })
				if e.Worker != "w 1" {
					t.Errorf("event under the name %q", e.Worker)
				}
				if e.Seq == 0 {
					return
				}
				if got = append(got, e.Seq); len(got) == n {
					close(all)
				}
			})
		})
		until(t, heard, func() error { return w.PublishEvent(job.Event{Worker: "w2"}) })
		for i := range n {
			if err := w.PublishEvent(job.Event{Worker: "w2", Seq: i + 1, Text: "line"}); err != nil {
				t.Fatal(err)
			}
		}
		<-all
		if !slices.IsSorted(got) || got[0] != 1 || got[n-1] != n {
			t.Errorf("order: %v", got)
		}
	})
}

func TestHeartbeatsArriveUnderTheTrueName(t *testing.T) {
	everywhere(t, func(t *testing.T, s site) {
		w, heard := s.worker(t, "w1"), make(chan struct{})
		var once sync.Once
		listening(t, func(ctx context.Context) error {
			return s.Heartbeats(ctx, func(b job.Heartbeat) {
				if b.Worker != "w1" || len(b.Attempts) != 1 {
					t.Errorf("heartbeat %+v", b)
				}
				once.Do(func() { close(heard) })
			})
		})
		until(t, heard, func() error { return w.Heartbeat(job.Heartbeat{Worker: "w2", Attempts: []string{"a1"}}) })
	})
}

func TestCancelReachesEveryWorker(t *testing.T) {
	everywhere(t, func(t *testing.T, s site) {
		for _, name := range []string{"w1", "w2"} {
			w, heard := s.worker(t, name), make(chan string, 1)
			stop, err := w.Cancels(func(id string) { heard <- id })
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(stop)
			publish(t, s.Queue, aJob("of "+name, "CPU"))
			done(t, receive(t, w, "CPU")) // so the server knows of the subscription
			if err := s.Cancel(t.Context(), "a1"); err != nil {
				t.Fatal(err)
			}
			if id := <-heard; id != "a1" {
				t.Errorf("cancelled %q", id)
			}
			stop()
		}
	})
}

// TestMessagesBeyondTheirBoundsAreDropped where they are read; the next ones within the bounds are heard.
func TestMessagesBeyondTheirBoundsAreDropped(t *testing.T) {
	s := listeningSite(t)
	w, heartbeats, events, results := s.worker(t, "w1"), make(chan string, 1), make(chan string, 1), make(chan string, 1)
	first := func(heard chan string, what string, n int) {
		select {
		case heard <- fmt.Sprint(what, " ", n):
		default:
		}
	}
	listening(t, func(ctx context.Context) error {
		return s.Heartbeats(ctx, func(b job.Heartbeat) { first(heartbeats, "slots", len(b.Slots)) })
	})
	listening(t, func(ctx context.Context) error {
		return s.Events(ctx, func(e job.Event) { first(events, "bytes", len(e.Text)) })
	})
	listening(t, func(ctx context.Context) error {
		return s.Results(ctx, func(_ context.Context, r job.Result) error {
			first(results, "artifacts", len(r.Artifacts))
			return nil
		})
	})
	long := strings.Repeat("x", 3<<20)
	beat := func(n int, text string) error {
		return w.Heartbeat(job.Heartbeat{Slots: slices.Repeat([]job.Slot{{Device: "CPU", Disabled: text}}, n)})
	}
	event := func(text string) error { return w.PublishEvent(job.Event{AttemptID: "a", Text: text}) }
	result := func(n int, name string) error {
		return w.PublishResult(t.Context(), job.Result{AttemptID: "a", Artifacts: slices.Repeat([]job.Artifact{{Name: name}}, n)})
	}
	for what, heard := range map[string]struct {
		from chan string
		send func() error
	}{
		"slots 8": {heartbeats, func() error {
			return errors.Join(beat(20_000, ""), beat(1, long), beat(1, long[:100_000]), beat(8, ""))
		}},
		"bytes 1":     {events, func() error { return errors.Join(event(long), event(long+long), event("x")) }},
		"artifacts 1": {results, func() error { return errors.Join(result(20_000, "a"), result(1, long[:10_000]), result(1, "a")) }},
	} {
		got, once := make(chan struct{}), sync.Once{}
		until(t, got, func() error {
			err := heard.send()
			select {
			case one := <-heard.from:
				if one != what {
					t.Errorf("the site heard of %s, want %s", one, what)
				}
				once.Do(func() { close(got) })
			default:
			}
			return err
		})
	}
}

// TestAFloodOfHeartbeatsIsDropped beyond a worker's rate, and another worker's is heard.
func TestAFloodOfHeartbeatsIsDropped(t *testing.T) {
	s := listeningSite(t)
	w, other, heard := s.worker(t, "w1"), s.worker(t, "w2"), make(chan struct{})
	large := job.Heartbeat{Slots: slices.Repeat([]job.Slot{{Device: "CPU", Disabled: strings.Repeat("x", 1000)}}, job.MaxSlots)}
	bytes, once, begun := 0, sync.Once{}, time.Now()
	listening(t, func(ctx context.Context) error {
		return s.Heartbeats(ctx, func(b job.Heartbeat) {
			if bytes += len(b.Slots) * 1000; b.Worker == "w2" {
				once.Do(func() { close(heard) })
			}
			// A burst, and half a MiB for each second that a busy machine takes.
			if bytes > 2*job.MaxHeartbeat+int(time.Since(begun).Seconds()*(512<<10)) {
				t.Errorf("%d bytes of a flood were read", bytes)
			}
		})
	})
	until(t, heard, func() error {
		for range 20 {
			if err := w.Heartbeat(large); err != nil {
				return err
			}
		}
		return errors.Join(w.nc.Flush(), other.Heartbeat(job.Heartbeat{}))
	})
}
