package slots

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"warpboard/evaluator/device"
	"warpboard/evaluator/job"
	"warpboard/evaluator/sandbox"
)

// maxConsecutiveFaults is the number of consecutive jobs with infrastructure errors after which a slot goes out of
// service.
const maxConsecutiveFaults = 3

// ErrOutOfService is the cause if a job is returned to the site because its slot went out of service.
var ErrOutOfService = errors.New("the slot is out of service")

// Slot is one slot of a device and its state.
//
// A job in flight has an InFlightPermit from its arrival to its end; on a GPU only until it gets a build slot. While it
// runs, it occupies the slot (Set.Acquire). A slot is in service until it is retired. Then StartChecks lets checks use
// it, and ReturnToService returns it to service.
type Slot struct {
	device.Slot
	CachedProgram CachedProgram // program of the last evaluation on the slot
	Sidecars      []*Sidecar    // of a GPU; use AcquireSidecar for one that is free

	sandboxSlot     int           // sandbox slot, which determines user ID and cgroup
	memoryBytes     int64         // memory in bytes that a program on the slot may use
	permits         chan struct{} // one for each job in flight without a build slot
	sidecarReleased chan struct{} // receives a value when a sidecar becomes free
	jobEnded        chan struct{} // receives a value when a job that arrived for the slot has ended

	mu             sync.Mutex
	serviceContext context.Context // ends when the slot is retired; StartChecks starts a new one
	endService     context.CancelCauseFunc
	checksOnly     bool          // only checks may use the slot
	retireReason   error         // reason for being out of service, now or before the current checks
	isRetestable   bool          // the slot is tested again when it is out of service
	isOccupied     bool          // something runs on the slot
	holderID       string        // ID of the attempt that holds the slot
	holderCaller   string        // caller of the attempt that holds the slot, or that held it last; see Set.Acquire
	waiters        []*waiter     // attempts that wait for the slot, in the order of arrival
	buildCount     int           // number of jobs being built
	lastCaller     string        // caller of the last job that arrived
	callerSince    time.Time     // end of the first of lastCaller's jobs in a row; zero before
	faultyJobs     []job.WorkRef // consecutive jobs with infrastructure errors, each once
	benchmark      *job.SlotBenchmark
}

func newSlot(s device.Slot, number int) *Slot {
	inFlight := 1
	if s.IsGPU() {
		inFlight = 2 // on a GPU the next job is built while one runs; on a CPU that would disturb its times
	}
	service, retire := context.WithCancelCause(context.Background())
	return &Slot{
		Slot: s, sandboxSlot: number,
		permits:         make(chan struct{}, inFlight),
		sidecarReleased: make(chan struct{}, 1),
		jobEnded:        make(chan struct{}, 1),
		serviceContext:  service, endService: retire,
	}
}

// ServiceContext returns a context that ends when the slot goes out of service; its cause is the reason.
func (s *Slot) ServiceContext() context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.serviceContext
}

// Retire takes the slot out of service with a reason.
func (s *Slot) Retire(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.retireLocked(why)
}

// retireLocked retires the slot. If a process on it is stuck, this remains the reason, because it explains a later
// failed test. Other processes that are stuck are added.
func (s *Slot) retireLocked(why error) {
	known := stuckProcesses(s.retireReason)
	isKnown := func(p *sandbox.StuckProcessError) bool { return slices.Contains(known, p) }
	switch {
	case !s.hasStuckProcess():
		s.retireReason = why
	case len(slices.DeleteFunc(stuckProcesses(why), isKnown)) > 0:
		s.retireReason = errors.Join(s.retireReason, why)
	}
	s.checksOnly = false
	s.endService(s.retireReason)
}

// hasStuckProcess reports whether the slot was retired because of a process that hangs, and that has not ended since.
func (s *Slot) hasStuckProcess() bool {
	stuck := stuckProcesses(s.retireReason)
	hangs := func(p *sandbox.StuckProcessError) bool {
		select {
		case <-p.Ended:
			return false
		default:
			return true
		}
	}
	return errors.Is(s.retireReason, sandbox.ErrProcessStuck) && (len(stuck) == 0 || slices.ContainsFunc(stuck, hangs))
}

// stuckProcesses returns all processes of an error that could not be killed, each with its end.
func stuckProcesses(err error) (all []*sandbox.StuckProcessError) {
	switch err := err.(type) {
	case *sandbox.StuckProcessError:
		all = append(all, err)
	case interface{ Unwrap() error }:
		all = stuckProcesses(err.Unwrap())
	case interface{ Unwrap() []error }:
		for _, joined := range err.Unwrap() {
			all = append(all, stuckProcesses(joined)...)
		}
	}
	return all
}

// StartChecks lets only checks use the slot, until ReturnToService or Retire.
func (s *Slot) StartChecks() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hasStuckProcess() {
		return
	}
	s.checksOnly, s.isRetestable = true, true
	if s.serviceContext.Err() != nil {
		s.serviceContext, s.endService = context.WithCancelCause(context.Background())
	}
}

