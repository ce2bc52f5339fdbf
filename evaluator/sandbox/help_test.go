package sandbox_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"warpboard/evaluator/sandbox"
	"warpboard/internal/test/tier"
)

// firstUID is the first of this process's UIDs: other tests and a site may run concurrently.
var firstUID int

// newSandbox returns a sandbox that must have no leftovers at the end of the test.
func newSandbox(t *testing.T) *sandbox.Sandbox {
	t.Helper()
	root := filepath.Join(t.TempDir(), "runs")
	t.Cleanup(func() { assertNothingLeft(t, root) })
	return sandbox.New(sandbox.Config{BuildNice: 1, FirstUID: firstUID, RunDir: root})
}

func limits() sandbox.Limits {
	return sandbox.Limits{
		WallTime: tier.Patience(), CPU: 20 * time.Second, Memory: 512 << 20, Processes: 32, FileSize: 32 << 20,
		OpenFiles: 256, TmpBytes: 32 << 20, ShmBytes: 8 << 20, OutBytes: 8 << 20, OutputBytes: 8 << 20,
	}
}

func shell(script string) sandbox.Spec {
	return sandbox.Spec{Argv: []string{"/bin/sh", "-c", script}, Limits: limits()}
}

func run(t *testing.T, sb *sandbox.Sandbox, spec sandbox.Spec) sandbox.Outcome {
	t.Helper()
	o, err := sb.Run(context.Background(), spec)
	if err != nil {
		t.Fatalf("run %v: %v", spec.Argv, err)
	}
	return o
}

// assertUnharmed checks that an honest program still runs normally in the slot.
func assertUnharmed(t *testing.T, sb *sandbox.Sandbox, slot int) {
	t.Helper()
	spec := shell("echo fine; touch /tmp/a /out/a /dev/shm/a; ls /out /in")
	spec.SandboxSlot = slot
	if o := run(t, sb, spec); o.ExitCode != 0 || o.ExceededLimit != "" || o.Stdout != "fine\n/in:\n\n/out:\na\n" {
		t.Errorf("the next run was harmed: code %d %s limit %q: %s%s", o.ExitCode, o.Signal, o.ExceededLimit, o.Stdout,
			o.Stderr)
	}
}

// assertNothingLeft checks for leftover processes, cgroups, directories, and mounts of runs.
func assertNothingLeft(t *testing.T, root string) {
	t.Helper()
	if left := processesOf(firstUID, firstUID+100); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
	if left := cgroupsOf(os.Getpid()); len(left) > 0 {
		t.Errorf("cgroups are left: %v", left)
	}
	if entries, _ := os.ReadDir(root); len(entries) > 0 {
		t.Errorf("directories are left: %v", entries)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(mounts, fmt.Appendf(nil, "uid=%d", firstUID/100)) {
		t.Errorf("mounts are left:\n%s", mounts)
	}
}

// processesOf returns the PIDs whose real UID is at least first and less than last, also dead ones that this process
// should have reaped.
func processesOf(first, last int) []int {
	living, dead := census(first, last)
	return append(living, dead...)
}

func census(first, last int) (living, dead []int) {
	paths, _ := filepath.Glob("/proc/[0-9]*/status")
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		var pid, parent, uid int
		var state string
		for line := range strings.Lines(string(b)) {
			name, value, _ := strings.Cut(line, ":")
			if into := map[string]any{"Pid": &pid, "PPid": &parent, "Uid": &uid, "State": &state}[name]; into != nil {
				_, _ = fmt.Sscan(value, into)
			}
		}
		switch {
		case uid < first || uid >= last:
		case state != "Z":
			living = append(living, pid)
		case parent == os.Getpid():
			dead = append(dead, pid)
		}
	}
	return living, dead
}

// cgroupsOf returns the names of the cgroups of the server's runs.
func cgroupsOf(server int) []string {
	var found []string
	prefix := fmt.Sprintf("warpboard-%d-", server)
	_ = filepath.WalkDir("/sys/fs/cgroup", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(entry.Name(), prefix) {
			found = append(found, path)
		}
		return nil // ignores cgroups that disappear during the walk
	})
	return found
}

// compile builds a C++ program in the sandbox, like a submission.
func compile(t *testing.T, sb *sandbox.Sandbox, source string) []byte {
	t.Helper()
	o := run(t, sb, sandbox.Spec{
		Argv:         []string{"/usr/bin/g++", "-O1", "-o", "/out/program", "/in/program.cpp"},
		Files:        map[string][]byte{"program.cpp": []byte(source)},
		Limits:       sandbox.DefaultBuildLimits(),
		CollectFiles: map[string]int64{"program": 16 << 20},
	})
	if o.ExitCode != 0 || o.Files["program"] == nil {
		t.Fatalf("compiler ended with code %d %s %s: %s%v", o.ExitCode, o.Signal, o.ExceededLimit, o.Stderr,
			o.RefusedFiles)
	}
	return o.Files["program"]
}
