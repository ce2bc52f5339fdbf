package evaluator

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"warpboard/evaluator/job"
	"warpboard/evaluator/slots"
	"warpboard/evaluator/toolchain"
)

// ErrSelfTest is the error of a worker whose sandbox failed its self-test. Such a worker accepts no jobs and reports
// the failure to the site until it is stopped.
var ErrSelfTest = errors.New("the sandbox failed its self-test")

// deliveryTimeout limits one try to send a result. It is longer than the queue's own timeout, so that the queue's error
// is returned first.
const deliveryTimeout = 8 * time.Second

// Worker evaluates jobs on the slots of one machine.
//
// slots, idleScheduler, liveAttempts, and testResults have their own locks. mu guards sandboxTestResults, noJobsReason,
// and isStopping, which heartbeats read.
type Worker struct {
	cfg           Config
	log           *slog.Logger
	startedAt     time.Time
	slots         *slots.Set
	liveAttempts  liveAttempts
	idleScheduler slots.IdleScheduler
	testResults   testProgramResults

	profilerFailed  atomic.Bool // Nsight Compute failed its test
	siteHasPackages bool        // the site has stored the packages; only syncLoop uses it

	mu                 sync.Mutex
	sandboxTestResults []job.SelfTestResult
	noJobsReason       string // reason for taking no jobs; empty if jobs are taken
	isStopping         bool
}

// NewWorker returns a worker for cfg.Slots.
func NewWorker(cfg Config) *Worker {
	cfg = cfg.withDefaults()
	return &Worker{
		cfg:       cfg,
		log:       cfg.Log,
		startedAt: time.Now().UTC(),
		slots: slots.NewSet(slots.Config{
			WorkerName: cfg.Name, SandboxName: cfg.Sandbox.Name(), Toolchain: cfg.Toolchain, Slots: cfg.Slots, ConcurrentBuilds: cfg.ConcurrentBuilds, ProbeDevice: cfg.ProbeDevice,
		}),
		noJobsReason: "The self-test of the sandbox is still running.",
	}
}

// Run tests the sandbox and then evaluates jobs until ctx ends. Running jobs then have Config.StopTimeout to end. All
// others, and those that would take longer (at once if earlier runs show it), are returned to the site for another
// worker. Run returns an error if the connection to the site is closed permanently, and ErrSelfTest if the worker never
// accepted a job.
func (w *Worker) Run(ctx context.Context) error {
	// Heartbeats and cancellations continue while the last jobs end.
	base, hardStop := context.WithCancel(context.WithoutCancel(ctx))
	defer hardStop()
	err := w.cfg.Conn.SubscribeCancellations(w.liveAttempts.cancel)
	if err != nil {
		return fmt.Errorf("worker %s: %w", w.cfg.Name, err)
	}
	var beating sync.WaitGroup
	beating.Go(func() { w.syncLoop(base) })
	if w.testSandboxUntilPassed(ctx) {
		// ctx is the stop signal. base outlives it, so that heartbeats and cancellations work until all jobs have
		// ended.
		err = w.serveJobs(ctx)
	} else {
		err = w.waitAfterFailedSelfTest(ctx)
	}
	hardStop()
	beating.Wait()
	w.sendHeartbeat() // the last heartbeat reports an orderly exit
	return err
}

