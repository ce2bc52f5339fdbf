package toolchain

import (
	"slices"
	"strings"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/tasks"
)

// patientJudge waits until nothing of its runner is left.
const patientJudge = `
import os, socket
door = socket.socket(fileno=4)
_, descriptors, _, _ = socket.recv_fds(door, 4, 3)
while os.read(descriptors[2], 1):
    pass
`

// obedientRunner says who it is and what it has, and then does what its stage is told.
const obedientRunner = `
import os, resource, signal, subprocess, sys, time

def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False

def others():
    found = [int(name) for name in os.listdir("/proc") if name.isdecimal() and int(name) not in (1, os.getpid(), os.getppid())]
    return sorted(filter(alive, found))

def settings(pid):
    return [resource.prlimit(pid, kind) for kind in range(16)], sorted(os.sched_getaffinity(pid)), os.getpriority(os.PRIO_PROCESS, pid)

print("pid", os.getpid())
print("others", *others())
print("descriptors", *sorted(int(name) for name in os.listdir("/proc/self/fd")))
print("settings", settings(0))
print("first", settings(1))
print("place", os.getpgid(0) == os.getpid(), os.getsid(0) == os.getpid(), os.environ["TRITON_CACHE_DIR"], os.getcwd(), sys.path[0], sorted(os.listdir(".")))
sys.stdout.flush()
exec(open("code").read())
`

// obeying serves stages of obedientRunner in one program, and returns what each says by its first word. change may change the place.
func obeying(t *testing.T, change func(*Place)) func(code string, prepare int) map[string]string {
	t.Helper()
	b := newBuilder()
	at := cpu()
	at.Device = []string{"/dev/null"} // as on a GPU, there is a /proc then
	if change != nil {
		change(&at)
	}
	j := job.Job{Sources: map[string][]byte{"judge.py": []byte(patientJudge), "runner.py": []byte(obedientRunner)},
		Task: tasks.Definition{Form: tasks.FormEval, Lang: tasks.LangPython, OwnHarness: true, Config: tasks.Config{Main: "judge.py"}}}
	a, result, err := b.Build(t.Context(), BuildRequest{Job: j, Place: at, Runner: "runner.py"})
	if err != nil || a == nil {
		t.Fatalf("%+v, %v", result, err)
	}
	p, err := b.Open(t.Context(), a, at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return func(code string, prepare int) map[string]string {
		t.Helper()
		out, err := p.RunStage(t.Context(), StageRequest{Timeout: time.Minute, Prepare: prepare, Files: map[string][]byte{"code": []byte(code)}})
		if err != nil || out.ExitCode != 0 || out.Judge.ExitCode != 0 {
			t.Fatalf("%s: %+v, %+v, %v", code, out.Outcome, out.Judge, err)
		}
		said := map[string]string{}
		for line := range strings.Lines(out.Stdout) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
			said[name] = value
		}
		return said
	}
}

// like checks that a stage found what another one did.
func like(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	for _, name := range []string{"descriptors", "settings", "first", "place"} {
		if got[name] != want[name] {
			t.Errorf("%s: %s are %s, want %s", what, name, got[name], want[name])
		}
	}
}

const lookAtOthers = `
for pid in others():
    try:
        open(f"/proc/{pid}/mem", "rb")
        print("opened", pid)
    except PermissionError:
        pass
`

func TestStagesAreServedByProcessesThatWereMadeBeforeThem(t *testing.T) {
	serve := obeying(t, nil)
	first := serve(lookAtOthers, 3)
	waiting := strings.Fields(first["others"])
	if len(waiting) != 2 {
		t.Fatalf("%d wait: %v", len(waiting), first)
	}
	for n := range 2 {
		next := serve(lookAtOthers, 3)
		if !slices.Contains(waiting, next["pid"]) || len(strings.Fields(next["others"])) != 1-n {
			t.Errorf("stage %d was served by %s beside %q, and %v waited", n+1, next["pid"], next["others"], waiting)
		}
		if next["opened"] != "" {
			t.Error("a stage can read the memory of a process that waits")
		}
		like(t, "a prepared process", next, first)
	}
	last := serve("", 3)
	if slices.Contains(waiting, last["pid"]) || last["others"] != "" {
		t.Errorf("after all have served: %v", last)
	}
	like(t, "a process that was not prepared", last, first)
}

// TestNothingThatAStageDoesToProcessesThatWaitReachesTheNext: if one of them is not as it was, all of them end.
func TestNothingThatAStageDoesToProcessesThatWaitReachesTheNext(t *testing.T) {
	for name, c := range map[string]struct {
		code string
		left int // of three that were made; the first serves the stage that does this
	}{
		"daemons": {`
for _ in range(5):
    subprocess.Popen(["sleep", "600"], start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
`, 1},
		"kill":     {"os.kill(others()[0], signal.SIGKILL)", 0},
		"stop":     {"[os.kill(pid, signal.SIGSTOP) for pid in others()]", 1},
		"limit":    {"resource.prlimit(others()[1], resource.RLIMIT_NOFILE, (77, 77))", 0},
		"priority": {"os.setpriority(os.PRIO_PROCESS, others()[1], 7)", 0},
		"affinity": {"os.sched_setaffinity(others()[0], {0})", 0},
		"bomb": {`
for _ in range(8):
    if os.fork() == 0:
        while True:
            try:
                if os.fork(): os._exit(0)
            except OSError:
                pass
`, 1},
	} {
		t.Run(name, func(t *testing.T) {
			serve := obeying(t, nil)
			before := serve(c.code, 3)
			after := serve("", 0)
			if others := strings.Fields(after["others"]); len(others) != c.left {
				t.Errorf("beside the next stage there are %v", others)
			}
			if c.left == 0 && strings.Contains(before["others"], after["pid"]) {
				t.Error("one that waited serves although another was changed")
			}
			like(t, "the next stage", after, before)
		})
	}
}

// TestTheSandboxesFirstProcessCarriesNothing: after a change the Python is spent.
func TestTheSandboxesFirstProcessCarriesNothing(t *testing.T) {
	serve := obeying(t, nil)
	before := serve("resource.prlimit(1, resource.RLIMIT_NOFILE, (77, 77)); os.setpriority(os.PRIO_PROCESS, 1, 7)", 0)
	like(t, "the next stage", serve("", 0), before)
}

func TestAStageThatLeavesItsPythonNoDescriptorsEndsIt(t *testing.T) {
	serve := obeying(t, nil)
	before := serve("resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (3, 3))", 3)
	like(t, "the next stage", serve("", 0), before)
}
