package slots

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"warpboard/evaluator/device"
	"warpboard/evaluator/job"
	"warpboard/evaluator/sandbox"
)

// maxFaults is how many jobs in a row may end with an infrastructure error before a slot is out of service.
const maxFaults = 3

// ErrOutOfService is the reason to hand back a job that waited for a slot which is no longer used.
var ErrOutOfService = errors.New("the slot is out of service")

// Slot is one unit of a device, and who uses it.
//
// A job in flight has a ticket (Reserve), from its delivery to its end, or on a GPU until it has a place to be built. While something
// runs on the unit, one job holds the unit (Pool.Hold). A slot is in service until it is retired. Try lets checks alone use it then,
// and Admit brings it back.
type Slot struct {
	device.Slot
	// Cached is the program of the last evaluation on the slot, and Sidecar that of the last one that compiled beside it.
	Cached, Sidecar CachedProgram

	number  int           // the sandbox's slot: uid and cgroup
	memory  int64         // of the machine, that a program on the slot may use, in bytes
	tickets chan struct{} // one for each job in flight that needs none of the places to build
	unit    chan struct{} // held while something runs on the unit

	mu      sync.Mutex
	service context.Context // ends when the slot is out of service; a new one begins when it is tried again
	retire  context.CancelCauseFunc
	trial   bool   // only checks may use it
	why     error  // it is out of service, or was before its trial
	checked bool   // someone tries it again when it is out of service
	attempt string // which attempt holds the unit
	built   int    // jobs that are being built
	faults  int    // jobs in a row that ended with an infrastructure error
	gauge   *job.Gauge
}

func newSlot(s device.Slot, number int) *Slot {
	inFlight := 1
	if s.IsGPU() {
		inFlight = 2 // on a GPU the next job is built while one runs; on a CPU that would spoil its times
	}
	service, retire := context.WithCancelCause(context.Background())
	return &Slot{
		Slot: s, number: number,
		tickets: make(chan struct{}, inFlight),
		unit:    make(chan struct{}, 1),
		service: service, retire: retire,
	}
}

// Service ends when the slot is out of service; its cause says why.
func (s *Slot) Service() context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.service
}

// Retire takes the slot out of service.
func (s *Slot) Retire(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.retireLocked(why)
}

// retireLocked keeps the reason for which a slot is hopeless: a test that failed over it says less.
func (s *Slot) retireLocked(why error) {
	if !s.stuck() {
		s.why = why
	}
	s.trial = false
	s.retire(s.why)
}

func (s *Slot) stuck() bool { return errors.Is(s.why, sandbox.ErrStuck) }

// Try lets checks use the slot, and nothing else, until Admit or Retire.
func (s *Slot) Try() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stuck() {
		return
	}
	s.trial, s.checked = true, true
	if s.service.Err() != nil {
		s.service, s.retire = context.WithCancelCause(context.Background())
	}
}

// Admit brings the slot into service after its checks passed.
func (s *Slot) Admit() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stuck() {
		return
	}
	s.trial, s.checked, s.why, s.faults = false, true, nil, 0
}

// Hopeless reports whether the slot is out of service until the worker restarts: a process that cannot be killed may still
// use its device.
func (s *Slot) Hopeless() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stuck()
}

// onTrial reports whether only checks may use the slot.
func (s *Slot) onTrial() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.trial
}

// inService reports whether jobs may use the slot.
func (s *Slot) inService() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.service.Err() == nil && !s.trial
}

// Ticket is the right of one job to be in flight on a slot. One goroutine uses it; a nil one is that of a check, which needs none.
type Ticket struct {
	slot *Slot
	held bool
}

// Reserve waits for a ticket for one more job in flight; nil when ctx ended first. The caller returns it with Return.
func (s *Slot) Reserve(ctx context.Context) *Ticket {
	select {
	case s.tickets <- struct{}{}:
		return &Ticket{s, true}
	case <-ctx.Done():
		return nil
	}
}

// Return gives the ticket back, if the slot does not have it already.
func (t *Ticket) Return() {
	if t != nil && t.held {
		t.held = false
		<-t.slot.tickets
	}
}

