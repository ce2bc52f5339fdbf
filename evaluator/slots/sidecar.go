package slots

import (
	"context"
	"slices"
	"time"

	"warpboard/evaluator/toolchain"
)

// sidecarsPerSlot is the number of evaluations whose kernels are compiled at the same time for one GPU. On an H200's
// machine a Triton kernel takes 0.6 s to compile, and an evaluation holds the GPU for 0.4 s.
const sidecarsPerSlot = 3

// maxSidecarWait is the time after which a job no longer waits for sidecars: kernels that compile for minutes must not
// leave the GPU idle.
const maxSidecarWait = 5 * time.Second

// Sidecar compiles the kernels of evaluations for a GPU while other jobs use it. It keeps the program that compiled
// last.
type Sidecar struct {
	CachedProgram
	isBusy     bool      // protected by the slot's mu, like releasedAt
	releasedAt time.Time // zero if no job had it
	// Environment has no device, a separate user ID, the memory of a build, and the driver's libraries, which Triton
	// links with.
	Environment toolchain.Environment
}

func (p *Set) newSidecars(s *Slot) (out []*Sidecar) {
	if !s.IsGPU() {
		return nil
	}
	for i := range sidecarsPerSlot {
		at := p.Environment(s)
		at.SandboxSlot = p.precompileSlot() + 1 + s.sandboxSlot*sidecarsPerSlot + i
		at.DeviceNodes, at.ExtraSandboxSlots, at.AlternateSandboxSlots = nil, nil, nil
		at.RunLimits.IsBackground = true
		at.RunLimits.Memory = min(at.RunLimits.Memory, at.BuildLimits.Memory)
		// Otherwise PyTorch asks the driver for devices at its import, and NVRTC 13, which also initializes the driver,
		// crashes in processes that are forked later.
		at.Env["CUDA_VISIBLE_DEVICES"] = ""
		out = append(out, &Sidecar{Environment: at})
	}
	return out
}

// A job takes a slot that has been idle for maxIdleTime rather than wait for a sidecar. Shorter pauses between
// evaluations are common, and other evaluations cannot use the slot while it compiles.
const idleCheckInterval, maxIdleTime = 50 * time.Millisecond, 200 * time.Millisecond

// AcquireSidecar waits for a sidecar of the slot that the caller may have, and returns the job's permit to the slot as
// AcquireBuild does. It returns nil as sidecar if the job should compile on a slot instead: on the CPU; if a slot of
// the device is idle and no job is being built for the device; if a slot becomes idle for maxIdleTime; or after
// maxSidecarWait.
func (p *Set) AcquireSidecar(
	ctx context.Context, s *Slot, t *InFlightPermit, caller string,
) (sidecar *Sidecar, release func(), err error) {
	if !s.IsGPU() || !p.IsDeviceBusy(s.Device) && p.buildCount(s.Device) == 0 {
		return nil, func() {}, nil
	}
	timeout := time.After(maxSidecarWait)
	check := time.NewTicker(idleCheckInterval)
	defer check.Stop()
	var idleTime time.Duration
	for {
		if sidecar := s.takeSidecar(caller); sidecar != nil {
			done := t.returnDuringBuild()
			return sidecar, func() { done(); s.releaseSidecar(sidecar) }, nil
		}
		select {
		case <-s.sidecarReleased:
		case <-check.C:
			if idleTime += idleCheckInterval; p.IsDeviceBusy(s.Device) {
				idleTime = 0
			} else if idleTime >= maxIdleTime {
				return nil, func() {}, nil
			}
		case <-timeout:
			return nil, func() {}, nil
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		}
	}
}

// takeSidecar returns a free sidecar: one that keeps a program of the caller, or otherwise the one that has been free
// longest.
func (s *Slot) takeSidecar(caller string) *Sidecar {
	own := map[*Sidecar]bool{}
	for _, c := range s.Sidecars { // before mu is locked, because a program that is being closed makes this wait
		own[c] = c.keepsProgramOf(caller)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	free := slices.DeleteFunc(slices.Clone(s.Sidecars), func(c *Sidecar) bool { return c.isBusy })
	if len(free) == 0 {
		return nil
	}
	taken := slices.MinFunc(free, func(a, b *Sidecar) int { return a.releasedAt.Compare(b.releasedAt) })
	if i := slices.IndexFunc(free, func(c *Sidecar) bool { return own[c] }); i >= 0 {
		taken = free[i]
	}
	taken.isBusy = true
	return taken
}

func (s *Slot) releaseSidecar(c *Sidecar) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.isBusy, c.releasedAt = false, time.Now()
	signal(s.sidecarReleased) // wakes one job; others check again at the next tick
}
