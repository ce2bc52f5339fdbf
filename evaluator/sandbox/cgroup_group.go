package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Values that ExceededLimit returns.
const (
	ExceededMemory    = "memory"
	ExceededProcesses = "processes"
)

// maxTCPBufferBytes limits the TCP socket buffers of a run in version 1, in bytes, in addition to its memory. Version 2
// counts them as memory.
const maxTCPBufferBytes = 64 << 20

// maxLeftBytes limits the kernel's memory, in bytes, that a run leaves behind, such as names of files that it looked for.
const maxLeftBytes = 64 << 20

// forkBombProcesses is the number of refused forks above which a program counts as a fork bomb.
const forkBombProcesses = 1000

// ControlGroup has the cgroups of one run. A nil *ControlGroup limits and counts nothing.
type ControlGroup struct {
	memoryController, pidsController cgroupController // directories of this run; may be the same
	undeleted                        *undeletedDirs
}

// GroupUsage has the counters of a group.
type GroupUsage struct {
	MemoryPeak   int64 // bytes
	OOMKills     int64
	LimitReached bool // an OOM kill was because of the group's own limit
	RefusedForks int64
}

// NewGroup creates the cgroups of a run. memory is in bytes; 0 means no limit.
func (c *CgroupTree) NewGroup(name string, memory int64, processes int) (*ControlGroup, error) {
	c.undeleted.remove()
	g := &ControlGroup{memoryController: c.memoryController.runController(name),
		pidsController: c.pidsController.runController(name), undeleted: c.undeleted}
	for _, dir := range g.groupDirs() {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return nil, errors.Join(fmt.Errorf("make a cgroup: %w", err), g.Remove())
		}
	}
	if err := errors.Join(g.limitMemory(memory), g.limitProcesses(processes)); err != nil {
		return nil, errors.Join(fmt.Errorf("limit a cgroup: %w", err), g.Remove())
	}
	return g, nil
}

// LimitsMemory reports whether the group limits memory.
func (g *ControlGroup) LimitsMemory() bool { return g != nil && g.memoryController.dir != "" }

// LimitsProcesses reports whether the group limits the number of processes.
func (g *ControlGroup) LimitsProcesses() bool { return g != nil && g.pidsController.dir != "" }

func (g *ControlGroup) limitMemory(bytes int64) error {
	if !g.LimitsMemory() || bytes == 0 {
		return nil
	}
	if g.memoryController.isVersion2 {
		return errors.Join(
			g.memoryController.writeFile("memory.max", bytes, false),
			g.memoryController.writeFile("memory.swap.max", 0, true),
			g.memoryController.writeFile("memory.oom.group", 1, true),
		)
	}
	return errors.Join(
		g.memoryController.writeFile("memory.limit_in_bytes", bytes, false),
		g.memoryController.writeFile("memory.memsw.limit_in_bytes", bytes, true),                            // absent without swap accounting
		g.memoryController.writeFile("memory.kmem.tcp.limit_in_bytes", min(bytes, maxTCPBufferBytes), true), // not counted as memory
	)
}

func (g *ControlGroup) limitProcesses(n int) error {
	if !g.LimitsProcesses() || n == 0 {
		return nil
	}
	return g.pidsController.writeFile("pids.max", int64(n)+1, false) // one more, because bubblewrap's PID 1 counts
}

// runController returns the controller's directory for one run.
func (c cgroupController) runController(name string) cgroupController {
	if c.dir != "" {
		c.dir = filepath.Join(c.dir, name)
	}
	return c
}

// writeFile writes one file of the cgroup. If it is optional, it may be missing.
func (c cgroupController) writeFile(name string, value int64, optional bool) error {
	path := filepath.Join(c.dir, name)
	if _, err := os.Stat(path); err != nil && optional {
		return nil
	}
	return os.WriteFile(path, strconv.AppendInt(nil, value, 10), 0o644)
}

// readNumber reads a number: the first word of the file if key is empty, otherwise the word after key.
func (c cgroupController) readNumber(name, key string) int64 {
	if c.dir == "" {
		return 0
	}
	fields := readFileWords(filepath.Join(c.dir, name))
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

// groupDirs returns the directories of the group, each once.
func (g *ControlGroup) groupDirs() []string {
	var dirs []string
	for _, each := range []cgroupController{g.memoryController, g.pidsController} {
		if each.dir != "" && (len(dirs) == 0 || dirs[0] != each.dir) {
			dirs = append(dirs, each.dir)
		}
	}
	return dirs
}

// AddProcess moves a process into the group. Processes that it creates later are in the group, too.
func (g *ControlGroup) AddProcess(pid int) error {
	if g == nil {
		return nil
	}
	for _, dir := range g.groupDirs() {
		if err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), strconv.AppendInt(nil, int64(pid), 10), 0o644); err != nil {
			return fmt.Errorf("move the run into its cgroup: %w", err)
		}
	}
	return nil
}