// building gives the ticket back: other jobs may come while this one is built, until done is called. What is built counts no
// more; the site knows how many such jobs there are. On a CPU the job keeps its ticket, because nothing is built there while
// times are taken.
func (t *Ticket) building() (done func()) {
	if t == nil || !t.slot.IsGPU() {
		return func() {}
	}
	t.Return()
	t.slot.build(1)
	return func() { t.slot.build(-1) }
}

func (s *Slot) build(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.built += n
}

// busy reports whether another job is in flight beside the one that is asked for, or holds the slot.
func (s *Slot) busy() bool { return len(s.tickets) > 1 || len(s.unit) > 0 }

// hold waits until the unit is free and takes it.
func (s *Slot) hold(ctx context.Context, attemptID string) error {
	select {
	case s.unit <- struct{}{}:
	case <-s.Service().Done():
		return ErrOutOfService
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if s.Service().Err() != nil {
		s.release()
		return ErrOutOfService
	}
	s.heldBy(attemptID)
	return nil
}

// holdIdle takes the unit if no one has it and it is in service.
func (s *Slot) holdIdle(attemptID string) bool {
	select {
	case s.unit <- struct{}{}:
	default:
		return false
	}
	if s.Service().Err() != nil {
		s.release()
		return false
	}
	s.heldBy(attemptID)
	return true
}

func (s *Slot) heldBy(attemptID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.attempt = attemptID
}

func (s *Slot) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.attempt = ""
	<-s.unit
}

// Gauged keeps what was measured of the unit: the best of all times, and the last sentinel.
func (s *Slot) Gauged(g job.Gauge) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gauge != nil {
		g = s.gauge.Best(g)
	}
	s.gauge = &g
}

// IsGauged reports whether the unit's floor and roofs are known.
func (s *Slot) IsGauged() bool { return s.gauged() != nil }

func (s *Slot) gauged() *job.Gauge {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.gauge
}

// Fault counts an infrastructure error; the last of too many in a row takes the slot out of service.
func (s *Slot) Fault(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.faults++; s.faults >= maxFaults && !s.trial {
		public := fmt.Sprintf("%d jobs in a row could not be evaluated", s.faults)
		s.retireLocked(Because(public, fmt.Errorf("%s, the last because %w", public, err)))
	}
}

// Worked ends a row of faults.
func (s *Slot) Worked() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = 0
}

// describe is the slot as a heartbeat has it.
func (s *Slot) describe(m job.Machine) job.Slot {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := job.Slot{
		Index: s.Index, Device: s.Device, Machine: m,
		Memory: s.MemoryBytes, Arch: s.Arch, Attempt: s.attempt,
	}
	if strings.HasPrefix(s.attempt, job.GaugeAttempt) {
		out.Attempt = "" // it gives way to any other job
	}
	out.Disabled, out.Public = s.disabled()
	return out
}

// reason is an error with a sentence about it that everyone may read: no path and no output is in that.
type reason struct {
	public string
	error
}

func (r reason) Unwrap() error { return r.error }

// Because says in a few words why a slot is retired for an error, for those who are not to read the error itself.
func Because(public string, err error) error {
	if err == nil {
		return nil
	}
	return reason{public, err}
}

// public is why the slot is out of service, for everyone.
func (s *Slot) public() string {
	if s.stuck() {
		return "a process on it cannot be ended"
	}
	if r, ok := errors.AsType[reason](s.why); ok {
		return r.public
	}
	return "it failed"
}

// disabled says why no job may use the slot, and what happens next: for admins, and for everyone.
func (s *Slot) disabled() (why, public string) {
	switch {
	case s.service.Err() == nil && !s.trial:
		return "", ""
	case s.why == nil:
		testing := "Its self-test is running. It takes jobs when the test has passed."
		return testing, testing
	}
	next := "Fix this and restart the worker."
	if s.checked && !errors.Is(s.why, sandbox.ErrStuck) {
		next = "It is tested again automatically, and takes jobs when that passes."
	}
	return fmt.Sprintf("Out of service: %s. %s", strings.TrimSuffix(s.why.Error(), "."), next), fmt.Sprintf("Out of service: %s. %s", s.public(), next)
}
