package toolchain

import (
	"errors"
	"fmt"
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

// countingDriver stands for the CUDA driver: it counts the contexts of its process and their connections to the device,
// and opens a file with each context, as the driver does.
const countingDriver = `
#include <fcntl.h>
#include <unistd.h>
#include <stdlib.h>
static int made = 0, file = -1, connected = 8;
extern "C" int cuInit(unsigned) {
    if (const char* most = getenv("CUDA_DEVICE_MAX_CONNECTIONS")) connected = atoi(most);
    return 0;
}
extern "C" int connections() { return made ? connected : 0; }
extern "C" int cuDevicePrimaryCtxRetain(void**, int) { file = open("/dev/zero", O_RDONLY); return made++; }
extern "C" int contexts() { char c = 1; return made && (read(file, &c, 1) != 1 || c) ? -1 : made; }
`

// preparedRunner prints its user ID, the number of CUDA contexts of its process, data that its caller left, its open
// descriptors below those of a context, the compiled kernels that it finds, and the other processes of its sandbox.
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
def is_alive(pid):
    try:
        os.kill(pid, 0)
        return True
    except OSError:
        return False
beside = [pid for pid in range(1, 500) if is_alive(pid) and pid != os.getpid()]
end.send(f"{os.getuid()} {contexts} {sys.argv[1]} {os.environ.get('POPCORN_FD')} {os.path.exists('/tmp/left')} {low} {found} {beside}".encode())
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

// rememberedRunner leaves words in its output, its error output, and the names of files.
const rememberedRunner = `
import os, socket, sys
end = socket.socket(fileno=4)
end.recv(2)
word = lambda what: "-".join(["word", "of", what])
for stream in (sys.stdout, sys.stderr):
    print(word("output") * 500, file=stream, flush=True)
for number in range(200):
    open(f"/tmp/{word('name')}{number}" + "x" * 100, "w").close()
end.send(b"left")
end.recv(1)
`

// searchingRunner searches its memory for the words that rememberedRunner left in the stage before.
const searchingRunner = `
import re, socket
end = socket.socket(fileno=4)
end.recv(2)
patterns = {"file": rb"[w]ord-of-file", "encoded file": rb"[d]29yZC1vZi1maWxl", "output": rb"[w]ord-of-output", "name": rb"[w]ord-of-name",
    "argument": rb"[w]ord-of-argument", "own argument": rb"[m]y-own-argument"}
found = set()
with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
    for line in maps.read().splitlines():
        place, rights = line.split()[:2]
        if rights.startswith("rw"):
            first, last = (int(number, 16) for number in place.split("-"))
            memory.seek(first)
            data = memory.read(last - first)
            found |= {name for name, pattern in patterns.items() if re.search(pattern, data)}
end.send(repr(found).encode())
end.recv(1)
`

// preparingPlace returns an environment whose processes load the fake CUDA driver, and its alternate environment.
func preparingPlace(t *testing.T) (at, second Environment) {
	t.Helper()
	driver := t.TempDir()
	if err := os.Chmod(driver, 0o755); err != nil {
		t.Fatal(err)
	}
	compile := exec.Command("g++", "-shared", "-fPIC", "-x", "c++", "-", "-o", filepath.Join(driver, "libcuda.so.1"))
	compile.Stdin = strings.NewReader(countingDriver)
	if out, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	at = cpu()
	at.AlternateSandboxSlots, at.Env = []int{9}, map[string]string{"LD_LIBRARY_PATH": "/driver"}
	at.DeviceNodes = []string{"/dev/null"} // with device nodes, the sandbox mounts /proc, as on a GPU
	at.Mounts = []sandbox.Mount{{HostPath: driver, InsidePath: "/driver"}}
	second, _ = at.AlternateEnvironment()
	return at, second
}

// programs runs the stages of several programs in one environment. Each program gets the Pythons of the one before.
type programs struct {
	t       *testing.T
	builder *Builder
	place   Environment
	program Program
}

// build builds a program with a runner beside a judge that forwards its message.
func (p *programs) build(runner string) *Artifact {
	p.t.Helper()
	j := job.Job{Sources: map[string][]byte{"judge.py": []byte(forwardingJudge), "runner.py": []byte(runner)},
		Task: tasks.Definition{
			Protocol:      tasks.ProtocolEval,
			Lang:          tasks.LangPython,
			HasOwnHarness: true,
			Config:        tasks.BuildConfig{MainFile: "judge.py"},
		}}
	a, result, err := p.builder.Build(p.t.Context(), BuildRequest{Job: j, Environment: p.place,
		RunnerScript: "runner.py"})
	if err != nil || a == nil {
		p.t.Fatalf("%+v, %v", result, err)
	}
	return a
}

func (p *programs) open(a *Artifact) {
	p.t.Helper()
	var err error
	if p.program, err = p.builder.Open(p.t.Context(), a, p.place); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { p.program.Close() })
}

