package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"warpboard/evaluator/sandbox"
	"warpboard/internal/test/tier"
)

func TestProgramGetsItsArgumentsFilesAndDescriptors(t *testing.T) {
	sb := newSandbox(t)
	result, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer result.Close()
	spec := shell(`cat /in/deep/file; cat; cat /out/given/file; echo "$GREETING"; pwd; echo piped >&3
		echo changed >>/out/given/file; echo made >/out/made; echo oops >&2; exit 7`)
	spec.Files = map[string][]byte{"deep/file": []byte("from in\n")}
	spec.WritableFiles = map[string][]byte{"given/file": []byte("from given\n")}
	spec.Env = map[string]string{"GREETING": "hello"}
	spec.WorkingDir = "/out/given"
	spec.ResultPipe = write
	spec.CollectFiles = map[string]int64{"made": 100, "given/file": 100, "absent": 100}
	var seen strings.Builder
	spec.OnStdout = func(b []byte) { seen.Write(b) }
	stdin := filepath.Join(t.TempDir(), "stdin")
	if err := os.WriteFile(stdin, []byte("from stdin\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if spec.Stdin, err = os.Open(stdin); err != nil {
		t.Fatal(err)
	}
	defer spec.Stdin.Close()

	o := run(t, sb, spec)
	write.Close()

	if want := "from in\nfrom stdin\nfrom given\nhello\n/out/given\n"; o.Stdout != want || seen.String() != want {
		t.Errorf("stdout is %q, seen live %q, want %q", o.Stdout, seen.String(), want)
	}
	if o.Stderr != "oops\n" || o.ExitCode != 7 || o.Signal != "" || o.ExceededLimit != "" {
		t.Errorf("ended with code %d, signal %q, limit %q, stderr %q", o.ExitCode, o.Signal, o.ExceededLimit, o.Stderr)
	}
	piped := make([]byte, 100)
	n, _ := result.Read(piped)
	if string(piped[:n]) != "piped\n" {
		t.Errorf("the pipe held %q", piped[:n])
	}
	if got := string(o.Files["given/file"]) + string(o.Files["made"]); got != "from given\nchanged\nmade\n" {
		t.Errorf("collected %q", got)
	}
	if len(o.Files) != 2 || o.RefusedFiles["absent"] == "" {
		t.Errorf("collected %v, refused %v", o.Files, o.RefusedFiles)
	}
}

// TestRunsAreKilledBeforeTheServer checks the priority with which Linux kills a run when the machine runs out of
// memory.
func TestRunsAreKilledBeforeTheServer(t *testing.T) {
	spec := shell("cat /proc/self/oom_score_adj")
	spec.MountProc = true
	if o := run(t, newSandbox(t), spec); o.Stdout != "1000\n" {
		t.Errorf("oom_score_adj is %q, want 1000", o.Stdout)
	}
}

func TestBackgroundRunsHaveTheLowestPriority(t *testing.T) {
	spec := shell("nice; sh -c nice")
	spec.Limits.IsBackground = true
	for nice, want := range map[int]string{0: "19\n19\n", 7: "7\n7\n"} {
		sb := sandbox.New(sandbox.Config{BuildNice: nice, FirstUID: firstUID,
			RunDir: filepath.Join(t.TempDir(), "runs")})
		if o := run(t, sb, spec); o.Stdout != want {
			t.Errorf("with %d the nice values of a run and its child are %q, want %q", nice, o.Stdout, want)
		}
	}
}

// A session of its own would have the normal priority on Linux with autogroups.
func TestBackgroundRunsHaveNoOtherSession(t *testing.T) {
	spec := shell("cat /proc/self/autogroup; setsid true")
	spec.MountProc, spec.Limits.IsBackground = true, true
	o := run(t, newSandbox(t), spec)
	if o.ExitCode == 0 || !strings.Contains(o.Stderr, "Operation not permitted") {
		t.Errorf("a new session: code %d, %q", o.ExitCode, o.Stderr)
	}
	if o.Stdout != "" && !strings.HasSuffix(o.Stdout, " nice 1\n") { // empty on Linux without autogroups
		t.Errorf("the session is %q, want nice 1", o.Stdout)
	}
	spec.Limits.IsBackground = false
	if o := run(t, newSandbox(t), spec); o.ExitCode != 0 {
		t.Errorf("not in the background: code %d, %q", o.ExitCode, o.Stderr)
	}
}

// TestARunLeavesNoNamesInTheKernel covers names of absent files: the kernel caches each as 192 bytes or more.
func TestARunLeavesNoNamesInTheKernel(t *testing.T) {
	const names = 600_000
	sb := newSandbox(t)
	spec := shell("")
	spec.Argv, spec.Files = []string{"/in/names", strconv.Itoa(names)}, map[string][]byte{"names": compile(t, sb, `
#include <cstdio>
#include <cstdlib>
#include <sys/stat.h>
int main(int, char** argv) {
	struct stat found;
	char path[64];
	for (int i = 0; i < atoi(argv[1]); i++) {
		snprintf(path, sizeof path, "/usr/lib/absent-%d", i);
		stat(path, &found);
	}
}`)}
	negative := func() int {
		text, err := os.ReadFile("/proc/sys/fs/dentry-state")
		fields := strings.Fields(string(text))
		if err != nil || len(fields) < 5 {
			t.Skip("this Linux does not count them")
		}
		n, _ := strconv.Atoi(fields[4])
		return n
	}
	before := negative()
	run(t, sb, spec)
	if left := negative() - before; left > names/2 {
		t.Errorf("%d names are left of %d", left, names)
	}
}

func TestCompilersRunInTheBackground(t *testing.T) {
	if !sandbox.DefaultBuildLimits().IsBackground {
		t.Error("compilers compete with measurements for processors")
	}
	if sandbox.DefaultRunLimits().IsBackground {
		t.Error("timed programs yield to everything")
	}
}

func TestMountsAreReadOnlyAndMayLieWhereOnlyRootReaches(t *testing.T) {
	sb := newSandbox(t)
	dir := filepath.Join(t.TempDir(), "private")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	cache := filepath.Join(dir, "cache")
	if err := os.Mkdir(cache, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(cache, "object"), []byte("cached"), 0o644); err != nil {
		t.Fatal(err)
	}
	// The permissions allow everyone to write, so that only the read-only mount prevents it.
	if err := errors.Join(os.Chmod(cache, 0o777), os.Chmod(filepath.Join(cache, "object"), 0o666)); err != nil {
		t.Fatal(err)
	}
	spec := shell("cat /cache/object /one; echo x >>/cache/object; echo x >>/one; touch /cache/new; ls /absent")
	spec.Mounts = []sandbox.Mount{
		{HostPath: cache, InsidePath: "/cache"},
		{HostPath: filepath.Join(cache, "object"), InsidePath: "/one"},
		{HostPath: filepath.Join(dir, "none"), InsidePath: "/absent", Optional: true},
	}
	o := run(t, sb, spec)
	if o.Stdout != "cachedcached" || strings.Count(o.Stderr, "Read-only file system") != 3 {
		t.Errorf("stdout %q, stderr %q", o.Stdout, o.Stderr)
	}
	spec.Mounts = []sandbox.Mount{{HostPath: filepath.Join(dir, "none"), InsidePath: "/x"}}
	if _, err := sb.Run(context.Background(), spec); err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("a missing mount gave the error %v", err)
	}
}

