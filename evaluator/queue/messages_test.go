package queue

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
	"warpboard/evaluator/queue/queuetest"
)

// TestAResultIsSentAgainUntilItIsRecorded also checks that the result has its worker's true name.
func TestAResultIsSentAgainUntilItIsRecorded(t *testing.T) {
	everywhere(t, func(t *testing.T, s site) {
		var got []job.Result
		s.handler.OnResult = func(r job.Result) error {
			if got = append(got, r); len(got) < 2 {
				return errors.New("the database is away")
			}
			return nil
		}
		w, sent := s.worker(t, "w.1"),
			job.Result{RunID: 1, AttemptID: "a1", AttemptSecret: "x", Machine: job.Machine{Worker: "someone else"}}
		if err := w.PublishResult(t.Context(), sent); err == nil {
			t.Error("a result that was not recorded is acknowledged")
		}
		if err := w.PublishResult(t.Context(), sent); err != nil {
			t.Error(err)
		}
		want := sent
		want.Machine.Worker = "w.1"
		s.handler.Look(func() {
			if diff := cmp.Diff([]job.Result{want, want}, got); diff != "" {
				t.Errorf("first refused, then recorded (-want +got):\n%s", diff)
			}
		})
	})
}

// TestEventsArriveInOrderBeforeTheirResultUnderTheTrueName has a site that at first cannot store the events.
func TestEventsArriveInOrderBeforeTheirResultUnderTheTrueName(t *testing.T) {
	everywhere(t, func(t *testing.T, s site) {
		const n = 500
		var got []int
		s.handler.OnEvent = func(e job.Event) {
			if e.Worker != "w 1" {
				t.Errorf("event under the name %q", e.Worker)
			}
			got = append(got, e.Number)
		}
		s.handler.OnResult = func(job.Result) error {
			if !slices.IsSorted(got) || len(got) != n || got[0] != 1 || got[n-1] != n {
				t.Errorf("before the result came: %v", got)
			}
			return nil
		}
		w := s.worker(t, "w 1")
		for i := range n {
			if err := w.PublishEvent(job.Event{Worker: "w2", Number: i + 1, Text: "line"}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.PublishResult(t.Context(), job.Result{AttemptID: "a1"}); err != nil {
			t.Error(err)
		}
	})
}

// TestEventsOutliveAnAbsenceOfTheSite checks that events wait while the site does not answer, and are sent when it
// does.
func TestEventsOutliveAnAbsenceOfTheSite(t *testing.T) {
	q, err := OpenQueue(t.Context(), Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(q.Close)
	w := dial(t, WorkerConfig{Queue: q, Name: "w1"})
	for i := range 3 {
		if err := w.PublishEvent(job.Event{AttemptID: "a1", Number: i + 1}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Sync(t.Context(), job.Heartbeat{}); err == nil {
		t.Error("a site that is not there has answered")
	}
	var got []int
	all := make(chan struct{})
	serving(t, q, &queuetest.Handler{OnEvent: func(e job.Event) {
		if got = append(got, e.Number); len(got) == 3 {
			close(all)
		}
	}})
	<-all
	if !slices.Equal(got, []int{1, 2, 3}) {
		t.Errorf("events %v", got)
	}
}

// TestTheOutboxIsBoundedWhileTheSiteIsAway checks that a program that prints endlessly does not fill the worker's
// memory.
func TestTheOutboxIsBoundedWhileTheSiteIsAway(t *testing.T) {
	o := newOutbox()
	text := strings.Repeat("x", job.MaxTextBytes/2)
	n := 0
	for o.addEvent(job.Event{Text: text}) == nil {
		n++
	}
	if o.waitingBytes > maxOutboxBytes || n < 10 {
		t.Errorf("%d events of %d bytes wait", n, o.waitingBytes)
	}
	if err := o.addEvent(job.Event{Text: strings.Repeat("x", job.MaxEventBytes)}); err == nil {
		t.Errorf("error is %v", err)
	}
}

// TestTheAnswerToASyncNamesWhatToDrop checks that responses to heartbeats and to events list the attempts to drop.
func TestTheAnswerToASyncNamesWhatToDrop(t *testing.T) {
	everywhere(t, func(t *testing.T, s site) {
		var names atomic.Pointer[string]
		s.handler.OnSync = func(h job.Heartbeat) error { names.Store(&h.Worker); return nil }
		s.handler.Drop("a1")
		w, received := s.worker(t, "w1"), make(chan string, 10)
		if err := w.SubscribeCancellations(func(id string) { received <- id }); err != nil {
			t.Fatal(err)
		}
		if err := w.Sync(t.Context(), job.Heartbeat{Worker: "w2", Attempts: []string{"a1"}}); err != nil {
			t.Fatal(err)
		}
		if id := <-received; id != "a1" || *names.Load() != "w1" {
			t.Errorf("%s is to drop %q", *names.Load(), id)
		}
		if err := w.PublishEvent(job.Event{AttemptID: "a1"}); err != nil {
			t.Fatal(err)
		}
		if id := <-received; id != "a1" {
			t.Errorf("events are answered with %q", id)
		}
	})
}

func TestCancelReachesEveryWorker(t *testing.T) {
	everywhere(t, func(t *testing.T, s site) {
		for _, name := range []string{"w1", "w2"} {
			w, received := s.worker(t, name), make(chan string, 1)
			if err := w.SubscribeCancellations(func(id string) { received <- id }); err != nil {
				t.Fatal(err)
			}
			if err := w.Sync(t.Context(), job.Heartbeat{}); err != nil { // then the server has the subscription
				t.Fatal(err)
			}
			if err := s.AnnounceCancellation("a1"); err != nil {
				t.Fatal(err)
			}
			if id := <-received; id != "a1" {
				t.Errorf("cancelled %q", id)
			}
		}
	})
}

// TestASyncWithLongAttemptIDsIsRefused checks that a stolen secret does not make the site repeat long texts, in which a
// response has six bytes for each "<".
func TestASyncWithLongAttemptIDsIsRefused(t *testing.T) {
	err := dial(t, WorkerConfig{Queue: openQueue(t, Config{}).Queue, Name: "w1"}).Sync(t.Context(),
		job.Heartbeat{Attempts: []string{strings.Repeat("<", 1000)}})
	if err == nil || !strings.Contains(err.Error(), "at most 256 are allowed") {
		t.Errorf("the error is %v", err)
	}
}

// TestMessagesBeyondTheirBoundsAreDropped checks that the site ignores messages above its limits, and processes valid
// ones that follow.
func TestMessagesBeyondTheirBoundsAreDropped(t *testing.T) {
	s := listeningSite(t)
	var received []int
	s.handler.OnSync = func(h job.Heartbeat) error { received = append(received, len(h.Slots)); return nil }
	s.handler.OnEvent = func(e job.Event) { received = append(received, len(e.Text)) }
	s.handler.OnResult = func(r job.Result) error { received = append(received, len(r.Artifacts)); return nil }
	w, long := s.worker(t, "w1"), strings.Repeat("x", 3<<20)
	beat := func(n int, text string) error {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond) // no response if too large
		defer cancel()
		return w.Sync(ctx, job.Heartbeat{Slots: slices.Repeat([]job.Slot{{Device: "CPU", DisabledReason: text}}, n)})
	}
	for _, err := range []error{beat(20_000, ""), beat(1, long), beat(1, long[:100_000])} {
		if err == nil {
			t.Error("a sync beyond its bounds is taken")
		}
	}
	result := func(n int, name string) error {
		return w.PublishResult(t.Context(),
			job.Result{AttemptID: "a", Artifacts: slices.Repeat([]job.Artifact{{Name: name}}, n)})
	}
	if err := errors.Join(beat(8, ""), w.PublishEvent(job.Event{AttemptID: "a", Text: long}),
		w.PublishEvent(job.Event{AttemptID: "a", Text: "x"}),
		result(20_000, "a"), result(1, long[:10_000]), result(2, "a")); err != nil {
		t.Fatal(err)
	}
	// The two events may be sent in one request, which is then refused as a whole, or in two.
	s.handler.Look(func() {
		if !slices.Equal(received, []int{8, 1, 2}) && !slices.Equal(received, []int{8, 2}) {
			t.Errorf("the site heard %v", received)
		}
	})
	if err := w.sendRequest(t.Context(), "events", make([]struct{}, maxBatchEvents+1), nil, requestTimeout); err == nil {
		t.Error("more events than a request may hold are taken")
	}
}

// TestAFloodOfSyncsIsDropped checks that heartbeats above a worker's rate are dropped, and that another worker's
// heartbeat is still processed.
func TestAFloodOfSyncsIsDropped(t *testing.T) {
	s := listeningSite(t)
	var read atomic.Int64
	begun := time.Now()
	s.handler.OnSync = func(h job.Heartbeat) error { read.Add(int64(len(h.Slots) * 1000)); return nil }
	w, other := s.worker(t, "w1"), s.worker(t, "w2")
	large, err := json.Marshal(job.Heartbeat{Slots: slices.Repeat([]job.Slot{{Device: "CPU",
		DisabledReason: strings.Repeat("x", 1000)}}, job.MaxSlots)})
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if err := w.natsConn.PublishRequest(requestSubject("w1", heartbeatRequestName), w.natsConn.NewInbox(), large); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.natsConn.Flush(), other.Sync(t.Context(), job.Heartbeat{})); err != nil {
		t.Fatal(err)
	}
	// The limit allows a burst, and 512 KiB for each second that the test takes.
	if n := read.Load(); n > 2*job.MaxHeartbeatBytes+int64(time.Since(begun).Seconds()*(512<<10)) {
		t.Errorf("%d bytes of a flood were read", n)
	}
}
