package slots

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"warpboard/evaluator/device"
	"warpboard/evaluator/harness"
	"warpboard/evaluator/job"
	"warpboard/evaluator/sandbox"
	"warpboard/evaluator/toolchain"
	"warpboard/tasks"
)

// probeTimeout limits the check of one device.
const probeTimeout = 30 * time.Second

// Config configures a Set.
type Config struct {
	WorkerName       string // the worker's name, for job.Machine
	SandboxName      string // the sandbox's name, for job.Machine
	Toolchain        toolchain.Toolchain
	Slots            []device.Slot
	ConcurrentBuilds int // number of jobs compiled at the same time
	// ProbeDevice checks a device with a small program; nil means no check.
	ProbeDevice func(context.Context, device.Slot) error
}

// Set has the slots of one machine, and assigns the numbers of its sandbox slots.
type Set struct {
	cfg            Config
	slots          []*Slot
	freeBuildSlots chan int // free sandbox slots for building
}

// NewSet returns a set with every slot in service and idle.
func NewSet(cfg Config) *Set {
	p := &Set{cfg: cfg, freeBuildSlots: make(chan int, cfg.ConcurrentBuilds)}
	for i, s := range cfg.Slots {
		slot := newSlot(s, i)
		slot.memoryBytes = memoryShare(len(cfg.Slots))
		p.slots = append(p.slots, slot)
	}
	for i := range cfg.ConcurrentBuilds {
		p.freeBuildSlots <- len(cfg.Slots) + i // no build shares its uid with a program on a slot
	}
	for _, s := range p.slots {
		s.Sidecars = p.newSidecars(s)
	}
	return p
}

// AllSlots returns all slots, in service or not.
func (p *Set) AllSlots() []*Slot { return p.slots }

// FirstGPUs returns the first slot of each GPU model.
func (p *Set) FirstGPUs() (first []*Slot) {
	for _, s := range p.slots {
		if s.IsGPU() && !slices.ContainsFunc(first, func(other *Slot) bool { return other.Device == s.Device }) {
			first = append(first, s)
		}
	}
	return first
}

// SlotsInService returns the slots of a device that are in service.
func (p *Set) SlotsInService(device string) []*Slot {
	var out []*Slot
	for _, s := range p.slots {
		if s.Device == device && s.inService() {
			out = append(out, s)
		}
	}
	return out
}

// selfTestPatience limits the wait for slots whose self-tests run.
const selfTestPatience = 2 * time.Minute

// WaitInService waits until n slots of a device are in service, and returns the number of those that are. If the worker
// has fewer slots, or the others do not pass their self-tests soon, it returns less than n. It does not wait for one
// slot: the caller has one, which may be out of service because the caller tests it.
func (p *Set) WaitInService(ctx context.Context, device string, n int) (have int) {
	ctx, cancel := context.WithTimeout(ctx, selfTestPatience)
	defer cancel()
	all := 0
	for _, s := range p.slots {
		if s.Device == device {
			all++
		}
	}
	poll := time.NewTicker(time.Second)
	defer poll.Stop()
	for {
		if have = len(p.SlotsInService(device)); have >= n || all < n || n == 1 {
			return have
		}
		select {
		case <-poll.C:
		case <-ctx.Done():
			return have
		}
	}
}

// IsDeviceBusy reports whether all slots of a device that are in service are in use.
func (p *Set) IsDeviceBusy(device string) bool {
	return !slices.ContainsFunc(p.SlotsInService(device), func(s *Slot) bool { return !s.isHeld() })
}

// JobRequest returns a request for a job with the current load: whether another job occupies the slot, the number of
// its jobs, the number of the device's jobs that are being built, and the last job's caller.
func (p *Set) JobRequest(own *Slot) job.WorkRequest {
	ask := job.WorkRequest{IsSlotBusy: own.isBusy(), BuildingCount: p.buildCount(own.Device)}
	own.mu.Lock()
	defer own.mu.Unlock()
	if ask.SlotJobCount = len(own.waiters); own.isOccupied {
		ask.SlotJobCount++
	}
	if ask.Caller = own.lastCaller; !own.callerSince.IsZero() {
		ask.CallerTime = time.Since(own.callerSince)
	}
	return ask
}

func (p *Set) buildCount(device string) (count int) {
	for _, s := range p.slots {
		if s.Device == device {
			s.mu.Lock()
			count += s.buildCount
			s.mu.Unlock()
		}
	}
	return count
}

