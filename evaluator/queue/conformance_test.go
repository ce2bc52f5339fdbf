package queue

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats-server/v2/server"

	"warpboard/evaluator/job"
	"warpboard/tasks"
)

// site is one way to run the queue: its own side, and how a worker reaches it.
type site struct {
	*Queue
	worker func(t *testing.T, name string) *Conn
}

const shortAckWait = time.Second

var discard = slog.New(slog.DiscardHandler)

// everywhere runs a promise over each way to run the queue.
func everywhere(t *testing.T, promise func(t *testing.T, s site)) {
	ways := map[string]func(t *testing.T) site{
		"embedded":  embeddedSite,
		"listening": listeningSite,
		"cluster":   clusterSite,
	}
	for name, open := range ways {
		t.Run(name, func(t *testing.T) { promise(t, open(t)) })
	}
}

func openQueue(t *testing.T, cfg Config) *Queue {
	t.Helper()
	if cfg.AckWait == 0 {
		cfg.AckWait = shortAckWait
	}
	q, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(q.Close)
	return q
}

func dial(t *testing.T, cfg WorkerConfig) *Conn {
	t.Helper()
	c, err := Dial(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func embeddedSite(t *testing.T) site {
	q := openQueue(t, Config{Dir: t.TempDir()})
	return site{q, func(t *testing.T, name string) *Conn {
		return dial(t, WorkerConfig{Queue: q, Name: name})
	}}
}

func listeningSite(t *testing.T) site {
	q := openQueue(t, Config{Dir: t.TempDir(), Listen: "127.0.0.1:0", Authorize: everyDevice})
	return site{q, func(t *testing.T, name string) *Conn {
		return dial(t, WorkerConfig{URL: q.Addr(), Name: name, Secret: "secret of " + name})
	}}
}

func everyDevice(name, secret string) ([]string, bool, error) {
	return []string{"CPU", "H200", "RTX 4090 Ti.2"}, secret == "secret of "+name, nil
}

// clusterSite uses a NATS server that the queue did not start.
func clusterSite(t *testing.T) site {
	ns, err := server.NewServer(&server.Options{
		JetStream: true, StoreDir: t.TempDir(), Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	ns.Start()
	t.Cleanup(func() { ns.Shutdown(); ns.WaitForShutdown() })
	if !ns.ReadyForConnections(serverReady) {
		t.Fatal("NATS server not ready")
	}
	q := openQueue(t, Config{URL: ns.ClientURL()})
	return site{q, func(t *testing.T, name string) *Conn {
		return dial(t, WorkerConfig{URL: ns.ClientURL(), Name: name})
	}}
}

func aJob(id, device string) job.Job {
	return job.Job{
		Version: job.Version, RunID: 7, AttemptID: id, Secret: "s-" + id, Device: device, Mode: job.ModeRanked,
		Task:    tasks.Definition{Lang: tasks.LangCPP, Tests: []tasks.Case{{{Name: "n", Value: "16"}}}},
		Sources: map[string][]byte{"submission.h": {0xff, 0, 'x'}}, SecretSeed: 1<<64 - 1,
	}
}

func publish(t *testing.T, q *Queue, jobs ...job.Job) {
	t.Helper()
	for _, j := range jobs {
		if err := q.Publish(t.Context(), j); err != nil {
			t.Fatal(err)
		}
	}
}

func receive(t *testing.T, c *Conn, device string) *Delivery {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	d, err := c.Receive(ctx, device, nil)
	if err != nil {
		t.Fatalf("receive for %s: %v", device, err)
	}
	return d
}

func done(t *testing.T, d *Delivery) {
	t.Helper()
	if err := d.Done(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestJobReachesAWorkerOfItsDeviceUnchanged(t *testing.T) {
	everywhere(t, func(t *testing.T, s site) {
		w := s.worker(t, "w1")
		for _, device := range []string{"CPU", "H200", "RTX 4090 Ti.2"} {
			publish(t, s.Queue, aJob("a of "+device, device))
		}
		for _, device := range []string{"RTX 4090 Ti.2", "H200", "CPU"} {
			d := receive(t, w, device)
			if diff := cmp.Diff(aJob("a of "+device, device), d.Job); diff != "" {
				t.Errorf("job for %s changed on its way (-sent +received):\n%s", device, diff)
			}
			done(t, d)
		}
	})
}

func TestWorkerMayWaitBeforeTheFirstJobOfItsDevice(t *testing.T) {
	everywhere(t, func(t *testing.T, s site) {
		w, got := s.worker(t, "w1"), make(chan string, 1)
		go func() {
			d, err := w.Receive(t.Context(), "H200", nil)
			if err != nil {
				got <- err.Error()
				return
			}
			got <- d.Job.AttemptID
		}()
		publish(t, s.Queue, aJob("first", "H200"))
		if id := <-got; id != "first" {
			t.Errorf("received %q", id)
		}
	})
}

func TestJobPublishedTwiceIsDeliveredOnce(t *testing.T) {
	everywhere(t, func(t *testing.T, s site) {
		w := s.worker(t, "w1")
		publish(t, s.Queue, aJob("a1", "CPU"), aJob("a1", "CPU"), aJob("a2", "CPU"))
		done(t, receive(t, w, "CPU"))
		publish(t, s.Queue, aJob("a1", "CPU"), aJob("a3", "CPU"))
		for _, want := range []string{"a2", "a3"} {
			d := receive(t, w, "CPU")
			if d.Job.AttemptID != want {
				t.Errorf("received %s, want %s", d.Job.AttemptID, want)
			}
			done(t, d)
		}
	})
}

func TestJobOfAVanishedWorkerGoesToAnother(t *testing.T) {
	everywhere(t, func(t *testing.T, s site) {
		publish(t, s.Queue, aJob("a1", "CPU"))
		vanishing := s.worker(t, "w1")
		receive(t, vanishing, "CPU")
		vanishing.Close()
		if d := receive(t, s.worker(t, "w2"), "CPU"); d.Job.AttemptID != "a1" {
			t.Errorf("received %s, want a1", d.Job.AttemptID)
		}
	})
}

func TestExtendedJobStaysWithItsWorker(t *testing.T) {
	everywhere(t, func(t *testing.T, s site) {
		for i := range 5 {
			other, late, err := extended(t, s, fmt.Sprint("a", i))
			if errors.Is(err, context.DeadlineExceeded) {
				return
			}
			if late < shortAckWait/2 { // else it was not extended in time: this machine has much else to do
				t.Fatalf("another worker got %+v, error %v", other, err)
			}
		}
		t.Error("five times it could not be extended in time")
	})
}

// extended receives a job and extends it again and again, while another worker asks for one. late is the longest time
// between two extensions.
func extended(t *testing.T, s site, id string) (other *Delivery, late time.Duration, err error) {
	publish(t, s.Queue, aJob(id, "CPU"))
	d := receive(t, s.worker(t, "w1"), "CPU")
	ctx, cancel := context.WithTimeout(t.Context(), 3*shortAckWait)
	defer cancel()
	longest := make(chan time.Duration, 1)
	go func() {
		var gap time.Duration
		last := time.Now()
		for tick := time.NewTicker(shortAckWait / 8); ctx.Err() == nil; <-tick.C {
			d.Extend(ctx)
			gap, last = max(gap, time.Since(last)), time.Now()
		}
		longest <- gap
	}()
	other, err = s.worker(t, "w2").Receive(ctx, "CPU", nil)
	cancel()
	return other, <-longest, err
}

func TestReturnedJobGoesToAnotherAtOnce(t *testing.T) {
	everywhere(t, func(t *testing.T, s site) {
		w1, w2 := s.worker(t, "w1"), s.worker(t, "w2")
		took := time.Hour // at best: the machine may be busy, and waiting for the acknowledgement is never shorter
		for i := 0; i < 20 && took > shortAckWait; i++ {
			publish(t, s.Queue, aJob(fmt.Sprint("a", i), "CPU"))
			if err := receive(t, w1, "CPU").Return(t.Context()); err != nil {
				t.Fatal(err)
			}
			begin := time.Now()
			d := receive(t, w2, "CPU")
			took = min(took, time.Since(begin))
			done(t, d)
		}
		if took > shortAckWait {
			t.Errorf("took %s: it waited for the acknowledgement to expire", took)
		}
	})
}

func TestJobThatIsPassedOnComesAfterItsPause(t *testing.T) {
	const pause = shortAckWait / 2
	everywhere(t, func(t *testing.T, s site) {
		publish(t, s.Queue, aJob("a1", "CPU"))
		d := receive(t, s.worker(t, "w1"), "CPU")
		for i, asked := range []time.Duration{pause, time.Hour} { // no pause is longer than Config.AckWait
			if d.Job.AttemptID != "a1" || d.Deliveries() != i+1 {
				t.Fatalf("%s came for time %d, want %d", d.Job.AttemptID, d.Deliveries(), i+1)
			}
			begun := time.Now()
			if err := d.ReturnAfter(t.Context(), asked); err != nil {
				t.Fatal(err)
			}
			d = receive(t, s.worker(t, "w2"), "CPU")
			if took := time.Since(begun); took < pause*9/10 {
				t.Errorf("came after %v, before the pause was over", took)
			}
		}
		done(t, d)
	})
}
