package evaluator_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"warpboard/evaluator"
	"warpboard/evaluator/device"
	"warpboard/evaluator/job"
	"warpboard/evaluator/queue"
	"warpboard/evaluator/queue/queuetest"
	"warpboard/internal/test/tier"
	"warpboard/tasks"
)

type realConn = *queue.Conn

// fakeSite is a real embedded queue with a handler that hands out published jobs, and records the workers' reports.
type fakeSite struct {
	t       testing.TB
	queue   *queue.Queue
	handler *queuetest.Handler

	mu      sync.Mutex
	changed chan struct{} // closed and replaced at each change
	events  []job.Event
	results map[string][]job.Result
	beats   map[string]job.Heartbeat // latest heartbeat of each worker
}

func newSite(t testing.TB) *fakeSite {
	t.Helper()
	q, err := queue.OpenQueue(t.Context(), queue.Config{})
	if err != nil {
		t.Fatal(err)
	}
	s := &fakeSite{t: t, queue: q, changed: make(chan struct{}), results: map[string][]job.Result{},
		beats: map[string]job.Heartbeat{}}
	s.handler = &queuetest.Handler{
		OnEvent: func(e job.Event) { s.note(func() { s.events = append(s.events, e) }) },
		OnSync: func(h job.Heartbeat) error {
			s.note(func() { s.beats[h.Worker] = h })
			return nil
		},
		OnResult: func(r job.Result) error {
			s.note(func() { s.results[r.AttemptID] = append(s.results[r.AttemptID], r) })
			return nil
		},
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- q.Serve(ctx, s.handler) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		q.Close()
	})
	return s
}

func (s *fakeSite) note(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
	close(s.changed)
	s.changed = make(chan struct{})
}

// wait blocks until the condition holds for the reports that the site has received.
func (s *fakeSite) wait(what string, holds func() bool) {
	s.t.Helper()
	for deadline := time.After(tier.Patience()); ; {
		s.mu.Lock()
		ok, changed := holds(), s.changed
		s.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			s.mu.Lock()
			defer s.mu.Unlock()
			s.t.Fatalf("never happened: %s\nevents: %+v\nheartbeats: %+v", what, s.events, s.beats)
		}
	}
}

// result waits for the result of an attempt.
func (s *fakeSite) result(id string) job.Result {
	s.t.Helper()
	s.wait("result of "+id, func() bool { return len(s.results[id]) > 0 })
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.results[id][0]
}

func (s *fakeSite) resultsOf(id string) []job.Result {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.results[id])
}

func (s *fakeSite) eventsOf(id string) []job.Event {
	var out []job.Event
	for _, e := range s.allEvents() {
		if e.AttemptID == id {
			out = append(out, e)
		}
	}
	return out
}

// allEvents returns all events so far.
func (s *fakeSite) allEvents() []job.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.events)
}

// beat returns the worker's latest heartbeat.
func (s *fakeSite) beat(worker string) job.Heartbeat {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.beats[worker]
}

func (s *fakeSite) publish(jobs ...job.Job) {
	s.t.Helper()
	for _, j := range jobs {
		s.handler.Put(j)
		if err := s.queue.AnnounceWork(j.Device); err != nil {
			s.t.Fatal(err)
		}
	}
}

// run publishes a job and waits for its result.
func (s *fakeSite) run(j job.Job) job.Result {
	s.t.Helper()
	s.publish(j)
	return s.result(j.AttemptID)
}

func (s *fakeSite) cancel(id string) {
	s.t.Helper()
	if err := s.queue.AnnounceCancellation(id); err != nil {
		s.t.Fatal(err)
	}
}

// running is a running worker.
type running struct {
	stop  context.CancelFunc
	ended chan error // receives the error of Worker.Run
}

// start runs a worker against the site. Unset parts of cfg are working fakes.
func (s *fakeSite) start(cfg evaluator.Config) *running {
	s.t.Helper()
	if cfg.Name == "" {
		cfg.Name = "w1"
	}
	if cfg.Conn == nil {
		cfg.Conn = s.dial(cfg.Name)
	}
	if cfg.Sandbox == nil {
		cfg.Sandbox = fakeSandbox{{Name: "walls", Passed: true}}
	}
	if cfg.Builder == nil {
		cfg.Builder = fakeBuilder{}
	}
	if cfg.Slots == nil {
		cfg.Slots = []device.Slot{cpu(0)}
	}
	cfg.Precompile = true
	cfg.HeartbeatEvery = cmp.Or(cfg.HeartbeatEvery, 10*time.Millisecond)
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{stop: cancel, ended: make(chan error, 1)}
	w := evaluator.NewWorker(cfg)
	go func() { r.ended <- w.Run(ctx); close(r.ended) }()
	s.t.Cleanup(func() { cancel(); <-r.ended })
	s.wait("heartbeat after the self-test", func() bool { return len(s.beats[cfg.Name].SelfTestResults) > 0 })
	return r
}

func (s *fakeSite) dial(name string) *queue.Conn {
	s.t.Helper()
	conn, err := queue.ConnectWorker(s.t.Context(), queue.WorkerConfig{Queue: s.queue, Name: name})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(conn.Close)
	return conn
}

func cpu(index int) device.Slot { return device.Slot{Index: index, Device: "CPU", Name: "a processor"} }

func gpu(index int) device.Slot {
	return device.Slot{Index: index, Device: "H200", Name: "NVIDIA H200", UUIDHash: fmt.Sprint("gpu", index),
		Arch: "90", DeviceNodes: []string{"/dev/nvidiactl", fmt.Sprint("/dev/nvidia", index)}}
}

// aJob returns a job with two tests and two benchmarks.
func aJob(id string, mode job.Mode) job.Job {
	c := func(n int) tasks.Case { return tasks.Case{{Name: "size", Value: fmt.Sprint(n)}} }
	return job.Job{
		MessageVersion: job.MessageVersion, RunID: 1, AttemptID: id, AttemptSecret: "secret of " + id, Device: "CPU", Mode: mode,
		SecretSeed: 987654321,
		Task: tasks.Definition{
			Lang: tasks.LangCPP, RankingBy: tasks.RankMean,
			Tests: []tasks.Case{c(1), c(2)}, Benchmarks: []tasks.Case{c(10), c(20)},
			Timeouts: tasks.Timeouts{Test: time.Minute, Benchmark: 2 * time.Minute, Ranked: 3 * time.Minute},
		},
	}
}

func stageNames(r job.Result) []string {
	var out []string
	for _, s := range r.Stages {
		out = append(out, fmt.Sprintf("%s %s", s.Stage, s.Status))
	}
	return out
}

func wantStages(t *testing.T, r job.Result, want ...string) {
	t.Helper()
	if got := stageNames(r); !slices.Equal(got, want) {
		t.Errorf("stages are %q, want %q", got, want)
	}
}
