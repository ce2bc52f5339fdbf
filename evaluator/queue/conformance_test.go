package queue

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"warpboard/evaluator/job"
	"warpboard/evaluator/queue/queuetest"
	"warpboard/internal/test/tier"
	"warpboard/tasks"
)

// site is a queue in one of its configurations, with the handler that answers, and a function that connects a worker.
type site struct {
	*Queue
	handler *queuetest.Handler
	worker  func(t *testing.T, name string) *Conn
}

// everywhere runs a test with each configuration of the queue: embedded, with a port, and on a cluster.
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

// openQueue opens a queue that answers workers.
func openQueue(t *testing.T, cfg Config) site {
	t.Helper()
	q, err := OpenQueue(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(q.Close)
	s := site{Queue: q, handler: &queuetest.Handler{}}
	serving(t, q, s.handler)
	return s
}

// serving answers requests with a handler until the end of the test or a call of stop.
func serving(t *testing.T, q *Queue, handler Handler) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := q.Serve(ctx, handler); err != nil && !q.natsConn.IsClosed() {
			t.Error(err)
		}
	}()
	stop = func() { cancel(); <-ended }
	t.Cleanup(stop)
	other, err := q.connect(ctx, siteUserName, func() {})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for { // until the queue answers requests
		if _, err := other.Request(requestSubject(siteUserName, "hello"), nil, requestTimeout); err == nil {
			return stop
		} else if !errors.Is(err, nats.ErrNoResponders) {
			t.Fatal(err)
		}
	}
}

func dial(t *testing.T, cfg WorkerConfig) *Conn {
	t.Helper()
	c, err := ConnectWorker(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func embeddedSite(t *testing.T) site {
	s := openQueue(t, Config{})
	s.worker = func(t *testing.T, name string) *Conn {
		return dial(t, WorkerConfig{Queue: s.Queue, Name: name})
	}
	return s
}

func listeningSite(t *testing.T) site {
	s := openQueue(t, Config{ListenAddress: "127.0.0.1:0", Authorize: everyDevice})
	s.worker = func(t *testing.T, name string) *Conn {
		return dial(t, WorkerConfig{URL: s.Addr(), Name: name, Secret: "secret of " + name})
	}
	return s
}

func everyDevice(name, secret string) ([]string, bool, error) {
	return []string{"CPU", "H200", "RTX 4090 Ti.2"}, secret == "secret of "+name, nil
}

// clusterSite uses a NATS server that the queue did not start.
func clusterSite(t *testing.T) site {
	ns, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	ns.Start()
	t.Cleanup(func() { ns.Shutdown(); ns.WaitForShutdown() })
	if !ns.ReadyForConnections(serverReadyTimeout) {
		t.Fatal("NATS server not ready")
	}
	s := openQueue(t, Config{ClusterURL: ns.ClientURL()})
	s.worker = func(t *testing.T, name string) *Conn {
		return dial(t, WorkerConfig{URL: ns.ClientURL(), Name: name})
	}
	return s
}

func aJob(id, device string) job.Job {
	return job.Job{
		MessageVersion: job.MessageVersion, RunID: 7, AttemptID: id, AttemptSecret: "s-" + id, Device: device, Mode: job.ModeRanked,
		Task:    tasks.Definition{Lang: tasks.LangCPP, Tests: []tasks.Case{{{Name: "n", Value: "16"}}}},
		Sources: map[string][]byte{"submission.h": {0xff, 0, 'x'}}, SecretSeed: 1<<64 - 1,
	}
}

// publish adds jobs to the queue, and announces them.
func publish(t *testing.T, s site, jobs ...job.Job) {
	t.Helper()
	for _, j := range jobs {
		s.handler.Put(j)
		if err := s.AnnounceWork(j.Device); err != nil {
			t.Fatal(err)
		}
	}
}

func receive(t *testing.T, c *Conn, device string) job.Job {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), tier.Patience())
	defer cancel()
	j, err := c.Receive(ctx, device, nil, nil)
	if err != nil {
		t.Fatalf("receive for %s: %v", device, err)
	}
	return j
}

// done ends a job.
func done(t *testing.T, c *Conn, j job.Job) {
	t.Helper()
	if err := c.PublishResult(t.Context(), job.Result{AttemptID: j.AttemptID,
		AttemptSecret: j.AttemptSecret}); err != nil {
		t.Fatal(err)
	}
}

func TestJobReachesAWorkerOfItsDeviceUnchanged(t *testing.T) {
	everywhere(t, func(t *testing.T, s site) {
		w := s.worker(t, "w1")
		for _, device := range []string{"CPU", "H200", "RTX 4090 Ti.2"} {
			publish(t, s, aJob("a of "+device, device))
		}
		for _, device := range []string{"RTX 4090 Ti.2", "H200", "CPU"} {
			j := receive(t, w, device)
			if diff := cmp.Diff(aJob("a of "+device, device), j); diff != "" {
				t.Errorf("job for %s changed on its way (-sent +received):\n%s", device, diff)
			}
			done(t, w, j)
		}
	})
}

// TestAWorkerThatWaitsHearsOfWorkAtOnce checks that an announcement, or a change on the worker itself, makes a waiting
// worker ask long before its next request.
func TestAWorkerThatWaitsHearsOfWorkAtOnce(t *testing.T) {
	tier.Needs(t, tier.Timed)
	everywhere(t, func(t *testing.T, s site) {
		w, got, changed := s.worker(t, "w1"), make(chan string, 1), make(chan struct{}, 1)
		for how, offer := range map[string]func(job.Job){
			"announced": func(j job.Job) { publish(t, s, j) },
			"changed":   func(j job.Job) { s.handler.Put(j); changed <- struct{}{} },
		} {
			took := time.Hour // the shortest of several tries, because the machine may be busy
			for i := 0; i < 10 && took > idleRequestInterval/10; i++ {
				asked := make(chan struct{})
				go func() {
					j, err := w.Receive(t.Context(), "H200", func() job.WorkRequest {
						defer func() { recover() }()
						close(asked)
						return job.WorkRequest{}
					}, changed)
					if err != nil {
						t.Error(err)
					}
					done(t, w, j)
					got <- j.AttemptID
				}()
				<-asked
				began := time.Now()
				offer(aJob("first", "H200"))
				if id := <-got; id != "first" {
					t.Errorf("%s: received %q", how, id)
				}
				took = min(took, time.Since(began))
			}
			if took > idleRequestInterval/10 {
				t.Errorf("%s: it took %v", how, took)
			}
		}
	})
}