// ReturnToService returns the slot to service after its checks passed.
func (s *Slot) ReturnToService() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hasStuckProcess() {
		return
	}
	s.checksOnly, s.isRetestable, s.retireReason, s.faultyJobs = false, true, nil, nil
}

// WaitForStuckProcess waits until no process that cannot be killed may still use the slot's device. It returns false if
// ctx ended first.
func (s *Slot) WaitForStuckProcess(ctx context.Context) bool {
	s.mu.Lock()
	isStuck, stuck := s.hasStuckProcess(), stuckProcesses(s.retireReason)
	s.mu.Unlock()
	if isStuck && len(stuck) == 0 { // nothing shows its end
		<-ctx.Done()
	}
	for _, p := range stuck {
		select {
		case <-p.Ended:
		case <-ctx.Done():
		}
	}
	return ctx.Err() == nil
}

// isForChecksOnly reports whether only checks may use the slot.
func (s *Slot) isForChecksOnly() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.checksOnly
}

// inService reports whether jobs may use the slot.
func (s *Slot) inService() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.serviceContext.Err() == nil && !s.checksOnly
}

// InFlightPermit allows one job to be in flight on a slot: received, and not ended. It does not hold the slot itself.
// It is not safe for concurrent use. Checks have a nil permit.
type InFlightPermit struct {
	slot   *Slot
	isHeld bool
}

// AcquirePermit waits until another job may be in flight on the slot. It returns nil if ctx ended first. The caller
// must call Return.
func (s *Slot) AcquirePermit(ctx context.Context) *InFlightPermit {
	select {
	case s.permits <- struct{}{}:
		return &InFlightPermit{s, true}
	case <-ctx.Done():
		return nil
	}
}

// Return returns the permit. Later calls do nothing.
func (t *InFlightPermit) Return() {
	if t != nil && t.isHeld {
		t.isHeld = false
		<-t.slot.permits
	}
}

// returnDuringBuild returns the permit until done is called, so that other jobs can arrive while this one is built. The
// site limits their number. On a CPU the job keeps its permit, because nothing is built there while a run is timed.
func (t *InFlightPermit) returnDuringBuild() (done func()) {
	if t == nil || !t.slot.IsGPU() {
		return func() {}
	}
	t.Return()
	t.slot.addBuilds(1)
	return func() { t.slot.addBuilds(-1) }
}

func (s *Slot) addBuilds(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.buildCount += n
}

// RecordArrival records the caller of a job that has arrived for the slot.
func (s *Slot) RecordArrival(caller string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if caller != s.lastCaller {
		s.lastCaller, s.callerSince = caller, time.Time{}
	}
}

// RecordEnd records that a job that arrived for the slot has ended.
func (s *Slot) RecordEnd(caller string) {
	defer signal(s.jobEnded)
	s.mu.Lock()
	defer s.mu.Unlock()
	if caller == s.lastCaller && s.callerSince.IsZero() {
		s.callerSince = time.Now()
	}
}

// JobEnded returns a channel that receives a value after RecordEnd. Several calls may send one value.
func (s *Slot) JobEnded() <-chan struct{} { return s.jobEnded }

// signal sends a value to a channel with room for one, unless it has one.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// isBusy reports whether a job other than the caller's occupies the slot or is in flight.
func (s *Slot) isBusy() bool { return len(s.permits) > 1 || s.isHeld() }

func (s *Slot) isHeld() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.isOccupied
}

// fairWaitTime is the time after which the attempts of a caller that waits without having the slot come first. Before,
// those of the slot's last caller do, because each change of callers takes time.
const fairWaitTime = 10 * time.Second

// waiter is an attempt that waits for a slot.
type waiter struct {
	attemptID, caller string
	since             time.Time     // start of the wait or, if later, time at which its caller last had the slot
	granted           chan struct{} // closed when the attempt gets the slot
}

// waitAndHold waits until the slot is free, and occupies it for an attempt of a caller that has waited since began.
func (s *Slot) waitAndHold(ctx context.Context, attemptID, caller string, began time.Time) error {
	w := &waiter{attemptID: attemptID, caller: caller, since: began, granted: make(chan struct{})}
	s.mu.Lock()
	s.waiters = append(s.waiters, w)
	s.grant()
	s.mu.Unlock()
	select {
	case <-w.granted:
	case <-s.ServiceContext().Done():
		s.stopWaiting(w)
		return ErrOutOfService
	case <-ctx.Done():
		s.stopWaiting(w)
		return context.Cause(ctx)
	}
	if s.ServiceContext().Err() != nil {
		s.releaseHold()
		return ErrOutOfService
	}
	return nil
}

// grant gives the slot to the next waiter if it is free. The caller must hold s.mu.
func (s *Slot) grant() {
	if s.isOccupied || len(s.waiters) == 0 {
		return
	}
	next := slices.MinFunc(s.waiters, func(a, b *waiter) int { return a.since.Compare(b.since) })
	if time.Since(next.since) < fairWaitTime {
		isLastCallers := func(w *waiter) bool { return w.caller == s.holderCaller }
		next = s.waiters[max(0, slices.IndexFunc(s.waiters, isLastCallers))]
	}
	s.waiters = slices.DeleteFunc(s.waiters, func(w *waiter) bool { return w == next })
	s.occupy(next.attemptID, next.caller)
	close(next.granted)
}

