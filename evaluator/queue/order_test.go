package queue

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
	"warpboard/evaluator/queue/queuetest"
)

func TestResultThatDoesNotFitIsRefusedWithItsSize(t *testing.T) {
	everywhere(t, func(t *testing.T, s site) {
		result := job.Result{AttemptID: "a1", Stages: []job.StageResult{{Stdout: strings.Repeat("x", MaxMessage)}}}
		if err := s.worker(t, "w1").PublishResult(t.Context(), result); err == nil ||
			!strings.Contains(err.Error(), "result of a1: sending 16777") {
			t.Errorf("error is %v", err)
		}
	})
}

func TestReceiveEndsWithItsContext(t *testing.T) {
	everywhere(t, func(t *testing.T, s site) {
		w := s.worker(t, "w1")
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(20*time.Millisecond, cancel)
		for _, device := range []string{"CPU", "H200"} {
			if _, err := w.Receive(ctx, device, nil, nil); !errors.Is(err, context.Canceled) {
				t.Errorf("%s: error is %v", device, err)
			}
		}
	})
}

// forgetful does not answer the first requests for a job, like a process of the site that dies after its transaction.
type forgetful struct {
	*queuetest.Handler
	forgets int
}

func (f *forgetful) Next(ctx context.Context, ask job.WorkRequest) ([]byte, error) {
	data, err := f.Handler.Next(ctx, ask)
	if f.forgets--; f.forgets >= 0 {
		return nil, errors.New("the process died")
	}
	return data, err
}

// TestAJobThatDidNotArriveComesAgain also checks that a job that did arrive is not sent again.
func TestAJobThatDidNotArriveComesAgain(t *testing.T) {
	q, err := OpenQueue(t.Context(), Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(q.Close)
	handler := &forgetful{&queuetest.Handler{}, 2}
	serving(t, q, handler)
	handler.Put(aJob("a1", "CPU"), aJob("a2", "CPU"))
	w := dial(t, WorkerConfig{Queue: q, Name: "w1"})
	for _, want := range []string{"a1", "a2"} {
		if j := receive(t, w, "CPU"); j.AttemptID != want {
			t.Errorf("received %s, want %s", j.AttemptID, want)
		}
	}
}

// TestAnotherProcessAnswersWhenOneIsGone has two processes on a cluster, of which one stops.
func TestAnotherProcessAnswersWhenOneIsGone(t *testing.T) {
	s := clusterSite(t)
	second, err := OpenQueue(t.Context(), s.cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(second.Close)
	stop := serving(t, second, s.handler)
	w := s.worker(t, "w1")
	for range 20 {
		publish(t, s, aJob("a1", "CPU"))
		done(t, w, receive(t, w, "CPU"))
	}
	stop()
	for range 20 {
		publish(t, s, aJob("a1", "CPU"))
		done(t, w, receive(t, w, "CPU"))
	}
}

// TestRequestsFromBeforeTheStopAreAnswered checks that a site that stops still records a result that it has received.
func TestRequestsFromBeforeTheStopAreAnswered(t *testing.T) {
	q, err := OpenQueue(t.Context(), Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(q.Close)
	ctx, stop := context.WithCancel(t.Context())
	recorded, ended := make(chan string, 1), make(chan error, 1)
	handler := &queuetest.Handler{OnResult: func(r job.Result) error {
		stop()
		recorded <- r.AttemptID
		return nil
	}}
	go func() { ended <- q.Serve(ctx, handler) }()
	w := dial(t, WorkerConfig{Queue: q, Name: "w1"})
	for err = w.PublishResult(t.Context(), job.Result{AttemptID: "a1"}); err != nil; { // until Serve answers
		err = w.PublishResult(t.Context(), job.Result{AttemptID: "a1"})
	}
	if id := <-recorded; err != nil || id != "a1" {
		t.Errorf("recorded %s, %v", id, err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestAWorkerOfAnotherVersionIsRefusedAndCostsNoJob(t *testing.T) {
	everywhere(t, func(t *testing.T, s site) {
		publish(t, s, aJob("a1", "CPU"))
		w := s.worker(t, "w1")
		err := w.sendRequest(t.Context(), "next.CPU", json.RawMessage(`{"version":1,"wait":5000000000}`), nil,
			jobRequestTimeout)
		if err == nil || !strings.Contains(err.Error(), "update the older one") {
			t.Errorf("the site answers %v", err)
		}
		done(t, w, receive(t, w, "CPU"))
	})
}

// TestAWorkerAsksForTasksToPrecompile until it knows all, for its devices alone.
func TestAWorkerAsksForTasksToPrecompile(t *testing.T) {
	q, _ := guarded(t)
	want := job.PrecompileJob{VersionID: 1, TaskName: "vectoradd", TaskHash: "k1", Task: aJob("", "CPU").Task,
		Sources: map[string][]byte{"task.h": {0xff, 0, 'x'}}}
	q.handler.Hint(want)
	w := dial(t, WorkerConfig{URL: q.Addr(), Name: "w.cpu", Secret: "right"})
	got, err := w.NextPrecompileJob(t.Context(), "CPU", nil)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if got, err := w.NextPrecompileJob(t.Context(), "CPU", []int64{1}); got.VersionID != 0 || err != nil {
		t.Errorf("who knows all gets %+v, %v", got, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if got, err := w.NextPrecompileJob(ctx, "H200", nil); err == nil {
		t.Errorf("of another's device it gets %+v", got)
	}
}

// unreadable first answers requests for a job with other texts than a job.
type unreadable struct {
	*queuetest.Handler
	texts []string
}

func (u *unreadable) Next(ctx context.Context, ask job.WorkRequest) ([]byte, error) {
	if len(u.texts) > 0 {
		text := u.texts[0]
		u.texts = u.texts[1:]
		return []byte(text), nil
	}
	return u.Handler.Next(ctx, ask)
}

func TestAnUnreadableJobIsDroppedAndNoWorkersFault(t *testing.T) {
	q, err := OpenQueue(t.Context(), Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(q.Close)
	handler := &unreadable{&queuetest.Handler{},
		[]string{"no JSON", `{"stream":"RESULTS","seq":7}`, `[]`, `{"attempt_id":"a","secret":"s","device":"H200"}`}}
	handler.Put(aJob("a1", "CPU"))
	serving(t, q, handler)
	w := dial(t, WorkerConfig{Queue: q, Name: "w1"})
	if j := receive(t, w, "CPU"); j.AttemptID != "a1" {
		t.Errorf("received %+v", j)
	}
}