func TestProgramSeesNoDescriptorOfTheServer(t *testing.T) {
	sb := newSandbox(t)
	// The descriptor is not marked close-on-exec, like one that a C library opens.
	leak, err := openInheritable("/etc/hostname")
	if err != nil {
		t.Fatal(err)
	}
	defer leak.Close()
	spec := shell(
		"for fd in /proc/self/fd/*; do readlink $fd; done; for fd in 0 1 2 3 4; do test -e /proc/self/fd/$fd && echo $fd; done")
	spec.MountProc = true
	o := run(t, sb, spec)
	for _, word := range strings.Fields(o.Stdout) {
		if !strings.HasPrefix(word, "/dev/null") && !strings.HasPrefix(word, "pipe:") &&
			!strings.HasPrefix(word, "/proc") && len(word) > 1 {
			t.Errorf("a program has a descriptor of %s:\n%s", word, o.Stdout)
		}
	}
	if n := strings.Count(o.Stdout, "pipe:"); n != 2 {
		t.Errorf("a program has %d pipes, want its stdout and stderr:\n%s", n, o.Stdout)
	}
}

func TestCancelKillsTheRunAndKeepsItsOutput(t *testing.T) {
	sb := newSandbox(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	spec := shell("trap '' TERM; echo begun; sleep 1000 & sleep 1000")
	spec.OnStdout = func([]byte) { cancel() }
	o, err := sb.Run(ctx, spec)
	if err != nil {
		t.Fatal(err)
	}
	if !o.Cancelled || o.ExceededLimit != "" || o.Stdout != "begun\n" || o.ExitCode != -1 {
		t.Errorf("outcome %+v", o)
	}
	if _, err := sb.Run(ctx, spec); err == nil {
		t.Error("a run was started under a context that had ended")
	}
}

func TestARunReadsItsStdinAndEndsWhenItIsCancelled(t *testing.T) {
	sb := newSandbox(t)
	in, work, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	spec := shell("read line; echo got $line; sleep 1000")
	spec.Stdin, spec.Limits.WallTime = in, 0
	got := make(chan struct{})
	spec.OnStdout = func([]byte) { close(got) }
	ctx, cancel := context.WithCancel(t.Context())
	p, err := sb.Start(ctx, spec)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(work, "work")
	work.Close()
	<-got
	cancel()
	o, err := p.Wait()
	if err != nil || !o.Cancelled || o.ExceededLimit != "" || o.Stdout != "got work\n" {
		t.Errorf("outcome %+v, error %v", o, err)
	}
}

func TestSandboxCostsLittle(t *testing.T) {
	tier.Needs(t, tier.Timed)
	sb := newSandbox(t)
	run(t, sb, shell(":"))
	best := time.Hour
	for range 10 {
		begun := time.Now()
		run(t, sb, shell(":"))
		best = min(best, time.Since(begun))
	}
	t.Logf("a run of an empty program takes %s", best)
	if best > 60*time.Millisecond {
		t.Errorf("a run of an empty program takes %s", best)
	}
}

func TestRunsOfOneSlotAtTheSameTimeDoNotMeet(t *testing.T) {
	sb := newSandbox(t)
	in, hold, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	first := shell(
		"echo secret-4711 >/tmp/own; echo secret-4711 >/out/own; echo secret-4711 >/dev/shm/own; echo ready; cat")
	first.Files = map[string][]byte{"own": []byte("secret-4711")}
	first.Stdin = in
	ready := make(chan struct{})
	first.OnStdout = func([]byte) { close(ready) }
	p, err := sb.Start(context.Background(), first)
	if err != nil {
		t.Fatal(err)
	}
	<-ready
	second := shell(
		"ls /proc | grep -c '^[0-9]'; grep -rs secret-4711 /tmp /out /in /dev/shm /etc /proc/[0-9]*/root/out /proc/[0-9]*/environ; kill -9 -1; echo alive")
	second.MountProc = true
	o := run(t, sb, second)
	// Only PID 1, the shell, ls, and grep exist.
	if lines := strings.Fields(o.Stdout); o.Signal != "SIGKILL" && (len(lines) != 2 || lines[0] > "4") {
		t.Errorf("the second run saw %q", o.Stdout)
	}
	if strings.Contains(o.Stdout, "4711") {
		t.Errorf("the second run read the first one's files: %q", o.Stdout)
	}
	hold.Close()
	if o, err := p.Wait(); err != nil || o.ExitCode != 0 {
		t.Errorf("the first run was harmed: %+v, %v", o, err)
	}
}

func TestSandboxThatCannotBeMadeSaysWhy(t *testing.T) {
	sb := newSandbox(t)
	for range 10 {
		spec := shell("echo ran")
		spec.DeviceNodes = []string{"/dev/no-such-device"}
		if o, err := sb.Run(context.Background(), spec); err == nil ||
			!strings.Contains(err.Error(), "no-such-device") {
			t.Fatalf("outcome %+v, error %v", o, err)
		}
		assertUnharmed(t, sb, 0)
	}
	beyond := shell("echo ran")
	beyond.SandboxSlot = 1000
	if o, err := sb.Run(context.Background(), beyond); err == nil || !strings.Contains(err.Error(), "fewer slots") {
		t.Errorf("a slot with another server's user: %+v, %v", o, err)
	}
	o := run(t, sb, sandbox.Spec{Argv: []string{"/no/such/program"}, Limits: limits()})
	if o.ExitCode != 127 || !strings.Contains(o.Stderr, "/no/such/program") {
		t.Errorf("outcome %+v", o)
	}
}