// Lease has the slots that one job uses. The first is the job's own slot.
type Lease struct {
	set   *Set
	slots []*Slot
}

// Acquire waits for the job's own slot, or for another idle slot of the device if that is busy. A job that needs n
// slots gets the first n of its device, always in the same order, so that jobs cannot deadlock. A slot under test is
// only for checks. A check or a benchmark (job.SlotBenchmarkIDPrefix) gets exactly its own slot, because its result is
// about that slot. See fairWaitTime for the order; a run is its own caller.
func (p *Set) Acquire(ctx context.Context, own *Slot, n int, attemptID, caller string) (*Lease, error) {
	want, check := []*Slot{own}, strings.HasPrefix(attemptID, job.SlotBenchmarkIDPrefix)
	if own.isForChecksOnly() && !check {
		want = nil
	}
	if n > 1 {
		want = p.SlotsInService(own.Device)
		want = want[:min(n, len(want))]
	}
	if len(want) == 0 {
		return nil, ErrOutOfService
	}
	held := &Lease{set: p}
	if n <= 1 && !check {
		s, err := p.waitForOne(ctx, own, attemptID, caller)
		if err != nil {
			return nil, err
		}
		held.slots = []*Slot{s}
		return held, nil
	}
	began := time.Now()
	for _, s := range want {
		if err := s.waitAndHold(ctx, attemptID, caller, began); err != nil {
			held.Release()
			return nil, err
		}
		held.slots = append(held.slots, s)
	}
	return held, nil
}

// idleSlotPoll is the interval in which a waiting job looks for another slot that is idle. For maxLeaveTime it leaves
// idle slots to other callers whose jobs are being built for them.
const idleSlotPoll, maxLeaveTime = 250 * time.Millisecond, 2 * time.Second

// waitForOne waits until own is free, or another slot of its device is free and has no job in flight, and occupies it.
// It leaves slots with jobs to those, because the site sends a slot evaluations of one caller in a row. It returns
// ErrOutOfService if own goes out of service.
func (p *Set) waitForOne(ctx context.Context, own *Slot, attemptID, caller string) (*Slot, error) {
	if own.tryHold(attemptID, caller) {
		return own, nil
	}
	began := time.Now()
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- own.waitAndHold(waiting, attemptID, caller, began) }()
	poll := time.NewTicker(idleSlotPoll)
	defer poll.Stop()
	for {
		if other := p.holdIdle(own, attemptID, caller, time.Since(began) >= maxLeaveTime); other != nil {
			if stop(); <-ended == nil {
				own.releaseHold()
			}
			return other, nil
		}
		select {
		case err := <-ended:
			return own, err
		case <-poll.C:
		}
	}
}

// holdIdle occupies a free slot of own's device other than own, or returns nil. It leaves slots to jobs that have a
// permit, and those whose jobs are being built to their last callers, unless evenBuilt is true: builds may take long.
func (p *Set) holdIdle(own *Slot, attemptID, caller string, evenBuilt bool) *Slot {
	for _, s := range p.SlotsInService(own.Device) {
		// one permit is for the job that would arrive next
		if s == own || len(s.permits) > 1 || !evenBuilt && s.isLeftToOthers(caller) {
			continue
		}
		if s.tryHold(attemptID, caller) {
			return s
		}
	}
	return nil
}

// CloseCachedPrograms closes the programs that evaluations left on these GPUs, because their judges keep a CUDA context
// there. The error is CheckAfterClose's.
func (h *Lease) CloseCachedPrograms(ctx context.Context) error {
	for _, s := range h.slots {
		if s.IsGPU() {
			s.CachedProgram.Close()
		}
	}
	return h.CheckAfterClose(ctx)
}

// CheckAfterClose checks the held slots if a program on them did not end by itself when it was closed. It returns
// ErrOutOfService if one cannot be used any more.
func (h *Lease) CheckAfterClose(ctx context.Context) error {
	for _, s := range h.slots {
		switch err := s.CachedProgram.takeFailure(); {
		case errors.Is(err, sandbox.ErrProcessStuck):
			s.Retire(err)
			return ErrOutOfService
		case err != nil && !h.ProbeAfterFailure(ctx):
			return ErrOutOfService
		}
	}
	return nil
}

