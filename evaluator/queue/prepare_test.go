package queue

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
)

func hint(device string) job.Preparation {
	return job.Preparation{
		Version: job.Version, Device: device, Name: "vectoradd", TaskKey: "k1",
		Task: aJob("", device).Task, Sources: map[string][]byte{"task.h": {0xff, 0, 'x'}},
	}
}

// knows returns when the server knows of a worker's subscriptions, and has sent what came before.
func knows(t *testing.T, w *Conn) {
	t.Helper()
	if err := w.Sync(t.Context(), job.Heartbeat{}); err != nil {
		t.Fatal(err)
	}
}

// hears waits for a hint.
func hears(t *testing.T, hints <-chan job.Preparation) job.Preparation {
	t.Helper()
	select {
	case p := <-hints:
		return p
	case <-time.After(time.Minute):
		t.Fatal("no hint came")
		return job.Preparation{}
	}
}

func TestHintReachesTheWorkersOfItsDeviceUnchanged(t *testing.T) {
	everywhere(t, func(t *testing.T, s site) {
		w := s.worker(t, "w1")
		hints, err := w.Preparations(t.Context(), []string{"CPU", "RTX 4090 Ti.2"})
		if err != nil {
			t.Fatal(err)
		}
		knows(t, w)
		for _, device := range []string{"H200", "CPU", "RTX 4090 Ti.2"} {
			if err := s.Prepare(hint(device)); err != nil {
				t.Fatal(err)
			}
		}
		heard := map[string]job.Preparation{}
		for range 2 {
			p := hears(t, hints)
			heard[p.Device] = p
		}
		want := map[string]job.Preparation{"CPU": hint("CPU"), "RTX 4090 Ti.2": hint("RTX 4090 Ti.2")}
		if diff := cmp.Diff(want, heard); diff != "" {
			t.Errorf("hints (-want +got):\n%s", diff)
		}
	})
}

func TestHintThatDoesNotFitIsRefused(t *testing.T) {
	everywhere(t, func(t *testing.T, s site) {
		p := hint("CPU")
		p.Sources["task.h"] = make([]byte, MaxMessage)
		if err := s.Prepare(p); !errors.Is(err, ErrTooLarge) {
			t.Errorf("error is %v", err)
		}
	})
}

func TestWorkerHearsOfTasksForItsDevicesAlone(t *testing.T) {
	q, _ := guarded(t)
	nc, refused := rawWorker(t, q)
	for _, subject := range []string{"prepare.H200", "prepare.*", "prepare.>"} {
		expectRefused(t, subject, refused, func() error { _, err := nc.SubscribeSync(subject); return err })
	}
	expectRefused(t, "prepare.CPU", refused, func() error { return nc.Publish("prepare.CPU", []byte("{}")) })
	w := dial(t, WorkerConfig{URL: q.Addr(), Name: "w.cpu", Secret: "right"})
	hints, err := w.Preparations(t.Context(), []string{"CPU"})
	if err != nil {
		t.Fatal(err)
	}
	knows(t, w)
	if err := q.Prepare(hint("CPU")); err != nil {
		t.Fatal(err)
	}
	hears(t, hints)
}

func TestUnreadHintsBlockNothing(t *testing.T) {
	q := openQueue(t, Config{})
	w := dial(t, WorkerConfig{Queue: q.Queue, Name: "w1"})
	hints, err := w.Preparations(t.Context(), []string{"CPU"})
	if err != nil {
		t.Fatal(err)
	}
	knows(t, w)
	for range 2 * waitingHints {
		if err := q.Prepare(hint("CPU")); err != nil {
			t.Fatal(err)
		}
	}
	knows(t, w)
	for range waitingHints {
		hears(t, hints)
	}
}
