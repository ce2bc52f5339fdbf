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

// ErrWallsFail is what a worker ends with whose sandbox failed its self-test. It goes on saying so to the site, and takes
// no jobs, until it is stopped.
var ErrWallsFail = errors.New("the sandbox failed its self-test")

// deliveryTimeout bounds one try to deliver a finished result.
// Longer than what the queue waits for the site, so that its own error comes first.
const deliveryTimeout = 8 * time.Second

// Worker evaluates jobs on the slots of one machine.
//
// pool, gate, inFlight and found have locks of their own; mu guards checks, refusing and stopping, which heartbeats read.
type Worker struct {
	cfg      Config
	log      *slog.Logger
	started  time.Time
	pool     *slots.Pool
	inFlight inFlight
	gate     slots.IdleGate
	found    findings

	unprofiled atomic.Bool // the machine's Nsight Compute failed its test

	mu       sync.Mutex
	checks   []job.CheckLine
	refusing string // why no jobs are taken
	stopping bool
}

// NewWorker returns a worker for cfg.Slots.
func NewWorker(cfg Config) *Worker {
	cfg = cfg.withDefaults()
	return &Worker{
		cfg:     cfg,
		log:     cfg.Log,
		started: time.Now().UTC(),
		pool: slots.NewPool(slots.Config{
			Worker: cfg.Name, Sandbox: cfg.Sandbox.Name(), Tools: cfg.Tools, Slots: cfg.Slots, Builds: cfg.Builds, Probe: cfg.Probe,
		}),
		refusing: "The self-test of the sandbox is still running.",
	}
}

// Run tests the sandbox and then evaluates jobs until ctx ends. Jobs on their slot then have
// Config.Grace to end; all others, and those that take longer (at once, where past runs say so), are handed back
// for another worker. It returns an error when the connection to the site is closed for good, and
// ErrWallsFail when it never took a job.
func (w *Worker) Run(ctx context.Context) error {
	// Syncs and cancellations go on while the last jobs end.
	base, hardStop := context.WithCancel(context.WithoutCancel(ctx))
	defer hardStop()
	err := w.cfg.Conn.Cancels(w.inFlight.cancel)
	if err != nil {
		return fmt.Errorf("worker %s: %w", w.cfg.Name, err)
	}
	var beating sync.WaitGroup
	beating.Go(func() { w.syncLoop(base) })
	if w.walls(ctx) {
		// Contexts: ctx is the stop signal. base outlives it, so that heartbeats and cancellations work until all jobs have
		// ended.
		err = w.serve(ctx)
	} else {
		err = w.wallsFail(ctx)
	}
	hardStop()
	beating.Wait()
	w.sync() // says that it leaves in order
	return err
}

// serve evaluates jobs until ctx ends, it is time to leave or no slot is left in service. Three things end one after the other:
// receiving with ctx, the jobs at most Config.Grace later, and then the Pythons that are kept ready for them.
//
// Order of the ends: staying (leave or ctx) ends receiving; jobs ends by finish at the latest; warm follows, since
// programs on their slots use its Pythons. jobs does not hang on ctx: running jobs have their grace. No job begins once
// finish waits: group has ended by then.
func (w *Worker) serve(ctx context.Context) error {
	jobs, endJobs := context.WithCancelCause(context.WithoutCancel(ctx))
	defer endJobs(nil)
	var running, warming, beside sync.WaitGroup
	warm, stopPool := context.WithCancel(jobs)
	defer stopPool()
	staying, leave := context.WithCancel(ctx)
	defer leave()
	group, receiving := errgroup.WithContext(staying)
	until := make(chan time.Time, 1)
	w.noteSanitizer()
	beside.Go(func() { w.leaveOnNotice(warm, leave, until) })
	beside.Go(func() { w.leaveWhenIdle(receiving, leave) })
	beside.Go(func() { w.precompileLoop(receiving) })
	beside.Go(func() { w.gaugeLoop(receiving) })
	beside.Go(func() { w.checkProfiler(receiving) })
	begin := func(s *slots.Slot, t *slots.Ticket, j job.Job) {
		if w.cfg.Leave.Once {
			leave()
		}
		running.Go(func() {
			defer t.Return()
			w.handle(jobs, s, t, j)
		})
	}
	for _, s := range w.pool.All() {
		group.Go(func() error {
			return w.keepSlot(receiving, s, func(ctx context.Context, s *slots.Slot) error {
				w.keepPythons(warm, s, &warming)
				return w.receive(ctx, s, func(t *slots.Ticket, j job.Job) { begin(s, t, j) })
			})
		})
	}
	err := group.Wait()
	if err != nil { // the site is out of reach for good
		defer w.endBy(time.Now().Add(w.cfg.Grace), endJobs).Stop()
	}
	w.finish(ctx, &running, until, endJobs)
	stopPool()
	warming.Wait()
	beside.Wait()
	return err
}

