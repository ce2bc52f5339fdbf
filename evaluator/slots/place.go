package slots

import (
	"maps"
	"runtime"
	"strings"
	"time"

	"warpboard/evaluator/sandbox"
	"warpboard/evaluator/toolchain"
)

// Sandbox slots (and so user IDs) are numbered in this order: the worker's slots, builds, precompiling, the sidecars of
// each slot, the judge of each slot, the other processes of each slot, and for each GPU the alternate places, whose
// processes are prepared while those of the first place run.

// extraProcesses is the number of processes of an evaluation besides kernel and judge: a second kernel, and the process
// that generates inputs.
const extraProcesses = 2

// maxAlternatePlaces is the highest number of places (sandbox slots for an evaluation's processes) that take turns with
// a GPU's first one. Preparing a process takes 0.4 s on an H200, longer than most evaluations hold the GPU, so with one
// alternate place every second evaluation would wait.
const maxAlternatePlaces = 2

// memoryForAlternates is the GPU memory in bytes from which a GPU has maxAlternatePlaces. Each place has up to three
// CUDA contexts, of about half a gigabyte each.
const memoryForAlternates = 48 << 30

// BuildEnvironment returns the sandbox environment that compiles a job for slot s: without the device, and with a user
// ID that no program on a slot has. AcquireBuild returns number.
func (p *Set) BuildEnvironment(s *Slot, number int) toolchain.Environment {
	return toolchain.Environment{
		SandboxSlot: number, Arch: s.Arch,
		BuildLimits: sandbox.DefaultBuildLimits(), RunLimits: sandbox.DefaultRunLimits(),
	}
}

// PrecompileEnvironment returns the sandbox environment that compiles tasks before the first submission.
func (p *Set) PrecompileEnvironment(s *Slot) toolchain.Environment {
	return p.BuildEnvironment(s, p.precompileSlot())
}

func (p *Set) precompileSlot() int { return len(p.slots) + p.cfg.ConcurrentBuilds }

// Environment returns the sandbox environment of a program that uses only slot s.
func (p *Set) Environment(s *Slot) toolchain.Environment {
	return (&Lease{set: p, slots: []*Slot{s}}).Environment(0)
}

// Environment returns the sandbox environment of a program on these slots, including its judge's. gpus is the number of
// GPUs that the task requests; 0 if it does not.
func (h *Lease) Environment(gpus int) toolchain.Environment {
	at := runEnvironment(h.slots, gpus)
	slots, first := len(h.set.slots), h.OwnSlot().sandboxSlot
	judges := h.set.precompileSlot() + 1 + slots*sidecarsPerSlot
	at.JudgeSandboxSlot = judges + first
	extras := judges + slots
	for i := range extraProcesses {
		at.ExtraSandboxSlots = append(at.ExtraSandboxSlots, extras+first*extraProcesses+i)
	}
	if own := h.OwnSlot(); own.IsGPU() && gpus == 0 {
		places := maxAlternatePlaces
		if own.MemoryBytes < memoryForAlternates {
			places = 1
		}
		alternates := extras + slots*extraProcesses + first*maxAlternatePlaces*(1+extraProcesses)
		for i := range places * (1 + extraProcesses) {
			at.AlternateSandboxSlots = append(at.AlternateSandboxSlots, alternates+i)
		}
	}
	return at
}

// runEnvironment returns the settings of the sandbox in which a program runs on the given slots: limits, variables, and
// devices, which are only those of the slots.
func runEnvironment(held []*Slot, gpus int) toolchain.Environment {
	first := held[0]
	p := toolchain.Environment{
		SandboxSlot: first.sandboxSlot, Arch: first.Arch, GPUCount: gpus,
		Env:         map[string]string{},
		BuildLimits: sandbox.DefaultBuildLimits(), RunLimits: sandbox.DefaultRunLimits(),
	}
	n := len(held) // the program has one process for each slot
	p.RunLimits.Memory, p.RunLimits.ShmBytes = int64(n)*min(p.RunLimits.Memory,
		first.memoryBytes), int64(n)*p.RunLimits.ShmBytes
	p.RunLimits.Processes, p.RunLimits.CPU = n*p.RunLimits.Processes, time.Duration(n)*p.RunLimits.CPU
	seen := map[string]bool{}
	for _, s := range held {
		for _, node := range s.DeviceNodes {
			if !seen[node] {
				seen[node] = true
				p.DeviceNodes = append(p.DeviceNodes, node)
			}
		}
	}
	if gpus > 0 {
		maps.Copy(p.Env, first.GPULinkEnv)
	}
	if lib := first.DriverLibDir; lib != "" {
		p.Env["LD_LIBRARY_PATH"] = lib
		if !strings.HasPrefix(lib, "/usr/") {
			p.Mounts = append(p.Mounts, sandbox.Mount{HostPath: lib, InsidePath: lib})
		}
	}
	return p
}

// ConcurrentBuilds returns the number of jobs that the machine can compile concurrently with half of its processors and
// half of its memory.
func ConcurrentBuilds() int {
	return max(1, min(runtime.NumCPU()/2, int(memoryShare(1)/sandbox.DefaultBuildLimits().Memory)))
}

// memoryShare returns the memory that a program on one of n slots may use, in bytes. The server gets an equal share.
func memoryShare(n int) int64 {
	total := sandbox.MachineMemory()
	if total == 0 {
		return sandbox.DefaultRunLimits().Memory
	}
	return total / int64(n+1)
}
