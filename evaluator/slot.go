package evaluator

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"warpboard/evaluator/device"
	"warpboard/evaluator/job"
)

// maxFaults is how many jobs in a row may fail by our fault before a slot is out of service.
const maxFaults = 3

// errOutOfService is why a job is handed back that waited for a slot which is no longer used.
var errOutOfService = errors.New("the slot is out of service")

// slot is one unit of a device, and who uses it.
type slot struct {
	device.Slot
	number  int             // the sandbox's slot: uid and cgroup
	memory  int64           // of the machine, that a program on the slot may use, in bytes
	tickets chan struct{}   // one for each job in hand
	unit    chan struct{}   // held while something runs on the unit
	service context.Context // ends when the slot is out of service
	retire  context.CancelCauseFunc
	spare   spare // of the slot's own Pythons
	aside   spare // of those that compile beside it

	mu      sync.Mutex
	attempt string // which attempt holds the unit
	faults  int    // jobs in a row that failed by our fault
}

func newSlot(s device.Slot, number int) *slot {
	inHand := 1
	if s.IsGPU() {
		inHand = 2 // on a GPU the next job is built while one runs; on a CPU that would spoil its times
	}
	service, retire := context.WithCancelCause(context.Background())
	return &slot{
		Slot: s, number: number,
		tickets: make(chan struct{}, inHand),
		unit:    make(chan struct{}, 1),
		service: service, retire: retire,
	}
}

// busy tells whether another job is in hand beside the one that is asked for, or holds the unit.
func (s *slot) busy() bool { return len(s.tickets) > 1 || len(s.unit) > 0 }

// hold waits until the unit is free and takes it.
func (s *slot) hold(ctx context.Context, attemptID string) error {
	select {
	case s.unit <- struct{}{}:
	case <-s.service.Done():
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if s.service.Err() != nil {
		return errOutOfService
	}
	s.heldBy(attemptID)
	return nil
}

// holdIdle takes the unit if nobody has it and it is in service.
func (s *slot) holdIdle(attemptID string) bool {
	select {
	case s.unit <- struct{}{}:
	default:
		return false
	}
	if s.service.Err() != nil {
		s.release()
		return false
	}
	s.heldBy(attemptID)
	return true
}

func (s *slot) heldBy(attemptID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.attempt = attemptID
}

func (s *slot) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.attempt = ""
	<-s.unit
}

// fault counts a failure that is ours; the last of too many in a row takes the slot out of service.
func (s *slot) fault(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.faults++; s.faults >= maxFaults {
		s.retire(fmt.Errorf("%d jobs in a row could not be evaluated, the last because %w", s.faults, err))
	}
}

// worked ends a row of faults.
func (s *slot) worked() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = 0
}

func (s *slot) describe(m job.Machine) job.Slot {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := job.Slot{
		Index: s.Index, Device: s.Device, Machine: m,
		Memory: s.MemoryBytes, Arch: s.Arch, Attempt: s.attempt,
	}
	if s.service.Err() != nil {
		out.Disabled = fmt.Sprintf("Out of service: %v. Mend this and restart the worker.", context.Cause(s.service))
	}
	return out
}
