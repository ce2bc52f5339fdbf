package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// forkBomb is how many refused forks make a bomb of a program that met its process limit.
const forkBomb = 1000

// group is the cgroups of one run. A nil group limits and counts nothing.
type group struct {
	memory, pids controller // directories of this run; they may be the same one
}

// usage is what a group saw.
type usage struct {
	memoryMax    int64
	oomKills     int64
	refusedForks int64
}

func (c *cgroups) newGroup(name string, l Limits) (*group, error) {
	g := &group{memory: c.memory.child(name), pids: c.pids.child(name)}
	for _, dir := range g.dirs() {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return nil, errors.Join(fmt.Errorf("make a cgroup: %w", err), g.remove())
		}
	}
	if err := errors.Join(g.limitMemory(l.Memory), g.limitProcesses(l.Processes)); err != nil {
		return nil, errors.Join(fmt.Errorf("limit a cgroup: %w", err), g.remove())
	}
	return g, nil
}

func (g *group) limitsMemory() bool    { return g != nil && g.memory.dir != "" }
func (g *group) limitsProcesses() bool { return g != nil && g.pids.dir != "" }

func (g *group) limitMemory(bytes int64) error {
	if !g.limitsMemory() || bytes == 0 {
		return nil
	}
	if g.memory.v2 {
		return errors.Join(
			g.memory.write("memory.max", bytes, false),
			g.memory.write("memory.swap.max", 0, true),
			g.memory.write("memory.oom.group", 1, true),
		)
	}
	return errors.Join(
		g.memory.write("memory.limit_in_bytes", bytes, false),
		g.memory.write("memory.memsw.limit_in_bytes", bytes, true), // absent without swap accounting
	)
}

func (g *group) limitProcesses(n int) error {
	if !g.limitsProcesses() || n == 0 {
		return nil
	}
	return g.pids.write("pids.max", int64(n)+1, false) // bubblewrap's own pid 1 counts
}

// child is the directory of one run below the controller's.
func (c controller) child(name string) controller {
	if c.dir != "" {
		c.dir = filepath.Join(c.dir, name)
	}
	return c
}

// write sets one file of the cgroup; an optional one may be missing.
func (c controller) write(name string, value int64, optional bool) error {
	path := filepath.Join(c.dir, name)
	if _, err := os.Stat(path); err != nil && optional {
		return nil
	}
	return os.WriteFile(path, strconv.AppendInt(nil, value, 10), 0o644)
}

// number reads one number: the whole file when key is empty, and else the word after key.
func (c controller) number(name, key string) int64 {
	if c.dir == "" {
		return 0
	}
	fields := words(filepath.Join(c.dir, name))
	for i, field := range fields {
		if key == "" {
			n, _ := strconv.ParseInt(field, 10, 64)
			return n
		}
		if field == key && i+1 < len(fields) {
			n, _ := strconv.ParseInt(fields[i+1], 10, 64)
			return n
		}
	}
	return 0
}

// dirs are the directories of the group, each once.
func (g *group) dirs() []string {
	var dirs []string
	for _, each := range []controller{g.memory, g.pids} {
		if each.dir != "" && (len(dirs) == 0 || dirs[0] != each.dir) {
			dirs = append(dirs, each.dir)
		}
	}
	return dirs
}

// add moves a process into the group; what it forks from then on is in it too.
func (g *group) add(pid int) error {
	if g == nil {
		return nil
	}
	for _, dir := range g.dirs() {
		if err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), strconv.AppendInt(nil, int64(pid), 10), 0o644); err != nil {
			return fmt.Errorf("move the run into its cgroup: %w", err)
		}
	}
	return nil
}

func (g *group) usage() usage {
	if g == nil {
		return usage{}
	}
	u := usage{refusedForks: g.pids.number("pids.events", "max")}
	if g.memory.v2 {
		u.memoryMax = g.memory.number("memory.peak", "")
		u.oomKills = g.memory.number("memory.events", "oom_kill")
	} else {
		u.memoryMax = g.memory.number("memory.max_usage_in_bytes", "")
		u.oomKills = g.memory.number("memory.oom_control", "oom_kill")
	}
	return u
}

// exceeded is the limit for which the run must be ended now, or "". Version 1 kills only one
// process when memory runs out, and a fork bomb goes on however often it is refused.
func (g *group) exceeded() string {
	switch u := g.usage(); {
	case u.oomKills > 0:
		return limitMemory
	case u.refusedForks >= forkBomb:
		return limitProcesses
	}
	return ""
}

// kill ends every process of the group and returns when there is none, or ErrStuck.
func (g *group) kill(deadline time.Time) error {
	if g == nil {
		return nil
	}
	for _, dir := range g.dirs() {
		for !killProcs(dir) {
			if time.Now().After(deadline) {
				return ErrStuck
			}
			time.Sleep(time.Millisecond)
		}
	}
	return nil
}

// killProcs sends SIGKILL to every process of a cgroup and reports whether there was none.
func killProcs(dir string) bool {
	pids := words(filepath.Join(dir, "cgroup.procs"))
	if len(pids) == 0 {
		return true
	}
	if os.WriteFile(filepath.Join(dir, "cgroup.kill"), []byte("1"), 0) == nil {
		return false
	}
	for _, text := range pids {
		if pid, err := strconv.Atoi(text); err == nil && pid > 1 {
			_ = unix.Kill(pid, syscall.SIGKILL)
		}
	}
	return false
}

// remove deletes the directories. The kernel may need a moment after the last process.
func (g *group) remove() error {
	if g == nil {
		return nil
	}
	var failed error
	for _, dir := range g.dirs() {
		err := os.Remove(dir)
		for try := 0; errors.Is(err, unix.EBUSY) && try < 200; try++ {
			time.Sleep(time.Millisecond)
			err = os.Remove(dir)
		}
		if err != nil && !os.IsNotExist(err) {
			failed = errors.Join(failed, fmt.Errorf("remove a run's cgroup: %w", err))
		}
	}
	return failed
}
