package sandbox

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// setRlimits limits a process that has not started its program; its children inherit the limits. If the cgroup limits
// the whole tree, the rlimits are only a second protection.
func setRlimits(pid int, l Limits, g *ControlGroup) error {
	limits := map[int]uint64{unix.RLIMIT_CORE: 0}
	if l.CPU > 0 {
		limits[unix.RLIMIT_CPU] = uint64((l.CPU + time.Second - 1) / time.Second)
	}
	if l.FileSize > 0 {
		limits[unix.RLIMIT_FSIZE] = uint64(l.FileSize)
	}
	if l.OpenFiles > 0 {
		limits[unix.RLIMIT_NOFILE] = l.OpenFiles
	}
	if l.Processes > 0 {
		limits[unix.RLIMIT_NPROC] = uint64(l.Processes)
		if g.LimitsProcesses() {
			// The cgroup's limit should be reached first, because only the cgroup reports it.
			limits[unix.RLIMIT_NPROC] *= 2
		}
	}
	if l.Memory > 0 && !g.LimitsMemory() {
		// RLIMIT_DATA is per process and covers only private memory, so a tree of processes can use several times as
		// much. RLIMIT_AS is not usable, because CUDA exceeds it at its start.
		limits[unix.RLIMIT_DATA] = uint64(l.Memory)
	}
	for resource, value := range limits {
		if err := setRlimit(pid, resource, value); err != nil {
			return fmt.Errorf("set resource limit %d to %d: %w", resource, value, err)
		}
	}
	return nil
}

// setRlimit sets a limit. For CPU time the hard limit is a second higher, so that SIGXCPU, which shows the cause,
// precedes SIGKILL.
func setRlimit(pid, resource int, value uint64) error {
	var now unix.Rlimit
	if err := unix.Prlimit(pid, resource, nil, &now); err != nil {
		return err
	}
	hard := value
	if resource == unix.RLIMIT_CPU {
		hard++
	}
	hard = min(hard, now.Max)
	return unix.Prlimit(pid, resource, &unix.Rlimit{Cur: min(value, hard), Max: hard}, nil)
}
