package e2e

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"warpboard/internal/test/tier"
)

// leavesNothing waits until no process, cgroup, or directory of a run is left. If the server was killed, it only waits
// for the processes, because the next server removes the rest.
func (s *site) leavesNothing(t *testing.T) {
	t.Helper()
	pid := s.cmd.Process.Pid
	tier.WaitFor(t, "the runs' leftovers to go", func() error {
		groups, err := cgroups(fmt.Sprintf("warpboard-%d-", pid))
		if err != nil {
			return err
		}
		if s.ended() {
			return empty(groups)
		}
		scratch, err := filepath.Glob(filepath.Join(s.data, "sandbox", "*"))
		return errors.Join(err, wantNone("cgroups", groups), wantNone("directories", scratch),
			wantNone("processes", children(pid)))
	})
}

// ended reports whether the process has ended.
func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

func wantNone(what string, left []string) error {
	if len(left) == 0 {
		return nil
	}
	return fmt.Errorf("%d %s are left: %s", len(left), what, strings.Join(left, ", "))
}

// cgroups returns the directories below /sys/fs/cgroup whose name has a prefix.
func cgroups(prefix string) ([]string, error) {
	var found []string
	err := filepath.WalkDir("/sys/fs/cgroup", func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // removed during the search
		}
		if err == nil && entry.IsDir() && strings.HasPrefix(entry.Name(), prefix) {
			found = append(found, path)
		}
		return err
	})
	return found, err
}

// empty returns an error if a cgroup of a killed server has a process that is not bubblewrap's. bubblewrap may remain
// if it had not started its program yet: the next server ends it (TestProgramOfAKilledServerNeverPassesItsGate).
func empty(groups []string) error {
	for _, dir := range groups {
		pids, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
		if err != nil {
			continue // the cgroup was removed
		}
		for _, pid := range strings.Fields(string(pids)) {
			command, err := os.ReadFile(filepath.Join("/proc", pid, "cmdline"))
			if err == nil && !strings.HasPrefix(string(command), "warpboard-") {
				return fmt.Errorf("%s has the process %s: %q", dir, pid, command)
			}
		}
	}
	return nil
}

// children lists the child processes of pid, which is also the parent of orphaned processes of its runs.
func children(pid int) []string {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	var found []string
	for _, path := range stats {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue // the process has ended
		}
		// "PID (NAME) STATE PPID …", where the name may contain anything.
		end := strings.LastIndexByte(string(stat), ')')
		if fields := strings.Fields(string(stat[end+1:])); len(fields) > 1 && fields[1] == strconv.Itoa(pid) {
			found = append(found, string(stat[:end+1])+" "+fields[0])
		}
	}
	return found
}
