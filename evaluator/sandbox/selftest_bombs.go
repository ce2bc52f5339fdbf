package sandbox

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"warpboard/evaluator/job"
)

// shell runs a script with small limits.
func (s *Sandbox) shell(ctx context.Context, script string, limits Limits) (Outcome, error) {
	return s.Run(ctx, Spec{Argv: []string{"/bin/sh", "-c", script}, Limits: limits})
}

func (s *Sandbox) checkMemory(ctx context.Context, h *host) job.CheckLine {
	const name = "memory bomb"
	limits := selfTestLimits()
	limits.Memory = 32 << 20
	o, err := s.shell(ctx, "tail /dev/zero", limits) // keeps all of an endless line
	switch {
	case err != nil:
		return line(name, "", err)
	case o.ExitCode == 0 || o.Limit == limitWall:
		return line(name, "", fmt.Errorf("a program went on past its memory limit (%d bytes)", o.MemoryMax))
	case !h.cgroups.LimitsMemory():
		return line(name, degraded+"no memory cgroup can be made here; each process is limited on its own", nil)
	case o.Limit != limitMemory:
		return line(name, "", fmt.Errorf("a program ended with code %d, not by its memory limit: %s", o.ExitCode, o.Stderr))
	}
	return line(name, fmt.Sprintf("ended at %d MiB", o.MemoryMax>>20), nil)
}

func (s *Sandbox) checkForks(ctx context.Context, h *host) job.CheckLine {
	const name = "fork bomb"
	o, err := s.shell(ctx, "i=0; while [ $i -lt 64 ]; do sleep 60 & i=$((i+1)); done; exit 0", selfTestLimits())
	switch {
	case err != nil:
		return line(name, "", err)
	case o.ExitCode == 0:
		return line(name, "", fmt.Errorf("a program made 64 processes where %d are allowed", selfTestLimits().Processes))
	case !h.cgroups.LimitsProcesses():
		return line(name, degraded+"no pids cgroup can be made here; RLIMIT_NPROC holds", nil)
	case o.Limit != limitProcesses:
		return line(name, "", fmt.Errorf("a program ended with code %d, not by its process limit: %s", o.ExitCode, o.Stderr))
	}
	return line(name, fmt.Sprintf("no more than %d processes", selfTestLimits().Processes), nil)
}

func (s *Sandbox) checkDisk(ctx context.Context, h *host) job.CheckLine {
	const name = "disk bomb"
	o, err := s.shell(ctx, `for dir in /tmp /dev/shm /out; do
		head -c 64M /dev/zero >$dir/bomb && echo $dir
	done 2>/dev/null; echo end`, selfTestLimits())
	switch {
	case err != nil:
		return line(name, "", err)
	case o.Stdout != "end\n":
		return line(name, "", fmt.Errorf("a program wrote 64 MiB to: %s (code %d)", o.Stdout, o.ExitCode))
	case !h.stage:
		return line(name, degraded+"/out is on the server's disk; RLIMIT_FSIZE limits each file", nil)
	}
	return line(name, "/tmp, /dev/shm and /out are bounded", nil)
}

// checkDaemon leaves a process behind, and looks for it when the run has ended.
func (s *Sandbox) checkDaemon(ctx context.Context) job.CheckLine {
	const name = "no daemon"
	marker := fmt.Sprintf("86400.%d", time.Now().UnixNano())
	o, err := s.shell(ctx, "(setsid sleep "+marker+" >/dev/null 2>&1 &); exit 0", selfTestLimits())
	if err == nil && o.ExitCode != 0 {
		err = fmt.Errorf("the shell ended with code %d: %s", o.ExitCode, o.Stderr)
	}
	if pid := findProcess(marker); err == nil && pid != "" {
		err = fmt.Errorf("process %s lives on after its run", pid)
	}
	return line(name, "a program's daemon is gone when its run has ended", err)
}

// findProcess is the pid of a process of the host with the marker in its command line, or "".
func findProcess(marker string) string {
	paths, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range paths {
		if b, err := os.ReadFile(path); err == nil && bytes.Contains(b, []byte(marker)) {
			return filepath.Base(filepath.Dir(path))
		}
	}
	return ""
}

func (s *Sandbox) checkWall(ctx context.Context) job.CheckLine {
	limits := selfTestLimits()
	limits.Wall = 100 * time.Millisecond
	o, err := s.shell(ctx, "trap '' TERM INT HUP; while :; do :; done", limits)
	if err == nil && o.Limit != limitWall {
		err = fmt.Errorf("a program with a wall limit of %s ended with code %d, limit %q", limits.Wall, o.ExitCode, o.Limit)
	}
	return line("time limit", fmt.Sprintf("a program that never ends is ended (%d ms)", o.Wall.Milliseconds()), err)
}
