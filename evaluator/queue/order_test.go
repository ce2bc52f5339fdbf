package queue

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
)

func TestForgottenJobIsNeverDelivered(t *testing.T) {
	everywhere(t, func(t *testing.T, s site) {
		w := s.worker(t, "w1")
		publish(t, s.Queue, aJob("a1", "CPU"), aJob("a2", "CPU"), aJob("a3", "CPU"))
		taken := receive(t, w, "CPU")
		for _, id := range []string{"a1", "a2", "never published"} {
			if err := s.Forget(t.Context(), id); err != nil {
				t.Fatal(err)
			}
		}
		if d := receive(t, w, "CPU"); d.Job.AttemptID != "a3" {
			t.Errorf("received %s, want a3", d.Job.AttemptID)
		}
		done(t, taken)
	})
}

func TestJobThatDoesNotFitIsRefusedWithItsSize(t *testing.T) {
	everywhere(t, func(t *testing.T, s site) {
		big := aJob("a1", "CPU")
		big.Sources["data"] = make([]byte, MaxMessage)
		err := s.Publish(t.Context(), big)
		if !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "a1") {
			t.Errorf("error is %v", err)
		}
		result := job.Result{AttemptID: "a1", Stages: []job.StageResult{{Stdout: strings.Repeat("x", MaxMessage)}}}
		if err := s.worker(t, "w1").PublishResult(t.Context(), result); !errors.Is(err, ErrTooLarge) {
			t.Errorf("error is %v", err)
		}
	})
}

func TestIdleSlotsComeBeforeBusyOnes(t *testing.T) {
	everywhere(t, func(t *testing.T, s site) {
		publish(t, s.Queue, aJob("a0", "CPU"))
		ahead, idle := s.worker(t, "busy"), s.worker(t, "idle")
		done(t, receive(t, idle, "CPU"))
		type got struct{ who, id string }
		results := make(chan got, 2)
		asked := make(chan struct{}, 100)
		go func() {
			if d, err := ahead.Receive(t.Context(), "CPU", func() bool { asked <- struct{}{}; return true }); err == nil {
				results <- got{"busy", d.Job.AttemptID}
			}
		}()
		<-asked
		<-asked // a whole request of the busy slot went by; the next one stands
		go func() {
			if d, err := idle.Receive(t.Context(), "CPU", nil); err == nil {
				results <- got{"idle", d.Job.AttemptID}
			}
		}()
		waitForPulls(t, s.Queue, "CPU", 2)
		publish(t, s.Queue, aJob("a1", "CPU"))
		if g := <-results; g != (got{"idle", "a1"}) {
			t.Errorf("the first job went to %+v", g)
		}
		publish(t, s.Queue, aJob("a2", "CPU"))
		if g := <-results; g != (got{"busy", "a2"}) {
			t.Errorf("the second job went to %+v", g)
		}
	})
}

// waitForPulls waits until n requests for jobs of the device stand at the server.
func waitForPulls(t *testing.T, q *Queue, device string, n int) {
	t.Helper()
	for ctx := t.Context(); ; {
		consumer, err := q.js.Consumer(ctx, jobsStream, consumerName(device))
		if err != nil {
			t.Fatal(err)
		}
		if consumer.CachedInfo().NumWaiting >= n {
			return
		}
	}
}

func TestReceiveEndsWithItsContext(t *testing.T) {
	everywhere(t, func(t *testing.T, s site) {
		publish(t, s.Queue, aJob("a1", "CPU"))
		w := s.worker(t, "w1")
		done(t, receive(t, w, "CPU"))
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(20*time.Millisecond, cancel)
		for _, device := range []string{"CPU", "H200"} {
			if _, err := w.Receive(ctx, device, nil); !errors.Is(err, context.Canceled) {
				t.Errorf("%s: error is %v", device, err)
			}
		}
	})
}

func TestQueueSurvivesARestart(t *testing.T) {
	cfg := Config{Dir: filepath.Join(t.TempDir(), "queue")}
	q := openQueue(t, cfg)
	w := dial(t, WorkerConfig{Queue: q, Name: "w1"})
	for i := range 3 {
		publish(t, q, aJob(fmt.Sprint("a", i), "CPU"))
	}
	done(t, receive(t, w, "CPU"))
	receive(t, w, "CPU") // a1 is taken, and the process ends
	if err := w.PublishResult(t.Context(), job.Result{AttemptID: "a0"}); err != nil {
		t.Fatal(err)
	}
	w.Close()
	q.Close()

	q = openQueue(t, cfg)
	w = dial(t, WorkerConfig{Queue: q, Name: "w1"})
	publish(t, q, aJob("a1", "CPU"), aJob("a2", "CPU"))
	got := map[string]int{}
	for range 2 {
		d := receive(t, w, "CPU")
		got[d.Job.AttemptID]++
		done(t, d)
	}
	if diff := cmp.Diff(map[string]int{"a1": 1, "a2": 1}, got); diff != "" {
		t.Errorf("jobs after the restart (-want +got):\n%s", diff)
	}
	if ids := record(t, q, 1); ids[0] != "a0" {
		t.Errorf("results after the restart: %v", ids)
	}
}
