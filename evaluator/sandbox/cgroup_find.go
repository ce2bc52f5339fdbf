package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// CgroupTree is the location at which this server creates the cgroups of its runs. Machines have version 1, version 2,
// or both with a controller in either, so each controller is searched separately.
type CgroupTree struct {
	memoryController, pidsController cgroupController
	undeleted                        *undeletedDirs // directories of removed groups that the kernel still keeps
}

// cgroupController is a directory in which cgroups with one controller can be created, such as memory.
type cgroupController struct {
	dir        string // "" if the controller is unavailable
	isVersion2 bool
}

// cgroupHierarchy is one mounted cgroup tree, and the location of this process in it.
type cgroupHierarchy struct {
	mount       string
	ownDir      string // directory of this process, at or below mount
	isVersion2  bool
	controllers []string // version 1 only
}

// findCgroupTree looks for the controllers. It returns an error only if neither is available.
func findCgroupTree() (*CgroupTree, error) {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil, err
	}
	return chooseCgroupTree(string(mounts), string(own))
}

// MachineMemory returns the memory in bytes that this process and its children can use: that of the machine, or less in
// a container with a limit. It returns 0 if it is unknown.
func MachineMemory() int64 {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return 0
	}
	total := int64(uint64(info.Totalram) * uint64(info.Unit))
	mounts, _ := os.ReadFile("/proc/self/mountinfo") // without them, there is no limit
	own, _ := os.ReadFile("/proc/self/cgroup")
	for _, h := range parseHierarchies(string(mounts), string(own)) {
		total = min(total, h.memoryLimit())
	}
	return total
}

// memoryLimit returns the lowest memory limit of this process's directory and those above it, in bytes.
func (h cgroupHierarchy) memoryLimit() int64 {
	name, lowest := "memory.limit_in_bytes", int64(math.MaxInt64)
	if h.isVersion2 {
		name = "memory.max"
	}
	for dir := h.ownDir; strings.HasPrefix(dir, h.mount); dir = filepath.Dir(dir) {
		if limit := (cgroupController{dir: dir}).readNumber(name, ""); limit > 0 { // "max" is read as 0
			lowest = min(lowest, limit)
		}
	}
	return lowest
}

func chooseCgroupTree(mountinfo, own string) (*CgroupTree, error) {
	c := &CgroupTree{undeleted: &undeletedDirs{}}
	var failed error
	for _, h := range parseHierarchies(mountinfo, own) {
		failed = errors.Join(failed, c.takeControllers(h))
	}
	if c.memoryController.dir == "" && c.pidsController.dir == "" {
		return nil, errors.Join(errors.New("no cgroup hierarchy with memory or pids can be used here"), failed)
	}
	return c, nil
}

