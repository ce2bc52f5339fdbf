package sandbox

import (
	"crypto/rand"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/internal/test/tier"
)

func TestHierarchiesAreFoundOnEveryKindOfMachine(t *testing.T) {
	tests := map[string]struct {
		mountinfo, cgroup string
		want              []cgroupHierarchy
	}{
		"version 1": {
			mountinfo: "30 25 0:26 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory\n" +
				"31 25 0:27 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n" +
				"22 1 0:20 / /proc rw - proc proc rw\n",
			cgroup: "5:cpu,cpuacct:/user\n4:memory:/user/1\n",
			want: []cgroupHierarchy{
				{mount: "/sys/fs/cgroup/memory", ownDir: "/sys/fs/cgroup/memory/user/1",
					controllers: []string{"rw", "memory"}},
				{mount: "/sys/fs/cgroup/cpu,cpuacct", ownDir: "/sys/fs/cgroup/cpu,cpuacct/user",
					controllers: []string{"rw", "cpu", "cpuacct"}},
			},
		},
		"version 2": {
			mountinfo: "30 25 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n",
			cgroup:    "0::/system.slice/warpboard.service\n",
			want: []cgroupHierarchy{{mount: "/sys/fs/cgroup", ownDir: "/sys/fs/cgroup/system.slice/warpboard.service",
				isVersion2: true}},
		},
		"hybrid": {
			mountinfo: "30 25 0:26 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n" +
				"31 25 0:27 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n",
			cgroup: "8:pids:/a:b\n0::/\n",
			want: []cgroupHierarchy{
				{mount: "/sys/fs/cgroup/unified", ownDir: "/sys/fs/cgroup/unified", isVersion2: true},
				{mount: "/sys/fs/cgroup/pids", ownDir: "/sys/fs/cgroup/pids/a:b", controllers: []string{"rw", "pids"}},
			},
		},
		"container that sees only its own part": {
			mountinfo: "30 25 0:26 /docker/abc /sys/fs/cgroup/pids ro - cgroup cgroup rw,pids\n",
			cgroup:    "8:pids:/docker/abc/leaf\n",
			want: []cgroupHierarchy{{mount: "/sys/fs/cgroup/pids", ownDir: "/sys/fs/cgroup/pids/leaf",
				controllers: []string{"rw", "pids"}}},
		},
		"process outside of what is mounted": {
			mountinfo: "30 25 0:26 /docker/abc /sys/fs/cgroup rw - cgroup2 cgroup rw\n",
			cgroup:    "0::/elsewhere\n",
			want:      []cgroupHierarchy{{mount: "/sys/fs/cgroup", ownDir: "/sys/fs/cgroup", isVersion2: true}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := parseHierarchies(test.mountinfo, test.cgroup)
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(cgroupHierarchy{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestControllersOfBindMountsAreIgnored has a mountinfo with parts of the cgroup trees that are bound elsewhere, as by
// container runtimes, before and after the right line.
func TestControllersOfBindMountsAreIgnored(t *testing.T) {
	root := tree(t, map[string]string{
		"memory/user/x": "", "elsewhere/memory/user/x": "", "part/x": "", "over/user/x": "", "a b/user/x": "",
		"readonly":              "",
		"v2/cgroup.controllers": "memory pids", "v2/cgroup.subtree_control": "memory pids",
		"bound2/cgroup.controllers": "memory pids", "bound2/cgroup.subtree_control": "memory pids",
	})
	const v1, v2 = " - cgroup cgroup rw,memory\n", " - cgroup2 cgroup2 rw\n"
	tests := map[string]struct{ lines, cgroup, want string }{
		"whole tree bound elsewhere": {
			lines:  "30 1 0:26 / " + root + "/memory rw" + v1 + "99 1 0:26 / " + root + "/elsewhere/memory rw" + v1,
			cgroup: "4:memory:/user\n", want: "memory/user",
		},
		"part of another container bound, listed later": {
			lines:  "30 1 0:26 / " + root + "/memory rw" + v1 + "99 1 0:26 /docker/abc " + root + "/part rw" + v1,
			cgroup: "4:memory:/user\n", want: "memory/user",
		},
		"part of another container bound, listed first": {
			lines:  "29 1 0:26 /docker/abc " + root + "/part rw" + v1 + "30 1 0:26 / " + root + "/memory rw" + v1,
			cgroup: "4:memory:/user\n", want: "memory/user",
		},
		"nothing mounted where it cannot be written": {
			lines:  "29 1 0:26 / /proc/none rw" + v1 + "30 1 0:26 / " + root + "/memory rw" + v1,
			cgroup: "4:memory:/user\n", want: "memory/user",
		},
		"a mount over another one": {
			lines:  "29 1 0:26 /docker/abc " + root + "/over rw" + v1 + "30 29 0:26 / " + root + "/over rw" + v1,
			cgroup: "4:memory:/user\n", want: "over/user",
		},
		"a mount point with a blank": {
			lines:  "30 1 0:26 / " + root + "/a\\040b rw" + v1,
			cgroup: "4:memory:/user\n", want: "a b/user",
		},
		"version 2 bound elsewhere": {
			lines:  "30 1 0:26 / " + root + "/v2 rw" + v2 + "99 1 0:26 /docker/abc " + root + "/bound2 rw" + v2,
			cgroup: "0::/\n", want: "v2",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c, err := chooseCgroupTree(test.lines, test.cgroup)
			if err != nil {
				t.Fatal(err)
			}
			if want := filepath.Join(root, test.want); c.memoryController.dir != want {
				t.Errorf("memory is limited in %s, want %s", c.memoryController.dir, want)
			}
		})
	}
}

// tree creates a directory tree like cgroup version 2 with these files.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func read(t *testing.T, path ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Error(err)
	}
	return string(b)
}

func TestVersion2GroupsGoWhereControllersAreHandedOut(t *testing.T) {
	root := tree(t, map[string]string{
		"cgroup.controllers":                      "cpu memory pids",
		"cgroup.subtree_control":                  "memory pids",
		"system.slice/cgroup.subtree_control":     "cpu memory pids",
		"system.slice/own/cgroup.subtree_control": "",
	})
	c := &CgroupTree{}
	if err := c.takeControllers(cgroupHierarchy{mount: root, ownDir: filepath.Join(root, "system.slice/own"), isVersion2: true}); err != nil {
		t.Fatal(err)
	}
	want := CgroupTree{
		memoryController: cgroupController{dir: filepath.Join(root, "system.slice"), isVersion2: true},
		pidsController:   cgroupController{dir: filepath.Join(root, "system.slice"), isVersion2: true},
	}
	if diff := cmp.Diff(want, *c, cmp.AllowUnexported(CgroupTree{}, cgroupController{})); diff != "" {
		t.Error(diff)
	}
}

func TestTheRootOfVersion2EnablesControllers(t *testing.T) {
	root := tree(t, map[string]string{"cgroup.controllers": "memory pids", "cgroup.subtree_control": ""})
	c := &CgroupTree{}
	if err := c.takeControllers(cgroupHierarchy{mount: root, ownDir: root, isVersion2: true}); err != nil || c.memoryController.dir != root {
		t.Fatalf("found %+v, %v", c, err)
	}
	if got := read(t, root, "cgroup.subtree_control"); got != "+memory +pids" {
		t.Errorf("subtree_control is %q", got)
	}
}

func TestServerMovesOutOfADirectoryThatItMustShare(t *testing.T) {
	root := tree(t, map[string]string{"cgroup.procs": "17\n18\n", "cgroup.subtree_control": ""})
	if err := moveProcessesToChild(root, []string{"memory", "pids"}); err != nil {
		t.Fatal(err)
	}
	if got := read(t, root, "warpboard.main/cgroup.procs"); got != "18" {
		t.Errorf("the last process moved is %q", got)
	}
	if got := read(t, root, "cgroup.subtree_control"); got != "+memory +pids" {
		t.Errorf("subtree_control is %q", got)
	}
}

func TestTheLowestMemoryLimitAboveCounts(t *testing.T) {
	root := tree(t, map[string]string{"memory.max": "max\n", "pod/memory.max": "3000\n", "pod/own/memory.max": "4000\n", "v1/memory.limit_in_bytes": "2000\n"})
	for dir, want := range map[string]int64{"": math.MaxInt64, "pod": 3000, "pod/own": 3000, "v1": 2000} {
		h := cgroupHierarchy{mount: root, ownDir: filepath.Join(root, dir), isVersion2: dir != "v1"}
		if got := h.memoryLimit(); got != want {
			t.Errorf("the limit of %q is %d, want %d", dir, got, want)
		}
	}
}

func TestVersion2GroupIsLimitedAndRead(t *testing.T) {
	root := tree(t, map[string]string{
		"run/memory.swap.max": "max", "run/memory.oom.group": "0", "run/memory.peak": "4096\n",
		"run/memory.events": "low 0\nhigh 0\nmax 7\noom 2\noom_kill 1\n", "run/pids.events": "max 3\n",
		"run/cgroup.procs": "",
	})
	run := cgroupController{dir: filepath.Join(root, "run"), isVersion2: true}
	g := &ControlGroup{memoryController: run, pidsController: run}
	if err := errors.Join(g.limitMemory(1<<20), g.limitProcesses(8)); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{"memory.max": "1048576", "memory.swap.max": "0", "memory.oom.group": "1",
		"pids.max": "9"} {
		if got := read(t, root, "run", file); !strings.HasPrefix(got, want) {
			t.Errorf("%s is %q, want %q", file, got, want)
		}
	}
	want := GroupUsage{MemoryPeak: 4096, OOMKills: 1, LimitReached: true, RefusedForks: 3}
	if diff := cmp.Diff(want, g.Usage(), cmp.AllowUnexported(GroupUsage{})); diff != "" {
		t.Error(diff)
	}
	if got := g.ExceededLimit(); got != ExceededMemory {
		t.Errorf("exceeded %q", got)
	}
	if got := g.groupDirs(); len(got) != 1 {
		t.Errorf("a group of one tree has the directories %v", got)
	}
	if !g.Kill(time.Now()) {
		t.Error("processes are left")
	}
}

func TestGroupKillsEveryProcessAndIsRemoved(t *testing.T) {
	found, err := findCgroupTree()
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]*CgroupTree{"of this machine": found}
	for _, h := range parseHierarchies(read(t, "/proc/self/mountinfo"), read(t, "/proc/self/cgroup")) {
		if h.isVersion2 {
			// Without its controllers, version 2 still has cgroup.kill.
			tests["version 2"] = &CgroupTree{memoryController: cgroupController{dir: h.mount, isVersion2: true}}
		}
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			g, err := c.NewGroup("warpboard-test-"+rand.Text(), 0, 0)
			if err != nil {
				t.Fatal(err)
			}
			var started []*exec.Cmd
			for range 3 {
				cmd := exec.Command("/bin/sleep", "1000")
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				started = append(started, cmd)
				if err := g.AddProcess(cmd.Process.Pid); err != nil {
					t.Fatal(err)
				}
			}
			tier.WaitFor(t, "processes that sleep", func() error {
				if before := g.progress(); before == "" || before != g.progress() {
					return errors.New("one runs")
				}
				return nil
			})
			busy := exec.Command("/bin/sh", "-c", "while :; do :; done")
			if err := busy.Start(); err != nil {
				t.Fatal(err)
			}
			started = append(started, busy)
			if err := g.AddProcess(busy.Process.Pid); err != nil {
				t.Fatal(err)
			}
			asleep := g.progress()
			tier.WaitFor(t, "a process that runs", func() error {
				if asleep == g.progress() {
					return errors.New("none runs")
				}
				return nil
			})
			if !g.Kill(time.Now().Add(5 * time.Second)) {
				t.Error("processes are left")
			}
			for _, cmd := range started {
				if err := cmd.Wait(); err == nil || err.Error() != "signal: killed" {
					t.Errorf("a process ended with: %v", err)
				}
			}
			if err := g.Remove(); err != nil {
				t.Error(err)
			}
			for _, dir := range g.groupDirs() {
				if _, err := os.Stat(dir); !os.IsNotExist(err) {
					t.Errorf("%s is left: %v", dir, err)
				}
			}
		})
	}
}

// TestAGroupThatTheKernelKeepsGoesWithTheNextOne checks that a group's directory that cannot be deleted yet, because a
// process is in it, is deleted when the next group is created.
func TestAGroupThatTheKernelKeepsGoesWithTheNextOne(t *testing.T) {
	c, err := findCgroupTree()
	if err != nil {
		t.Fatal(err)
	}
	kept, err := c.NewGroup("warpboard-test-"+rand.Text(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	sleeper := exec.Command("/bin/sleep", "1000")
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(kept.AddProcess(sleeper.Process.Pid), kept.Remove()); err != nil {
		t.Error(err)
	}
	if len(c.undeleted.dirs) != len(kept.groupDirs()) {
		t.Errorf("kept are %v", c.undeleted.dirs)
	}
	_ = sleeper.Process.Kill()
	_ = sleeper.Wait()
	next, err := c.NewGroup("warpboard-test-"+rand.Text(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := next.Remove(); err != nil {
		t.Error(err)
	}
	for _, dir := range kept.groupDirs() {
		if _, err := os.Stat(dir); !os.IsNotExist(err) {
			t.Errorf("%s is left: %v", dir, err)
		}
	}
}