// serveJobs evaluates jobs until ctx ends, the worker leaves, or no slot is in service.
//
// Order of the shutdown: the end of staying (by leave or ctx) ends receiving; waitForAttempts ends jobs, at most
// Config.StopTimeout later; warm ends last, because running programs use its Pythons. jobs does not derive from ctx, so
// running jobs can end. No job begins after waitForAttempts started to wait, because group has ended by then.
func (w *Worker) serveJobs(ctx context.Context) error {
	jobs, endJobs := context.WithCancelCause(context.WithoutCancel(ctx))
	defer endJobs(nil)
	var running, warming, beside sync.WaitGroup
	warm, stopWarming := context.WithCancel(jobs)
	defer stopWarming()
	staying, leave := context.WithCancel(ctx)
	defer leave()
	group, receiving := errgroup.WithContext(staying)
	until := make(chan time.Time, 1)
	w.recordSanitizerSupport()
	beside.Go(func() { w.leaveOnNotice(warm, leave, until) })
	beside.Go(func() { w.leaveWhenIdle(receiving, leave) })
	beside.Go(func() { w.precompileLoop(receiving) })
	beside.Go(func() { w.benchmarkSlots(receiving) })
	beside.Go(func() { w.checkProfiler(receiving) })
	begin := func(s *slots.Slot, t *slots.InFlightPermit, j job.Job) (ended <-chan struct{}) {
		if w.cfg.ExitConditions.AfterOneJob {
			leave()
		}
		done := make(chan struct{})
		running.Go(func() {
			defer close(done)
			defer t.Return()
			defer s.RecordEnd(j.Caller)
			w.handleJob(jobs, s, t, j)
		})
		return done
	}
	for _, s := range w.slots.AllSlots() {
		group.Go(func() error {
			return w.keepSlotInService(receiving, s, func(ctx context.Context, s *slots.Slot) error {
				w.keepPythonsReady(warm, s, &warming)
				return w.receiveJobs(ctx, s, func(t *slots.InFlightPermit, j job.Job) { begin(s, t, j) })
			})
		})
	}
	compiling, endCompiling := context.WithCancel(receiving)
	defer endCompiling()
	var compilers sync.WaitGroup
	for _, s := range w.slots.FirstGPUs() {
		compilers.Go(func() {
			w.serveCompileRequests(compiling, s, func(j job.Job) <-chan struct{} { return begin(s, nil, j) })
		})
	}
	err := group.Wait()
	endCompiling()
	compilers.Wait()
	if err != nil { // the connection to the site is closed permanently
		defer w.returnAttemptsBy(time.Now().Add(w.cfg.StopTimeout), endJobs).Stop()
	}
	w.waitForAttempts(ctx, &running, until, endJobs)
	stopWarming()
	warming.Wait()
	beside.Wait()
	return err
}

// keepPythonsReady keeps Pythons ready for a slot: for programs and their judges, and on a GPU also for the sidecars,
// for the second of two compared kernels, and for the processes that take turns with these.
func (w *Worker) keepPythonsReady(ctx context.Context, s *slots.Slot, warming *sync.WaitGroup) {
	at := w.slots.Environment(s)
	warming.Go(func() { w.keepEnvironmentReady(ctx, s, at, w.cfg.WarmPythons) })
	warming.Go(func() { w.keepEnvironmentReady(ctx, s, at.JudgeEnvironment(), w.cfg.WarmPythons) })
	for _, sidecar := range s.Sidecars {
		warming.Go(func() { w.keepEnvironmentReady(ctx, s, sidecar.Environment, min(w.cfg.WarmPythons, 1)) })
	}
	if s.IsGPU() {
		warming.Go(func() { w.keepEnvironmentReady(ctx, s, at.ExtraEnvironment(1), min(w.cfg.WarmPythons, 1)) })
	}
	for _, next := range at.AlternateEnvironments() {
		warming.Go(func() { w.keepEnvironmentReady(ctx, s, next, min(w.cfg.WarmPythons, 1)) })
		for number := range next.ExtraSandboxSlots {
			warming.Go(func() {
				w.keepEnvironmentReady(ctx, s, next.ExtraEnvironment(number+1),
					min(w.cfg.WarmPythons, 1))
			})
		}
	}
}

// keepEnvironmentReady keeps n Pythons ready in one sandbox environment of the slot while the slot is in service.
func (w *Worker) keepEnvironmentReady(ctx context.Context, s *slots.Slot, at toolchain.Environment, n int) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.ServiceContext(), cancel)()
	if err := w.cfg.Builder.KeepWarm(ctx, at, n); err != nil && ctx.Err() == nil {
		w.log.Error("no Python is kept ready", "slot", s.Index, "err", err)
	}
}