// keepPythons keeps Pythons ready for the programs on a slot, for the judges beside them, and on a GPU for the
// sidecar and for the second of two kernels that are compared.
func (w *Worker) keepPythons(ctx context.Context, s *slots.Slot, warming *sync.WaitGroup) {
	at := w.pool.Place(s)
	warming.Go(func() { w.keepWarm(ctx, s, at, w.cfg.Warm) })
	warming.Go(func() { w.keepWarm(ctx, s, at.Judges(), w.cfg.Warm) })
	if s.IsGPU() {
		warming.Go(func() { w.keepWarm(ctx, s, w.pool.SidecarPlace(s), min(w.cfg.Warm, 1)) })
		warming.Go(func() { w.keepWarm(ctx, s, at.Other(1), min(w.cfg.Warm, 1)) })
	}
}

// keepWarm keeps Pythons ready at a place of the slot while it is in service.
func (w *Worker) keepWarm(ctx context.Context, s *slots.Slot, at toolchain.Place, n int) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.Service(), cancel)()
	if err := w.cfg.Builder.KeepWarm(ctx, at, n); err != nil && ctx.Err() == nil {
		w.log.Error("no Python is kept ready", "slot", s.Index, "err", err)
	}
}

// receive receives the jobs of one slot: one for the unit, on a GPU another that comes next, and as many more as there are places
// to build them. It ends when ctx does or when the slot is out of service.
func (w *Worker) receive(ctx context.Context, s *slots.Slot, begin func(*slots.Ticket, job.Job)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.Service(), cancel)()
	for t := s.Reserve(ctx); t != nil; t = s.Reserve(ctx) {
		// The ticket is held while it waits, so that a job that comes always has a place. The load decides whether idle slots
		// elsewhere go first.
		j, err := w.cfg.Conn.Receive(ctx, s.Device, func() (bool, int) { return w.pool.Load(s) })
		if err != nil {
			t.Return() // the slot may come back, and needs all of its tickets then
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("worker %s: slot %d: %w", w.cfg.Name, s.Index, err)
		}
		begin(t, j)
	}
	return nil
}

// wallsFail waits until ctx ends, and says why the worker took no jobs until then: nil when it was stopped before its
// self-test had ended.
func (w *Worker) wallsFail(ctx context.Context) error {
	<-ctx.Done()
	w.stop()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.checks == nil {
		return nil
	}
	return fmt.Errorf("%w, and it took no jobs: %s", ErrWallsFail, failedChecks(w.checks))
}

func failedChecks(checks []job.CheckLine) string {
	var failed []string
	for _, c := range checks {
		if !c.OK {
			failed = append(failed, fmt.Sprintf("%s (%s)", c.Name, c.Detail))
		}
	}
	return strings.Join(failed, "; ")
}

// walls reports whether the sandbox holds, if need be after further tests of it; a worker whose sandbox does not hold
// takes no jobs.
func (w *Worker) walls(ctx context.Context) bool {
	check := w.cfg.Check
	pause := backoff{check.Pause, check.Longest, check.Pause}
	for !w.testWalls(ctx) {
		if check.Pause == 0 || !pause.wait(ctx) {
			return false
		}
	}
	return true
}

// It runs before any job, and never beside one.
func (w *Worker) testWalls(ctx context.Context) bool {
	checks := w.cfg.Sandbox.SelfTest(ctx)
	if ctx.Err() != nil {
		return false // it was cut short, which says nothing
	}
	refusing := ""
	if failed := failedChecks(checks); failed != "" {
		refusing = "The sandbox failed its self-test: " + failed + ". Fix this and restart the worker."
		if w.cfg.Check.Pause > 0 {
			refusing = "The sandbox failed its self-test: " + failed + ". It is tested again automatically; jobs are taken when it passes."
		}
		w.log.Error("no jobs are taken", "err", refusing)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.checks, w.refusing = checks, refusing
	return refusing == ""
}

func (w *Worker) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopping = true
}