func (p *programs) next(a *Artifact) {
	p.t.Helper()
	before := p.program
	next := before.Next(a)
	if next == nil {
		p.t.Fatal("the Pythons were not handed over")
	}
	p.program = next
	before.Close()
}

// stage runs a stage, and returns the runner's message.
func (p *programs) stage(process StageProcess) string {
	p.t.Helper()
	var message strings.Builder
	end, err := p.program.RunStage(p.t.Context(), StageRequest{
		Mode: "test", Timeout: 30 * time.Second, Processes: []StageProcess{process}, OnResultPipe: func(b []byte) { message.Write(b) }})
	if err != nil || end.ExitCode != 0 {
		p.t.Fatalf("%q; %+v, judge %+v, %v", message.String(), end.Outcome, end.JudgeOutcome, err)
	}
	return message.String()
}

// alternate runs a stage, and then one in each next program until one has another user. It returns the first stage's
// message. All messages must begin with the user ID.
func (p *programs) alternate(a *Artifact, process StageProcess) (first string) {
	p.t.Helper()
	first = p.stage(process)
	user, _, _ := strings.Cut(first, " ")
	tier.WaitFor(p.t, "a program of another user", func() error {
		if p.next(a); strings.HasPrefix(p.stage(process), user+" ") {
			return errors.New("it is the same")
		}
		return nil
	})
	return first
}

// TestTheNextProcessIsPrepared checks that a process has a CUDA context before its stage begins, and is otherwise like
// a new one. None is prepared between two stages of one program, because the judge still measures then. A script that
// uses process pools gets a new process. Programs of one person alternate between two user IDs.
func TestTheNextProcessIsPrepared(t *testing.T) {
	at, second := preparingPlace(t)
	p := &programs{t: t, builder: newBuilder(), place: at}
	go p.builder.KeepWarm(t.Context(), second, 1)
	plain := p.build(strings.ReplaceAll(preparedRunner, "multiprocessing", "plain"))
	p.open(plain)
	stage := func() (user, rest string) {
		t.Helper()
		user, rest, _ = strings.Cut(p.stage(StageProcess{Arguments: []string{"mine"}}), " ")
		return user, rest
	}
	const same = " mine None False [0, 1, 2, 3, 4, 5] [] [1, 2]"
	want := func(what, context string, users ...string) {
		t.Helper()
		if user, got := stage(); got != context+same || len(users) > 0 && user != users[0] {
			t.Errorf("%s: %q of user %q, want %q and user %q", what, got, user, context+same, users)
		}
	}
	first, _ := stage()
	want("the second stage", "0", first)
	want("the third stage", "0", first)
	p.alternate(plain, StageProcess{Arguments: []string{"mine"}})
	p.next(plain)
	want("the first user's second program", "1", first)
	want("its second stage", "0", first)
	p.next(plain)
	want("the other user's second program", "1")
	for range 3 { // leaves the Pythons of the other user ID twice, which each time prepare a process
		p.next(plain)
	}
	want("the first user's program after two without stages", "1", first)
	for _, word := range []string{"multiprocessing", "ProcessPoolExecutor"} {
		p.next(p.build(strings.ReplaceAll(preparedRunner, "multiprocessing", word)))
		if user, got := stage(); user == first || !strings.HasPrefix(got, "0 mine ") {
			t.Errorf("a script with %s: %q of user %q, want no context", word, got, user)
		}
		p.next(plain)
		want("the next program", "1", first)
	}
	p.next(plain) // prepares the process with the first user ID
	if len(pythons(t, firstUID+at.SandboxSlot)) == 0 {
		t.Error("the first user has no Python")
	}
	p.program.Close()
	if left := pythons(t, firstUID+at.SandboxSlot); len(left) > 0 {
		t.Errorf("after the end, processes of the first user are left: %v", left)
	}
}

