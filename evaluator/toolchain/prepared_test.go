package toolchain

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/evaluator/sandbox"
	"warpboard/internal/test/tier"
	"warpboard/tasks"
)

// countingDriver stands for the CUDA driver: it counts the contexts of its process, and opens a file with each, as the
// driver does.
const countingDriver = `
#include <fcntl.h>
#include <unistd.h>
static int made = 0, file = -1;
extern "C" int cuInit(unsigned) { return 0; }
extern "C" int cuDevicePrimaryCtxRetain(void**, int) { file = open("/dev/zero", O_RDONLY); return made++; }
extern "C" int contexts() { char c = 1; return made && (read(file, &c, 1) != 1 || c) ? -1 : made; }
`

// preparedRunner prints its user, the contexts of its process, what it finds of its caller, and its open descriptors
// below those of a context.
const preparedRunner = `
import ctypes, os, socket, sys
end = socket.socket(fileno=4)
end.recv(2)
contexts = ctypes.CDLL("libcuda.so.1").contexts()
def is_open(number):
    try:
        return bool(os.fstat(number))
    except OSError:
        return False
low = [number for number in range(64) if is_open(number)]
found = sorted(os.listdir("/tmp/cache/torch_extensions")) if os.path.isdir("/tmp/cache/torch_extensions") else []
end.send(f"{os.getuid()} {contexts} {sys.argv[1]} {os.environ.get('POPCORN_FD')} {os.path.exists('/tmp/left')} {low} {found}".encode())
open("/tmp/left", "w").close()
end.recv(1)
multiprocessing = "POOLS"
`

const forwardingJudge = `
import os, socket
door = socket.socket(fileno=4)
_, descriptors, _, _ = socket.recv_fds(door, 4, 3)
end = socket.socket(fileno=descriptors[0])
end.send(b"go")
os.write(3, end.recv(1000))
`

// TestTheNextProcessIsPrepared: from a place's second process on, a context exists before the stage begins, and nothing
// else differs. A script with pools gets a new process. Programs of one person alternate between two users.
func TestTheNextProcessIsPrepared(t *testing.T) {
	driver := t.TempDir()
	if err := os.Chmod(driver, 0o755); err != nil {
		t.Fatal(err)
	}
	compile := exec.Command("g++", "-shared", "-fPIC", "-x", "c++", "-", "-o", filepath.Join(driver, "libcuda.so.1"))
	compile.Stdin = strings.NewReader(countingDriver)
	if out, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	b, at := newBuilder(), cpu()
	at.AlternateSlots, at.Env = []int{9}, map[string]string{"LD_LIBRARY_PATH": "/driver"}
	at.Mounts = []sandbox.Mount{{HostPath: driver, InsidePath: "/driver"}}
	second, _ := at.AlternatePlace()
	go b.KeepWarm(t.Context(), second, 1)
	build := func(runner string) *Artifact {
		t.Helper()
		j := job.Job{Sources: map[string][]byte{"judge.py": []byte(forwardingJudge), "runner.py": []byte(runner)},
			Task: tasks.Definition{Form: tasks.FormEval, Lang: tasks.LangPython, OwnHarness: true, Config: tasks.Config{Main: "judge.py"}}}
		a, result, err := b.Build(t.Context(), BuildRequest{Job: j, Place: at, RunnerScript: "runner.py"})
		if err != nil || a == nil {
			t.Fatalf("%+v, %v", result, err)
		}
		return a
	}
	plain := build(strings.ReplaceAll(preparedRunner, "multiprocessing", "plain"))
	pools := build(preparedRunner)
	p, err := b.Open(t.Context(), plain, at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	stage := func() []string {
		t.Helper()
		var message strings.Builder
		end, err := p.RunStage(t.Context(), StageRequest{
			Mode: "test", Timeout: 30 * time.Second, Processes: []Process{{Arguments: []string{"mine"}}}, OnPipe: func(b []byte) { message.Write(b) }})
		user, rest, ok := strings.Cut(message.String(), " ")
		if err != nil || !ok || end.ExitCode != 0 {
			t.Fatalf("%q; %+v, judge %+v, %v", message.String(), end.Outcome, end.Judge, err)
		}
		return []string{user, rest}
	}
	next := func(a *Artifact) {
		t.Helper()
		before := p
		if p = p.Next(a); p == nil {
			t.Fatal("the Pythons were not handed over")
		}
		before.Close()
	}
	const same = " mine None False [0, 1, 2, 3, 4, 5] []"
	want := func(what, context, user string) {
		t.Helper()
		if got := stage(); got[1] != context+same || (user != "" && got[0] != user) {
			t.Errorf("%s: %q, want %q and user %q", what, got, context+same, user)
		}
	}
	first := stage()
	if first[1] != "0"+same {
		t.Errorf("the first stage: %q, want %q", first[1], "0"+same)
	}
	want("the second stage", "1", first[0])
	want("the third stage", "1", first[0])
	next(pools)
	tier.WaitFor(t, "a program of another user", func() error {
		if next(pools); stage()[0] == first[0] {
			return errors.New("it is the same")
		}
		return nil
	})
	next(pools)
	if got := stage(); got[0] != first[0] || !strings.HasPrefix(got[1], "0 mine ") {
		t.Errorf("a script with pools: %q, want no context, and user %q", got, first[0])
	}
	next(plain)
	want("the other user's program", "1", "")
	next(plain)
	want("the first user's program", "1", first[0])
}
