package evaluator

import (
	"maps"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"warpboard/evaluator/sandbox"
	"warpboard/evaluator/toolchain"
)

// buildPlace is where a job for slot s is compiled: under a uid that no program on a slot has, and
// without the device.
func buildPlace(s *slot, number int) toolchain.Place {
	return toolchain.Place{
		Slot: number, Arch: s.Arch,
		Build: sandbox.DefaultBuildLimits(), Run: sandbox.DefaultRunLimits(),
	}
}

// preparing is the sandbox's slot, and so the uid, of what is prepared: after those of the worker's slots and of the
// builds, and before those of the places aside.
func (w *Worker) preparing() int { return len(w.slots) + w.cfg.Builds }

// judging is the sandbox's slot of the judge beside a program on slot s: after those of the places aside.
func (w *Worker) judging(s *slot) int { return w.preparing() + 1 + len(w.slots) + s.number }

// place is where a program runs that holds these slots, with the judge beside it.
func (w *Worker) place(held []*slot, gpus int) toolchain.Place {
	p := place(held, gpus)
	p.Judge = w.judging(held[0])
	return p
}

// place is where a program runs that holds these slots: it sees their units and no others. gpus is
// how many it is told of, 0 for a task that does not ask.
func place(held []*slot, gpus int) toolchain.Place {
	first := held[0]
	p := toolchain.Place{
		Slot: first.number, Arch: first.Arch, GPUs: gpus,
		Env:   map[string]string{},
		Build: sandbox.DefaultBuildLimits(), Run: sandbox.DefaultRunLimits(),
	}
	n := len(held) // one process for each unit, and theirs beside it
	p.Run.Memory, p.Run.Shm = int64(n)*min(p.Run.Memory, first.memory), int64(n)*p.Run.Shm
	p.Run.Processes, p.Run.CPU = n*p.Run.Processes, time.Duration(n)*p.Run.CPU
	seen := map[string]bool{}
	for _, s := range held {
		for _, node := range s.Nodes {
			if !seen[node] {
				seen[node] = true
				p.Device = append(p.Device, node)
			}
		}
	}
	if gpus > 0 {
		maps.Copy(p.Env, first.Links)
	}
	if lib := first.LibDir; lib != "" {
		p.Env["LD_LIBRARY_PATH"] = lib
		if !strings.HasPrefix(lib, "/usr/") {
			p.Mounts = append(p.Mounts, sandbox.Mount{Host: lib, Inside: lib})
		}
	}
	return p
}

// memoryShare is how much of the machine's memory a program on one of n slots may use: together
// they leave a share to the server, however greedy they are.
func memoryShare(n int) int64 {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return sandbox.DefaultRunLimits().Memory
	}
	return int64(uint64(info.Totalram) * uint64(info.Unit) / uint64(n+1))
}