// TestProgramsTakeTurnsAtThreePlaces has three environments: each process is prepared while programs run in the two
// others.
func TestProgramsTakeTurnsAtThreePlaces(t *testing.T) {
	at, _ := preparingPlace(t)
	at.AlternateSandboxSlots = []int{9, 10}
	p := &programs{t: t, builder: newBuilder(), place: at}
	plain := p.build(strings.ReplaceAll(preparedRunner, "multiprocessing", "plain"))
	p.open(plain)
	mine := StageProcess{Arguments: []string{"mine"}}
	p.stage(mine)
	turns := []int{at.SandboxSlot}
	for _, next := range at.AlternateEnvironments() {
		go p.builder.KeepWarm(t.Context(), next, 1)
		turns = append(turns, next.SandboxSlot)
		tier.WaitFor(t, "a program of another user", func() error {
			if p.next(plain); p.program.(*pythonProgram).environment.SandboxSlot != next.SandboxSlot {
				return errors.New("its Python is not ready")
			}
			return nil
		})
	}
	for turn := range 2 * len(turns) {
		p.next(plain)
		want := fmt.Sprint(firstUID+turns[turn%len(turns)], " 1 ")
		if got := p.stage(mine); !strings.HasPrefix(got, want) {
			t.Errorf("program %d: %q, want user and context %q", turn, got, want)
		}
	}
}

// connectedRunner prints its user ID, the number of connections of its CUDA context, and whether it finds the variable.
const connectedRunner = `
import ctypes, os, socket
end = socket.socket(fileno=4)
end.recv(2)
connections, variable = ctypes.CDLL("libcuda.so.1").connections(), os.environ.get("CUDA_DEVICE_MAX_CONNECTIONS")
end.send(f"{os.getuid()} {connections} {variable}".encode())
end.recv(1)
`

// TestAProcessForOneStreamHasOneConnection also checks that a stage with several streams does not get such a process,
// not even if another one was to be prepared since.
func TestAProcessForOneStreamHasOneConnection(t *testing.T) {
	at, second := preparingPlace(t)
	p := &programs{t: t, builder: newBuilder(), place: at}
	go p.builder.KeepWarm(t.Context(), second, 1)
	a := p.build(connectedRunner)
	p.open(a)
	one, several := StageProcess{UsesOneStream: true}, StageProcess{}
	p.alternate(a, one)
	type program struct {
		process StageProcess
		want    string // connections
		idle    int    // programs without a stage before it
	}
	programs := []program{{one, "1", 0}, {several, "0", 0}, {several, "0", 0}}
	for range 16 { // eight for each of the two users: none is prepared for one stream soon after several
		programs = append(programs, program{one, "8", 0})
	}
	// The second user's last but one program is prepared for one stream, and then the first user's last one for several.
	programs = append(programs, program{one, "1", 0}, program{one, "1", 0}, program{several, "0", 0},
		program{several, "0", 2})
	for number, program := range programs {
		for range program.idle + 1 {
			p.next(a)
		}
		if _, got, _ := strings.Cut(p.stage(program.process), " "); got != program.want+" None" {
			t.Errorf("program %d: %s, want %s connections and no variable", number, got, program.want)
		}
	}
}

// TestARunnerRunsNoExitFunctions checks that nothing delays the end of a runner, and that a script without a judge ends
// as in an interpreter.
func TestARunnerRunsNoExitFunctions(t *testing.T) {
	const ending = "\nimport atexit\natexit.register(print, 'the', 'end', flush=True)\nprint('begin')\n"
	at, _ := preparingPlace(t)
	p := &programs{t: t, builder: newBuilder(), place: at}
	p.open(p.build(connectedRunner))
	for _, tt := range []struct {
		runner       string
		withoutJudge bool
		want         string
	}{{connectedRunner + ending, false, "begin\n"}, {ending, true, "begin\nthe end\n"}} {
		p.program.(*pythonProgram).artifact = p.build(tt.runner)
		end, err := p.program.RunStage(t.Context(), StageRequest{
			Mode: "test", Timeout: 30 * time.Second, Processes: []StageProcess{{}}, WithoutJudge: tt.withoutJudge})
		if err != nil || end.ExitCode != 0 || end.Stdout != tt.want {
			t.Errorf("without a judge %v: %+v, %v", tt.withoutJudge, end, err)
		}
	}
}

