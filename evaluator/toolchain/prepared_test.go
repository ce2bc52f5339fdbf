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

// tellingRunner says who it is and what it has, after it has done what it is asked to with the processes that wait.
const tellingRunner = `
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

asked, waiting = open("asked").read().split()
end = time.monotonic() + 20
while len(others()) != int(waiting):
    if time.monotonic() > end:
        sys.exit(f"{len(others())} wait and not {waiting}")
    time.sleep(0.01)
print("pid", os.getpid())
print("others", *others())
print("descriptors", *sorted(int(name) for name in os.listdir("/proc/self/fd")))
print("limits", [resource.getrlimit(kind) for kind in range(16)], sorted(os.sched_getaffinity(0)))
print("group", os.getpgid(0) == os.getpid(), os.getsid(0) == os.getpid(), os.environ["TRITON_CACHE_DIR"], os.getcwd(), sys.path[0], sorted(os.listdir(".")))
sys.stdout.flush()
for pid in others():
    if asked == "kill":
        os.kill(pid, signal.SIGKILL)
    elif asked == "stop":
        os.kill(pid, signal.SIGSTOP)
    elif asked == "limit":
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (77, 77))
    elif asked == "look":
        try:
            open(f"/proc/{pid}/mem", "rb")
            print("mem opened")
        except PermissionError:
            pass
if asked == "daemons":
    for _ in range(5):
        subprocess.Popen(["sleep", "600"], start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
`

// telling serves stages of tellingRunner in one program.
func telling(t *testing.T) func(asked string, waiting, prepare int) map[string]string {
	t.Helper()
	b := newBuilder()
	at := cpu()
	at.Device = []string{"/dev/null"} // as on a GPU, there is a /proc then
	j := job.Job{Sources: map[string][]byte{"judge.py": []byte(patientJudge), "runner.py": []byte(tellingRunner)},
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
	return func(asked string, waiting, prepare int) map[string]string {
		t.Helper()
		out, err := p.RunStage(t.Context(), StageRequest{Timeout: time.Minute, Prepare: prepare,
			Files: map[string][]byte{"asked": []byte(asked + " " + string(rune('0'+waiting)))}})
		if err != nil || out.ExitCode != 0 || out.Judge.ExitCode != 0 {
			t.Fatalf("%s: %+v, %+v, %v", asked, out.Outcome, out.Judge, err)
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
	for _, name := range []string{"descriptors", "limits", "group"} {
		if got[name] != want[name] {
			t.Errorf("%s: %s are %s, want %s", what, name, got[name], want[name])
		}
	}
}

func TestAStageIsServedByAProcessThatWasMadeBeforeIt(t *testing.T) {
	serve := telling(t)
	first := serve("nothing", 2, 2)
	waiting := strings.Fields(first["others"])
	if len(waiting) != 2 {
		t.Fatalf("%d wait: %v", len(waiting), first)
	}
	for n := range 2 {
		next := serve("look", 1-n, 0)
		if !slices.Contains(waiting, next["pid"]) {
			t.Errorf("stage %d was served by %s, and %v waited", n+1, next["pid"], waiting)
		}
		if next["mem"] != "" {
			t.Error("a stage can read the memory of a process that waits")
		}
		like(t, "a prepared process", next, first)
	}
	last := serve("nothing", 0, 0)
	if slices.Contains(waiting, last["pid"]) {
		t.Error("one process served two stages")
	}
	like(t, "a process that was not prepared", last, first)
}

func TestNothingThatAStageDoesToProcessesThatWaitReachesTheNext(t *testing.T) {
	serve := telling(t)
	first := serve("daemons", 2, 2)
	waiting := strings.Fields(first["others"])
	second := serve("nothing", 1, 0)
	if others := strings.Fields(second["others"]); len(others) != 1 || !slices.Contains(waiting, others[0]) {
		t.Errorf("beside the second stage there are %v, and %v waited", others, waiting)
	}
	for _, asked := range []string{"kill", "limit", "stop"} {
		before := serve(asked, 2, 2)
		left := 0
		if asked == "stop" {
			left = 1 // they go on when they are needed
		}
		like(t, "after "+asked, serve("nothing", left, 0), before)
		like(t, "then", serve("nothing", 0, 0), before)
	}
}
