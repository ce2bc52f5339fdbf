package sandbox

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"warpboard/evaluator/sandbox/sandboxtest"
)

// ServerAtGate is a server with a program at its gate, which waits to be killed. It prints the PID of the waiting
// process.
func ServerAtGate(config Config) error {
	s := New(config)
	h, err := s.setUpOnce()
	if err != nil {
		return err
	}
	p := &Process{spec: Spec{Argv: sleeping(config.FirstUID)}, outputMeter: newOutputMeter(1 << 20), pidfd: -1}
	failed := make(chan error)
	runOnNewThread(func() {
		name, uid := newRunName(), s.userID(h, 0)
		if p.runArea, err = s.newRunArea(h, name, uid, &p.spec); err != nil {
			failed <- err
		}
		if p.controlGroup, err = h.cgroups.NewGroup(name, p.spec.Limits.Memory, p.spec.Limits.Processes); err != nil {
			failed <- err
		}
		if err := p.start(h, name, uid); err != nil {
			failed <- err
		}
		if err := p.openRootProcess(); err != nil {
			failed <- err
		}
		fmt.Println(p.pid)
		select {}
	})
	return <-failed
}

// sleeping returns a program that is distinguishable from others on the machine.
func sleeping(firstUID int) []string { return []string{"/bin/sleep", fmt.Sprint(firstUID)} }

// killServerAtGate kills a server, in its own process, before it opens the gate, and returns the process that it
// leaves.
func killServerAtGate(t *testing.T, firstUID int) (left int) {
	t.Helper()
	server := exec.Command("/proc/self/exe")
	server.Env = []string{"WARPBOARD_TEST_ROLE=gate", "WARPBOARD_TEST_ROOT=" + t.TempDir(),
		fmt.Sprintf("WARPBOARD_TEST_UID=%d", firstUID), "PATH=/usr/bin:/bin"}
	server.Stderr = os.Stderr
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	if _, err := fmt.Sscan(line, &left); err != nil {
		t.Fatalf("the server has no program at its gate: %q", line)
	}
	if err := server.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = server.Wait()
	return left
}

// named returns the command line of a living process, or "".
func named(pid int) string {
	command, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return string(command)
}

// running reports whether a process has this command line.
func running(argv []string) bool {
	paths, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	return slices.ContainsFunc(paths, func(path string) bool {
		command, _ := os.ReadFile(path)
		return string(command) == strings.Join(argv, "\x00")+"\x00"
	})
}

// waitsAtGate kills a server at its gate, and checks for a moment that the program does not begin. bubblewrap's outer
// process dies with the server. Its child has no parent to die with yet: it waits at the gate forever.
func waitsAtGate(t *testing.T, firstUID int) (left int) {
	t.Helper()
	left = killServerAtGate(t, firstUID)
	for range 10 {
		if running(sleeping(firstUID)) {
			t.Fatal("the program runs, without limits")
		}
		time.Sleep(10 * time.Millisecond)
	}
	return left
}

func TestProgramOfAKilledServerNeverPassesItsGate(t *testing.T) {
	first := sandboxtest.FirstUID(t)
	left := waitsAtGate(t, first)
	for range 4 { // a server of another test that has just started may have killed the process
		if named(left) != "" {
			break
		}
		left = waitsAtGate(t, first)
	}
	if name := named(left); !strings.HasPrefix(name, runMarkPrefix) {
		t.Fatalf("process %d is %q, want bubblewrap's child that waits", left, name)
	}
	next := New(Config{FirstUID: first, RunDir: t.TempDir()})
	if o, err := next.Run(context.Background(), Spec{Argv: []string{"/bin/true"}}); err != nil || o.ExitCode != 0 {
		t.Errorf("the next server's first run: %+v, %v", o, err)
	}
	if name := named(left); name != "" {
		t.Errorf("process %d lives on: %q", left, name)
	}
}