// Usage reads the counters.
func (g *ControlGroup) Usage() GroupUsage {
	if g == nil {
		return GroupUsage{}
	}
	u := GroupUsage{RefusedForks: g.pidsController.readNumber("pids.events", "max")}
	if g.memoryController.isVersion2 {
		u.MemoryPeak = g.memoryController.readNumber("memory.peak", "")
		u.OOMKills = g.memoryController.readNumber("memory.events", "oom_kill")
		u.LimitReached = g.memoryController.readNumber("memory.events", "oom") > 0
	} else {
		u.MemoryPeak = g.memoryController.readNumber("memory.max_usage_in_bytes", "")
		u.OOMKills = g.memoryController.readNumber("memory.oom_control", "oom_kill")
		u.LimitReached = u.MemoryPeak >= g.memoryController.readNumber("memory.limit_in_bytes", "")/64*63
	}
	return u
}

// ExceededLimit returns the exceeded limit if the run must be killed now, or "". The kernel alone does not end such a
// run: version 1 kills only one process when memory runs out, and a fork bomb continues after refused forks.
func (g *ControlGroup) ExceededLimit() string {
	switch u := g.Usage(); {
	case u.OOMKills > 0:
		return ExceededMemory
	case u.RefusedForks >= forkBombProcesses:
		return ExceededProcesses
	}
	return ""
}

// Kill kills every process of the group and reports whether none was left at the deadline. A process that hangs in a
// driver does not die.
func (g *ControlGroup) Kill(deadline time.Time) (dead bool) {
	if g == nil {
		return true
	}
	for _, dir := range g.groupDirs() {
		for !killProcesses(dir) {
			if time.Now().After(deadline) {
				return false
			}
			time.Sleep(time.Millisecond)
		}
	}
	return true
}

// progress returns a text that changes while processes of the group run, end, or read and write files. It stays the
// same while they hang in a driver.
func (g *ControlGroup) progress() string {
	if g == nil {
		return ""
	}
	var b strings.Builder
	for _, dir := range g.groupDirs() {
		for _, pid := range readFileWords(filepath.Join(dir, "cgroup.procs")) {
			// stat has the processor time of all threads of the process.
			for _, name := range []string{"stat", "io"} {
				text, _ := os.ReadFile(filepath.Join("/proc", pid, name)) // the process may have ended
				b.Write(text)
			}
		}
	}
	return b.String()
}

// killProcesses sends SIGKILL to every process of a cgroup and reports whether there was none.
func killProcesses(dir string) bool {
	pids := readFileWords(filepath.Join(dir, "cgroup.procs"))
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

// Remove deletes the group's directories. The kernel may need a moment after the last process, and seconds after a fork
// bomb on a busy machine. Directories that are still in use are deleted when the next group is created.
func (g *ControlGroup) Remove() error {
	if g == nil {
		return nil
	}
	g.reclaimMemory()
	var failed error
	for _, dir := range g.groupDirs() {
		err := removeDir(dir)
		for try := 0; errors.Is(err, unix.EBUSY) && try < 200; try++ {
			time.Sleep(time.Millisecond)
			err = removeDir(dir)
		}
		if errors.Is(err, unix.EBUSY) && g.undeleted.retryLater(dir) {
			continue
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

// reclaimMemory frees what is left of a run if the kernel's memory is much of it: that of each run would stay until the
// machine has no other. It also frees the cached files that the run was the first to read.
func (g *ControlGroup) reclaimMemory() {
	memory := g.memoryController
	if memory.isVersion2 {
		if memory.readNumber("memory.stat", "slab_reclaimable") > maxLeftBytes {
			// The kernel may free less, which it reports as an error. Before Linux 5.19 the file does not exist.
			_ = memory.writeFile("memory.reclaim", memory.readNumber("memory.current", ""), true)
		}
	} else if memory.readNumber("memory.kmem.usage_in_bytes", "") > maxLeftBytes {
		_ = memory.writeFile("memory.force_empty", 0, true)
	}
}

func removeDir(dir string) error {
	if err := os.Remove(dir); err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("remove a run's cgroup: %w", err)
	}
	return nil
}

// undeletedDirs has directories that could not be deleted yet.
type undeletedDirs struct {
	mu   sync.Mutex
	dirs []string
}

// retryLater stores dir for another attempt. It returns false if l is nil.
func (l *undeletedDirs) retryLater(dir string) bool {
	if l == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dirs = append(l.dirs, dir)
	return true
}

// remove tries again to delete each stored directory.
func (l *undeletedDirs) remove() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dirs = slices.DeleteFunc(l.dirs, func(dir string) bool { return removeDir(dir) == nil })
}