// stopWaiting removes a waiter, or releases the slot if the waiter has got it.
func (s *Slot) stopWaiting(w *waiter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.waiters, w); i >= 0 {
		s.waiters = slices.Delete(s.waiters, i, i+1)
		return
	}
	s.release()
}

// tryHold occupies the slot if it is free and in service, and reports whether it did.
func (s *Slot) tryHold(attemptID, caller string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isOccupied || s.serviceContext.Err() != nil {
		return false
	}
	s.occupy(attemptID, caller)
	return true
}

// occupy gives the slot to an attempt. The caller must hold s.mu.
func (s *Slot) occupy(attemptID, caller string) {
	s.isOccupied, s.holderID, s.holderCaller = true, attemptID, caller
}

func (s *Slot) releaseHold() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.release()
}

// release frees the slot for the next waiter. The caller must hold s.mu.
func (s *Slot) release() {
	s.isOccupied, s.holderID = false, ""
	for _, w := range s.waiters {
		if w.caller == s.holderCaller {
			w.since = time.Now()
		}
	}
	s.grant()
}

// isLeftToOthers reports whether jobs for the slot are being built, and the last one that arrived is another caller's.
func (s *Slot) isLeftToOthers(caller string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buildCount > 0 && s.lastCaller != caller
}

// SetBenchmark stores a benchmark of the slot's device: the best limits so far, and the latest times, by which the site
// detects drift.
func (s *Slot) SetBenchmark(g job.SlotBenchmark) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.benchmark != nil {
		g = s.benchmark.Merge(g)
	}
	s.benchmark = &g
}

// HasBenchmark reports whether a benchmark of the device was stored.
func (s *Slot) HasBenchmark() bool { return s.currentBenchmark() != nil }

func (s *Slot) currentBenchmark() *job.SlotBenchmark {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.benchmark
}

// CountFault counts a job's infrastructure error. After maxConsecutiveFaults in a row the slot goes out of service. The
// attempts at one run or evaluation count once, because its own code may cause the errors of all of them. A job of the
// worker itself has no reference, and counts each time.
func (s *Slot) CountFault(of job.WorkRef, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if of != (job.WorkRef{}) && slices.Contains(s.faultyJobs, of) {
		return
	}
	if s.faultyJobs = append(s.faultyJobs, of); len(s.faultyJobs) >= maxConsecutiveFaults && !s.checksOnly {
		public := fmt.Sprintf("%d jobs in a row could not be evaluated", len(s.faultyJobs))
		s.retireLocked(WithPublicReason(public, fmt.Errorf("%s, the last because %w", public, err)))
	}
}

// ResetFaults resets the count of consecutive faults.
func (s *Slot) ResetFaults() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faultyJobs = nil
}

// describe returns the slot's description for a heartbeat.
func (s *Slot) describe(m job.Machine) job.Slot {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := job.Slot{
		Index: s.Index, Device: s.Device, Machine: m,
		MemoryBytes: s.MemoryBytes, Arch: s.Arch, AttemptID: s.holderID,
	}
	if strings.HasPrefix(s.holderID, job.SlotBenchmarkIDPrefix) {
		out.AttemptID = "" // hide a benchmark, because any job can interrupt it
	}
	out.DisabledReason, out.PublicReason = s.disabledReasons()
	return out
}

// publicReasonError is an error with a sentence for everyone, which contains neither paths nor program output.
type publicReasonError struct {
	publicText string
	error
}

func (r publicReasonError) Unwrap() error { return r.error }

// WithPublicReason adds to an error a public reason for retiring a slot. It returns nil if err is nil.
func WithPublicReason(public string, err error) error {
	if err == nil {
		return nil
	}
	return publicReasonError{public, err}
}

// publicReason returns the public reason why the slot is out of service.
func (s *Slot) publicReason() string {
	if s.hasStuckProcess() {
		return "a process on it cannot be ended"
	}
	if r, ok := errors.AsType[publicReasonError](s.retireReason); ok {
		return r.publicText
	}
	return "it failed"
}

// disabledReasons returns why no job may use the slot, and what happens next, for admins (why) and for everyone
// (public). Both are empty if the slot is in service.
func (s *Slot) disabledReasons() (why, public string) {
	switch {
	case s.serviceContext.Err() == nil && !s.checksOnly:
		return "", ""
	case s.retireReason == nil:
		testing := "Its self-test is running. It takes jobs when the test has passed."
		return testing, testing
	}
	next := "Fix this and restart the worker."
	switch {
	case s.hasStuckProcess():
		next = "It is tested again when the process has ended. If that does not happen, restart the machine."
	case s.isRetestable:
		next = "It is tested again automatically, and takes jobs when that passes."
	}
	return fmt.Sprintf("Out of service: %s. %s", strings.TrimSuffix(s.retireReason.Error(), "."), next), fmt.Sprintf("Out of service: %s. %s", s.publicReason(), next)
}