// receiveJobs receives the jobs of one slot: one to run, on a GPU another one to build during that run, and more while
// build slots are free. It ends with ctx or when the slot is retired.
func (w *Worker) receiveJobs(ctx context.Context, s *slots.Slot, begin func(*slots.InFlightPermit, job.Job)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.ServiceContext(), cancel)()
	for t := s.AcquirePermit(ctx); t != nil; t = s.AcquirePermit(ctx) {
		// The permit is acquired before waiting, so that an arriving job always has one. The load lets the site prefer
		// idle slots elsewhere.
		j, err := w.cfg.Conn.Receive(ctx, s.Device, func() job.WorkRequest { return w.slots.JobRequest(s) }, s.JobEnded())
		if err != nil {
			t.Return() // the slot may return to service, and then needs all of its permits
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("worker %s: slot %d: %w", w.cfg.Name, s.Index, err)
		}
		s.RecordArrival(j.Caller)
		begin(t, j)
	}
	return nil
}

// serveCompileRequests evaluates requests that only compile for a GPU, one at a time, until ctx ends. They do not wait
// for a slot.
func (w *Worker) serveCompileRequests(ctx context.Context, s *slots.Slot, begin func(job.Job) (ended <-chan struct{})) {
	for {
		j, err := w.cfg.Conn.Receive(ctx, s.Device, func() job.WorkRequest { return job.WorkRequest{CompileOnly: true} }, nil)
		if err != nil {
			return // the slots' own requests report a closed connection
		}
		select {
		case <-begin(j):
		case <-ctx.Done():
		}
	}
}

// waitAfterFailedSelfTest waits until ctx ends, and returns why the worker accepted no jobs; nil if it was stopped
// during the self-test.
func (w *Worker) waitAfterFailedSelfTest(ctx context.Context) error {
	<-ctx.Done()
	w.stop()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.sandboxTestResults == nil {
		return nil
	}
	return fmt.Errorf("%w, and it took no jobs: %s", ErrSelfTest, failedChecksText(w.sandboxTestResults))
}

func failedChecksText(checks []job.SelfTestResult) string {
	var failed []string
	for _, c := range checks {
		if !c.Passed {
			failed = append(failed, fmt.Sprintf("%s (%s)", c.Name, c.Detail))
		}
	}
	return strings.Join(failed, "; ")
}

// testSandboxUntilPassed reports whether the sandbox passed its self-test. A failed one is repeated if
// SelfTest.FirstRetryPause is set.
func (w *Worker) testSandboxUntilPassed(ctx context.Context) bool {
	check := w.cfg.SelfTest
	pause := backoff{check.FirstRetryPause, check.MaxRetryPause, check.FirstRetryPause}
	for !w.testSandbox(ctx) {
		if check.FirstRetryPause == 0 || !pause.wait(ctx) {
			return false
		}
	}
	return true
}

// testSandbox runs the self-test once. It must not run concurrently with a job.
func (w *Worker) testSandbox(ctx context.Context) bool {
	checks := w.cfg.Sandbox.SelfTest(ctx)
	if ctx.Err() != nil {
		return false // interrupted, so the result is unknown
	}
	refusing := ""
	if failed := failedChecksText(checks); failed != "" {
		refusing = "The sandbox failed its self-test: " + failed + ". Fix this and restart the worker."
		if w.cfg.SelfTest.FirstRetryPause > 0 {
			refusing = "The sandbox failed its self-test: " + failed + ". It is tested again automatically; jobs are taken when it passes."
		}
		w.log.Error("no jobs are taken", "err", refusing)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sandboxTestResults, w.noJobsReason = checks, refusing
	return refusing == ""
}

func (w *Worker) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.isStopping = true
}