func TestOnlyWhatADeadServerLeftIsEnded(t *testing.T) {
	first, other := sandboxtest.FirstUID(t), 49_999 // other: a user ID below all that tests reserve
	own := newRunName()
	dead := strings.Replace(own, "-", "-4", 1) // the PID of no process
	elsewhere := strings.Replace(dead, "-"+pidNamespace()+"-", "-1-", 1)
	tests := []struct {
		name  string
		mark  string
		uid   int
		lives bool
	}{
		{"a dead server's", dead, first, false},
		{"a dead server's last uid", dead, first + 99, false},
		{"a living server's, with the same uids", own, first, true},
		{"a dead server's with other uids", dead, other, true},
		{"of a server in another container", elsewhere, first, true},
		{"of someone else, with the same uid", "sleep", first, true},
		{"with a mark that is none", "warpboard-x", first, true},
	}
	var left []*exec.Cmd
	for _, test := range tests {
		cmd := &exec.Cmd{Path: "/bin/sleep", Args: []string{test.mark, "1000"}, Dir: "/"}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(test.uid),
			Gid: uint32(test.uid)}}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		left = append(left, cmd)
	}
	New(Config{FirstUID: first, RunDir: t.TempDir()}).killOrphans(true)
	for i, test := range tests {
		if lives := named(left[i].Process.Pid) != ""; lives != test.lives {
			t.Errorf("%s: it lives: %v", test.name, lives)
		}
	}
}

func TestCgroupThatAKilledServersProcessStillHasIsSwept(t *testing.T) {
	c, err := findCgroupTree()
	if err != nil {
		t.Fatal(err)
	}
	name := strings.Replace(newRunName(), "-", "-4", 1)
	g, err := c.NewGroup(name, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	left := exec.Command("/bin/sleep", "1000")
	if err := left.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { _ = left.Wait() }()
	if err := g.AddProcess(left.Process.Pid); err != nil {
		t.Fatal(err)
	}
	if found := cgroupsNamed(name); len(found) == 0 {
		t.Fatal("no cgroup was made: this test looks in the wrong place")
	}
	c.RemoveOrphans(isOrphaned, orphanTimeout)
	if found := cgroupsNamed(name); len(found) > 0 {
		t.Errorf("left are %v", found)
	}
}

// cgroupsNamed returns the cgroups of this name, of all controllers.
func cgroupsNamed(name string) (found []string) {
	_ = filepath.WalkDir("/sys/fs/cgroup", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Name() == name {
			found = append(found, path)
		}
		return nil // ignores cgroups that disappear during the walk
	})
	return found
}

// TestTheGateNeverTimesOut checks that the gate's pipe does not end before the gate is opened: bubblewrap would start
// the program at the end of the pipe, too.
func TestTheGateNeverTimesOut(t *testing.T) {
	d, err := newDescriptors(&Spec{}, []byte("filter"))
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll(append(d.childFiles, d.stdout, d.stderr, d.statusReadEnd))
	gate := d.programFiles[1]
	if _, err := d.gateWriteEnd.Write([]byte("\n")); err != nil {
		t.Fatal(err)
	}
	d.gateWriteEnd.Close()
	opened := make([]byte, 2)
	if n, err := gate.Read(opened); n != 1 || err != nil {
		t.Errorf("the gate that was opened gives %d bytes, %v", n, err)
	}
	if err := gate.SetReadDeadline(time.Now().Add(20 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if _, err := gate.Read(opened); err == io.EOF {
		t.Error("the gate ends with the server")
	}
}

func TestOnlyRunsOfDeadServersAreOrphaned(t *testing.T) {
	own, space := newRunName(), "-"+pidNamespace()+"-"
	if words := strings.Count(own, "-"); words != 4 {
		t.Errorf("an older server takes %s for a run of its own", own)
	}
	tests := map[string]bool{
		own:                                false,
		strings.Replace(own, "-", "-4", 1): true, // the PID of no process
		strings.Replace(own, space, "9"+space, 1): true,  // the PID of another process, with another start time
		strings.Replace(own, space, "-1-", 1):     false, // in another PID namespace, so it may be alive
		"warpboard-4000000-17-X":                  true,  // the mark of an older version
		"warpboard-secret-1":                      false,
		"warpboard-x-1-1":                         false,
		"other-1-1-1":                             false,
	}
	for name, want := range tests {
		if got := isOrphaned(name); got != want {
			t.Errorf("orphaned(%q) = %v", name, got)
		}
	}
}