// rehearsedRunner reports what its function prepare has left in a module, and the module's text.
const rehearsedRunner = `
import os, socket, sys
import helper
def prepare(word):
    helper.words.append(f"{word} of {os.getpid()}, {sorted(os.listdir(os.path.dirname(helper.__file__)))[:1]}")
    sys.exit("which ends nothing")
if __name__ == "__main__":
    end = socket.socket(fileno=4)
    end.recv(2)
    own = [word.replace(str(os.getpid()), "mine") for word in helper.words]
    end.send(f"{os.getuid()} {own} {helper.version} {helper.__file__} {sys.path[:2]}".encode())
    end.recv(1)
`

// TestThePreparedProcessHasImportedItsProgram also checks that a program with other modules does not get them.
func TestThePreparedProcessHasImportedItsProgram(t *testing.T) {
	at, second := preparingPlace(t)
	p := &programs{t: t, builder: newBuilder(), place: at}
	go p.builder.KeepWarm(t.Context(), second, 1)
	old, changed := p.build(rehearsedRunner), p.build(rehearsedRunner)
	old.sources.Files["helper.py"] = []byte("words, version = [], 'old'\n")
	changed.sources.Files["helper.py"] = []byte("words, version = [], 'changed'\n")
	p.open(old)
	process := StageProcess{PrepareArguments: []string{"word"}}
	first := p.alternate(old, process)
	if _, rest, _ := strings.Cut(first, " "); !strings.HasPrefix(rest, "[] old /tmp/job/helper.py ") {
		t.Fatalf("the first stage found %q", first)
	}
	for _, c := range []struct {
		a    *Artifact
		want string
	}{{old, strings.Replace(first, "[]", "[\"word of mine, ['helper.py']\"]", 1)}, {changed, strings.Replace(first, "old", "changed", 1)}} {
		p.next(c.a)
		if got := p.stage(process); got != c.want {
			t.Errorf("found %q, want %q", got, c.want)
		}
		p.next(old)
		p.stage(process)
	}
	p.next(old)
	if got := p.stage(StageProcess{NeedsNewProcess: true}); got != first {
		t.Errorf("a process that must be new found %q, want %q", got, first)
	}
}

// TestAStageFindsNothingOfTheLastInItsMemory checks forks of one warm process. A kernel could otherwise find the source
// of its reference, which ran there before.
func TestAStageFindsNothingOfTheLastInItsMemory(t *testing.T) {
	at, second := preparingPlace(t)
	p := &programs{t: t, builder: newBuilder(), place: at}
	go p.builder.KeepWarm(t.Context(), second, 1)
	remembered, searching := p.build(rememberedRunner), p.build(searchingRunner)
	p.open(remembered)
	remember := StageProcess{
		Arguments: []string{"word-of-argument"},
		Files:     map[string][]byte{"secret": []byte(strings.Repeat("word-of-file", 300))},
	}
	search := func(what string) {
		t.Helper()
		if got := p.stage(StageProcess{Arguments: []string{"my-own-argument"}}); got != "{'own argument'}" {
			t.Errorf("%s found %s", what, got)
		}
	}
	p.stage(remember)
	own := *p.program.(*pythonProgram)
	p.program.(*pythonProgram).artifact = searching
	search("a stage")
	tier.WaitFor(t, "a program of the first user that is prepared", func() error {
		p.next(remembered)
		if p.program.(*pythonProgram).environment.SandboxSlot == own.environment.SandboxSlot {
			return errors.New("it does not alternate")
		}
		return nil
	})
	p.next(remembered)
	p.stage(remember)
	p.next(searching)
	p.next(searching)
	search("a prepared stage")
}