// OwnSlot returns the job's own slot.
func (h *Lease) OwnSlot() *Slot { return h.slots[0] }

// OwnSlotLease returns a Lease with only the job's own slot, for a program that needs no other. Do not call its
// Release.
func (h *Lease) OwnSlotLease() *Lease { return &Lease{set: h.set, slots: h.slots[:1]} }

// SlotCount returns the number of slots.
func (h *Lease) SlotCount() int { return len(h.slots) }

// Release makes the slots available to other jobs.
func (h *Lease) Release() {
	for _, s := range slices.Backward(h.slots) {
		s.releaseHold()
	}
}

// ProbeAfterFailure probes the slots after a failure, before another program runs there, because a fault can outlive
// the program that caused it. It retires the slots that fail, and reports whether all passed.
func (h *Lease) ProbeAfterFailure(ctx context.Context) (working bool) {
	if h.set.cfg.ProbeDevice == nil {
		return true
	}
	working = true
	for _, s := range h.slots {
		probing, cancel := context.WithTimeout(context.WithoutCancel(ctx), probeTimeout)
		err := h.set.cfg.ProbeDevice(probing, s.Slot)
		cancel()
		if err != nil {
			public := "its GPU failed the check after a failed run"
			s.Retire(WithPublicReason(public, fmt.Errorf("%s: %w", public, err)))
			working = false
		}
	}
	return working
}

// waitingBuildsPerSlot limits the jobs, per build slot, that return their permit before they wait for a build slot.
// Further jobs keep their permit, so that the site sends the worker no more jobs.
const waitingBuildsPerSlot = 2

// AcquireBuild waits for a free build slot and returns its number. On a GPU it also returns the job's permit to the
// slot, so that another job can arrive: before it waits if few jobs wait, otherwise afterwards. The early return lets
// jobs that build nothing pass those that do.
func (p *Set) AcquireBuild(ctx context.Context, t *InFlightPermit) (number int, release func(), err error) {
	done := func() {}
	if t != nil && p.buildCount(t.slot.Device) < (1+waitingBuildsPerSlot)*p.cfg.ConcurrentBuilds {
		done = t.returnDuringBuild()
	}
	select {
	case number = <-p.freeBuildSlots:
		if t != nil && t.isHeld {
			done = t.returnDuringBuild()
		}
		return number, func() { done(); p.freeBuildSlots <- number }, nil
	case <-ctx.Done():
		done()
		return 0, nil, context.Cause(ctx)
	}
}

// Heartbeat returns the state of the slots for a heartbeat. profiles and sanitizes mean that Nsight Compute and
// compute-sanitizer work on their GPUs.
func (p *Set) Heartbeat(profiles, sanitizes bool) []job.Slot {
	var out []job.Slot
	for _, s := range p.slots {
		described := s.describe(p.DescribeAll(s))
		described.CanProfile, described.CanSanitize = profiles && s.IsGPU(), sanitizes && s.IsGPU()
		out = append(out, described)
	}
	return out
}

// DescribeAll returns the machine record for a slot: its device, and the software for all its languages.
func (p *Set) DescribeAll(s *Slot) job.Machine { return p.Describe(s, languagesOf(s.Slot)...) }

// Describe returns the machine record for a slot: its device, and the software for some languages.
func (p *Set) Describe(s *Slot, langs ...tasks.Lang) job.Machine {
	m := job.Machine{
		Worker:        p.cfg.WorkerName,
		Device:        s.Device,
		DeviceName:    s.Name,
		UUIDHash:      s.UUIDHash,
		Driver:        s.Driver,
		CUDA:          s.CUDA,
		HarnessDigest: harness.Digest(),
		KernelRelease: kernelRelease(),
		SandboxName:   p.cfg.SandboxName,
		SlotBenchmark: s.currentBenchmark(),
	}
	for _, lang := range langs {
		p.cfg.Toolchain.RecordSoftware(lang, &m)
	}
	return m
}

// languagesOf returns the languages of a slot's tasks. The last one determines the compiler in job.Machine.
func languagesOf(s device.Slot) []tasks.Lang {
	if s.IsGPU() {
		return []tasks.Lang{tasks.LangPython, tasks.LangCUDA}
	}
	return []tasks.Lang{tasks.LangPython, tasks.LangCPP}
}

// kernelRelease returns the output of `uname -r`.
func kernelRelease() string {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Release[:])
}
