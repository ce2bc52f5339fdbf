package evaluator

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"warpboard/evaluator/job"
	"warpboard/evaluator/queue"
	"warpboard/evaluator/toolchain"
)

// errStopping is why a job is taken from a worker that stops: it is handed back, not cancelled.
var errStopping = errors.New("the worker is stopping")

// ErrSetAside is why a worker ends by itself: what it evaluated failed by its own fault, again and again.
var ErrSetAside = errors.New("every slot of the worker is out of service")

// A job that is to avoid this worker is passed on so often and with these pauses; then no other worker
// has the time, and it is evaluated here.
const (
	passOn     = 2
	passAfter  = 100 * time.Millisecond // until the job is in the queue again
	leaveAlone = 500 * time.Millisecond // until this slot asks again
)

// lastWords is how long a worker that stops still tries to hand over a finished result.
const lastWords = 5 * time.Second

// Worker evaluates jobs on the slots of one machine.
type Worker struct {
	cfg     Config
	log     *slog.Logger
	started time.Time
	slots   []*slot
	builds  chan int // the sandbox's slots that are free for building
	inHand  attempts
	quiet   quiet

	mu       sync.Mutex
	checks   []job.CheckLine
	refusing string // why no jobs are taken
	stopping bool
}

// NewWorker returns a worker for cfg.Slots.
func NewWorker(cfg Config) *Worker {
	cfg = cfg.withDefaults()
	w := &Worker{
		cfg:      cfg,
		log:      cfg.Log,
		started:  time.Now().UTC(),
		builds:   make(chan int, cfg.Builds),
		refusing: "The self-test of the sandbox is still running.",
	}
	for i, s := range cfg.Slots {
		slot := newSlot(s, i)
		slot.memory = memoryShare(len(cfg.Slots))
		w.slots = append(w.slots, slot)
	}
	for i := range cfg.Builds {
		w.builds <- len(cfg.Slots) + i // no build shares its uid with a program on a slot
	}
	return w
}

// Run tests the sandbox and then evaluates jobs until ctx ends. Jobs on their slot then have
// Config.Grace to end; all others, and those that take longer, are handed back to the queue for
// another worker. It returns an error when the connection to the site is closed for good, and
// ErrSetAside when no slot is left in service.
func (w *Worker) Run(ctx context.Context) error {
	// Heartbeats and cancellations go on while the last jobs end.
	base, endBase := context.WithCancel(context.WithoutCancel(ctx))
	defer endBase()
	deaf, err := w.cfg.Conn.Cancels(w.inHand.cancel)
	if err != nil {
		return fmt.Errorf("worker %s: %w", w.cfg.Name, err)
	}
	defer deaf()
	hints, err := w.hints(base)
	if err != nil {
		return fmt.Errorf("worker %s: %w", w.cfg.Name, err)
	}
	var beating sync.WaitGroup
	beating.Go(func() { w.beats(base) })
	err = w.work(ctx, hints)
	endBase()
	beating.Wait()
	w.beat() // says that it leaves in order
	return err
}

func (w *Worker) work(ctx context.Context, hints <-chan job.Preparation) error {
	if !w.selfTest(ctx) {
		<-ctx.Done()
		w.stop()
		return nil
	}
	jobs, cutOff := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cutOff(nil)
	var running, warming, preparing sync.WaitGroup
	warm, coolDown := context.WithCancel(jobs)
	group, receiving := errgroup.WithContext(ctx)
	preparing.Go(func() { w.prepares(receiving, hints) })
	for _, s := range w.slots {
		defer context.AfterFunc(s.service, func() {
			w.log.Error("slot out of service", "slot", s.Index, "device", s.Device, "why", context.Cause(s.service))
		})()
		warming.Go(func() { w.keepWarm(warm, s, w.place([]*slot{s}, 0), w.cfg.Warm) })
		warming.Go(func() { w.keepWarm(warm, s, w.place([]*slot{s}, 0).Judges(), w.cfg.Warm) })
		if s.IsGPU() {
			warming.Go(func() { w.keepWarm(warm, s, w.asidePlace(s), min(w.cfg.Warm, 1)) })
		}
		group.Go(func() error {
			return w.serve(receiving, s, func(d *queue.Delivery, done func()) {
				running.Go(func() {
					defer done()
					w.evaluate(jobs, s, d)
				})
			})
		})
	}
	err := group.Wait()
	if err == nil && ctx.Err() == nil && len(w.slots) > 0 {
		err = w.setAside()
	}
	w.stop()
	w.inHand.handBackWaiting()
	timer := time.AfterFunc(w.cfg.Grace, func() { cutOff(errStopping) })
	defer timer.Stop()
	running.Wait()
	for _, s := range w.slots {
		s.spare.close()
		s.aside.close()
	}
	coolDown()
	warming.Wait()
	preparing.Wait()
	return err
}

// keepWarm keeps Pythons ready at a place of the slot while it is in service.
func (w *Worker) keepWarm(ctx context.Context, s *slot, at toolchain.Place, n int) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.service, cancel)()
	if err := w.cfg.Builder.KeepWarm(ctx, at, n); err != nil && ctx.Err() == nil {
		w.log.Error("no Python is kept ready", "slot", s.Index, "err", err)
	}
}

// serve receives the jobs of one slot: one for the unit, and on a GPU another to build ahead. It
// ends when ctx does or when the slot is out of service.
func (w *Worker) serve(ctx context.Context, s *slot, begin func(d *queue.Delivery, done func())) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.service, cancel)()
	for {
		select {
		case s.tickets <- struct{}{}:
		case <-ctx.Done():
			return nil
		}
		d, err := w.cfg.Conn.Prefetch(ctx, s.Device, s.busy)
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("worker %s: slot %d: %w", w.cfg.Name, s.Index, err)
		}
		if slices.Contains(d.Job.Avoid, w.cfg.Name) && d.Deliveries() <= passOn {
			w.pass(ctx, d)
			<-s.tickets
			continue
		}
		begin(d, func() { <-s.tickets })
	}
}

// pass leaves a job to other workers, and them the time to take it.
func (w *Worker) pass(ctx context.Context, d *queue.Delivery) {
	if err := d.ReturnAfter(ctx, passAfter); err != nil {
		w.log.Warn("job not passed on; it comes free by itself", "attempt", d.Job.AttemptID, "err", err)
	}
	select {
	case <-ctx.Done():
	case <-time.After(leaveAlone):
	}
}

// setAside says that the worker takes no jobs any more, and why.
func (w *Worker) setAside() error {
	causes := []string{}
	for _, s := range w.slots {
		causes = append(causes, fmt.Sprintf("slot %d: %v", s.Index, context.Cause(s.service)))
	}
	err := fmt.Errorf("%w: %s", ErrSetAside, strings.Join(causes, "; "))
	w.log.Error("the worker is set aside", "why", err)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.refusing = sentence(err) + " Fix this and start the worker again."
	return err
}

// selfTest tells whether the sandbox holds; a worker whose sandbox does not hold takes no jobs.
func (w *Worker) selfTest(ctx context.Context) bool {
	checks := w.cfg.Sandbox.SelfTest(ctx)
	if ctx.Err() != nil {
		return false // it was cut short, which says nothing
	}
	var failed []string
	for _, c := range checks {
		if !c.OK {
			failed = append(failed, fmt.Sprintf("%s (%s)", c.Name, c.Detail))
		}
	}
	refusing := ""
	if len(failed) > 0 {
		refusing = "The sandbox failed its self-test: " + strings.Join(failed, "; ") + ". Mend this and restart the worker."
		w.log.Error("no jobs are taken", "why", refusing)
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