// takeControllers sets the controllers that a hierarchy has and that no earlier hierarchy had.
func (c *CgroupTree) takeControllers(h cgroupHierarchy) error {
	offered := h.controllers
	if h.isVersion2 {
		offered = readFileWords(filepath.Join(h.mount, "cgroup.controllers"))
	}
	wanted := map[string]*cgroupController{"memory": &c.memoryController, "pids": &c.pidsController}
	var names []string
	for _, name := range offered {
		if wanted[name] != nil && wanted[name].dir == "" {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	dir, err := h.ownDir, unix.Access(h.ownDir, unix.W_OK)
	if h.isVersion2 {
		// In version 2 a process is in only one cgroup, so one directory must have all controllers.
		dir, err = delegatedDir(h, names)
	}
	if err != nil {
		return fmt.Errorf("make cgroups in %s: %w", h.ownDir, err)
	}
	for _, name := range names {
		*wanted[name] = cgroupController{dir: dir, isVersion2: h.isVersion2}
	}
	return nil
}

// parseHierarchies parses /proc/self/mountinfo and /proc/self/cgroup. A tree can be mounted several times, because
// other programs bind it or parts of it. Mounts that contain this process come first, and of those the standard mount
// point.
func parseHierarchies(mountinfo, cgroup string) []cgroupHierarchy {
	var found []cgroupHierarchy
	shows := map[string]bool{} // mount point → true if it shows this process's directory
	for line := range strings.Lines(mountinfo) {
		before, after, ok := strings.Cut(line, " - ")
		place, kind := strings.Fields(before), strings.Fields(after)
		if !ok || len(place) < 5 || len(kind) < 3 || !strings.HasPrefix(kind[0], "cgroup") {
			continue
		}
		h := cgroupHierarchy{mount: unescapeMountPath(place[4]), isVersion2: kind[0] == "cgroup2"}
		if !h.isVersion2 {
			h.controllers = strings.Split(kind[2], ",")
		}
		below, ok := pathRelativeTo(ownCgroupPath(cgroup, h), unescapeMountPath(place[3]))
		h.ownDir = filepath.Join(h.mount, below)
		// A later line with the same mount point covers the earlier one.
		found = slices.DeleteFunc(found, func(hidden cgroupHierarchy) bool { return hidden.mount == h.mount })
		found, shows[h.mount] = append(found, h), ok
	}
	slices.SortStableFunc(found, func(a, b cgroupHierarchy) int {
		return cmp.Or(compareTrueFirst(shows[a.mount], shows[b.mount]), compareTrueFirst(isUsualCgroupMount(a.mount), isUsualCgroupMount(b.mount)))
	})
	return found
}

// unescapeMountPath decodes escaped characters in the paths of mountinfo.
func unescapeMountPath(path string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(path)
}

func isUsualCgroupMount(mount string) bool { return strings.HasPrefix(mount, "/sys/fs/cgroup") }

func compareTrueFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// ownCgroupPath returns this process's path in the hierarchy, from /proc/self/cgroup.
func ownCgroupPath(cgroup string, h cgroupHierarchy) string {
	for line := range strings.Lines(cgroup) {
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(parts) != 3 {
			continue
		}
		names := strings.Split(parts[1], ",")
		if h.isVersion2 && parts[1] == "" ||
			!h.isVersion2 && slices.ContainsFunc(h.controllers,
				func(c string) bool { return slices.Contains(names, c) }) {
			return parts[2]
		}
	}
	return "/"
}

// pathRelativeTo returns path relative to root: a container's mount shows only the part below root. ok is false if path
// is not below root.
func pathRelativeTo(path, root string) (rel string, ok bool) {
	if rel, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rel) {
		return rel, true
	}
	return ".", false
}

// delegatedDir returns, for version 2, the nearest ancestor directory that delegates the controllers to its children
// and is writable. If there is none, it uses the directory of this process and moves all processes into a child,
// because a directory that delegates controllers must not contain processes.
func delegatedDir(h cgroupHierarchy, names []string) (string, error) {
	for dir := h.ownDir; len(dir) >= len(h.mount); dir = filepath.Dir(dir) {
		if unix.Access(dir, unix.W_OK) != nil {
			continue
		}
		// Only the real root may delegate controllers and contain processes.
		if hasControllers(dir, names) || dir == h.mount && delegateControllers(dir, names) == nil {
			return dir, nil
		}
	}
	return h.ownDir, moveProcessesToChild(h.ownDir, names)
}

func hasControllers(dir string, names []string) bool {
	have := readFileWords(filepath.Join(dir, "cgroup.subtree_control"))
	return !slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(have, name) })
}

func delegateControllers(dir string, names []string) error {
	err := os.WriteFile(filepath.Join(dir, "cgroup.subtree_control"), []byte("+"+strings.Join(names, " +")), 0o644)
	if err != nil {
		return fmt.Errorf("let %s hand out %s: %w", dir, strings.Join(names, " and "), err)
	}
	return nil
}

// moveProcessesToChild moves the processes of dir into a child and makes dir delegate the controllers.
func moveProcessesToChild(dir string, names []string) error {
	leaf := filepath.Join(dir, "warpboard.main")
	if err := os.Mkdir(leaf, 0o755); err != nil && !os.IsExist(err) {
		return fmt.Errorf("make a cgroup for the server itself: %w", err)
	}
	for _, pid := range readFileWords(filepath.Join(dir, "cgroup.procs")) {
		err := os.WriteFile(filepath.Join(leaf, "cgroup.procs"), []byte(pid), 0o644)
		if err != nil && !errors.Is(err, unix.ESRCH) {
			return fmt.Errorf("move process %s into the server's cgroup: %w", pid, err)
		}
	}
	return delegateControllers(dir, names)
}

// RemoveOrphans kills the processes in the cgroups for which orphaned returns true, and removes these cgroups. A cgroup
// whose processes do not die within the timeout remains for the next start.
func (c *CgroupTree) RemoveOrphans(orphaned func(name string) bool, timeout time.Duration) {
	deadline := time.Now().Add(timeout)
	for _, parent := range []string{c.memoryController.dir, c.pidsController.dir} {
		if parent == "" {
			continue
		}
		entries, _ := os.ReadDir(parent)
		for _, entry := range entries {
			if orphaned(entry.Name()) {
				left := &ControlGroup{memoryController: cgroupController{dir: filepath.Join(parent, entry.Name())}}
				left.Kill(deadline)
				_ = left.Remove() // Remove fails while a process is alive
			}
		}
	}
}

// LimitsMemory reports whether groups of the tree limit memory.
func (c *CgroupTree) LimitsMemory() bool { return c != nil && c.memoryController.dir != "" }

// LimitsProcesses reports whether groups of the tree limit the number of processes.
func (c *CgroupTree) LimitsProcesses() bool { return c != nil && c.pidsController.dir != "" }

// readFileWords returns the words of a file, or none if it cannot be read.
func readFileWords(path string) []string {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return strings.Fields(string(b))
}
