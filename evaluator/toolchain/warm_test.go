package toolchain

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/internal/test/tier"
)

// whoEval prints the process that serves the stage.
const whoEval = `
import os
print("served by", os.getppid())
with os.fdopen(int(os.environ["POPCORN_FD"]), "w") as pipe:
    print("check: pass", file=pipe)
`

func TestWarmRunnerServesOneJobOnly(t *testing.T) {
	b, spy := newSpiedBuilder(t)
	keepWarm(t, b)
	a, _ := mustBuild(t, b, bundle(whoEval))
	for range 2 {
		p := mustOpen(t, b, a)
		before := runners(spy)
		for range 3 {
			if r := runStage(t, p, StageRequest{Mode: "test"}, 0); r.status != job.StatusPass {
				t.Fatalf("got %s: %s\n%s", r.status, r.failure.Reason, r.outcome.Stderr)
			}
		}
		if !p.IsWarm() || runners(spy) != before {
			t.Errorf("warm %v; %d runners were started for the job's three stages", p.IsWarm(), runners(spy)-before)
		}
		p.Close()
	}
	if n := runners(spy); n < 2 {
		t.Errorf("two jobs shared %d runner", n)
	}
}

// runners counts the warm processes started so far.
func runners(spy *spyRunner) int {
	n := 0
	for _, spec := range spy.specs() {
		if len(spec.Argv) > 1 && spec.Argv[1] == "/in/warm.py" {
			n++
		}
	}
	return n
}

// importedEval reports whether its process had torch before it imported the submission.
const importedEval = `
import os, sys
before = "torch" in sys.modules
import submission
with os.fdopen(int(os.environ["POPCORN_FD"]), "w") as pipe:
    print(f"before: {before}", file=pipe)
`

// TestTorchIsImportedOnceForAJobOfTheCPUThatImportsIt also covers a waiting Python that has not imported torch.
func TestTorchIsImportedOnceForAJobOfTheCPUThatImportsIt(t *testing.T) {
	tier.Needs(t, tier.Torch)
	b, spy := newSpiedBuilder(t)
	keepWarm(t, b)
	for _, tt := range []struct {
		submission, want string
	}{
		{"import torch\n", "before: True\n"},
		{"def f():\n    import torch\n", "before: False\n"},
	} {
		j := bundle(importedEval)
		j.Sources["submission.py"] = []byte(tt.submission)
		a, _ := mustBuild(t, b, j)
		p := mustOpen(t, b, a)
		var before int
		for stage := range 2 {
			var pipe strings.Builder
			out, err := p.RunStage(t.Context(),
				StageRequest{Mode: "test", Timeout: time.Minute, OnResultPipe: func(b []byte) { pipe.Write(b) }})
			if err != nil || pipe.String() != tt.want {
				t.Errorf("%q, stage %d: %q, want %q; %v\n%s", tt.submission, stage, pipe.String(), tt.want, err,
					out.Stderr)
			}
			if stage == 0 {
				before = runners(spy)
			} else if runners(spy) != before {
				t.Errorf("%q: %d runners for two stages", tt.submission, runners(spy))
			}
		}
		p.Close()
	}
}

// capability prints torch's answer about the CPU's instruction set.
const capability = `
import os, torch
said = [line.strip() for line in torch.__config__.show().splitlines() if "CPU capability" in line]
with os.fdopen(int(os.environ.get("POPCORN_FD", 1)), "w") as pipe:
    print(*said, file=pipe)
`

// TestTorchUsesTheInstructionsThatItUsesOutside checks that torch uses AVX in the sandbox, although there is no
// /proc/cpuinfo.
func TestTorchUsesTheInstructionsThatItUsesOutside(t *testing.T) {
	tier.Needs(t, tier.Torch)
	b := newBuilder()
	want, err := exec.CommandContext(t.Context(), b.cfg.Toolchain.Python.Path, "-c", capability).Output()
	if err != nil || !strings.Contains(string(want), "capability") {
		t.Fatalf("%q, %v", want, err)
	}
	a, _ := mustBuild(t, b, bundle(capability))
	var got strings.Builder
	out, err := mustOpen(t, b, a).RunStage(t.Context(),
		StageRequest{Mode: "test", Timeout: time.Minute, OnResultPipe: func(b []byte) { got.Write(b) }})
	if err != nil || got.String() != string(want) {
		t.Errorf("%q inside, %q outside; %v\n%s", got.String(), want, err, out.Stderr)
	}
}

func TestRunnerThatDiedIdleIsReplaced(t *testing.T) {
	b := newBuilder()
	keepWarm(t, b)
	r := b.warmPythons.TakeMatching(t.Context(), b.warmPythonSpec(cpu(), false))
	if r == nil {
		t.Fatal("no runner came")
	}
	r.Stop()
	a, _ := mustBuild(t, b, bundle(whoEval))
	if r := runStage(t, mustOpen(t, b, a), StageRequest{Mode: "test"}, 0); r.status != job.StatusPass {
		t.Errorf("got %s: %s", r.status, r.failure.Reason)
	}
}

func TestJobWithMoreDevicesGetsNoRunnerOfOneSlot(t *testing.T) {
	b := newBuilder()
	keepWarm(t, b)
	two, one, less := cpu(), cpu(), cpu()
	less.MemoryLimit = 128 << 20 // less memory than the waiting Python has
	two.DeviceNodes = []string{"/dev/null", "/dev/zero"}
	one.GPUCount = 1 // for a multi-GPU task, whose programs may list network interfaces
	for _, place := range []Environment{two, one, less} {
		if r := b.warmPythons.TakeMatching(t.Context(), b.warmPythonSpec(place, false)); r != nil {
			r.Stop()
			t.Errorf("a runner of another place was taken for %+v", place)
		}
	}
}

func TestOnlyARunnerThatWaitsIsOpenedWithoutWaiting(t *testing.T) {
	b := newBuilder()
	a, _ := mustBuild(t, b, bundle(whoEval))
	if p := b.OpenReady(a, cpu()); p != nil {
		p.Close()
		t.Fatal("a program was opened where no runner is kept")
	}
	keepWarm(t, b)
	var p Program
	for deadline := time.Now().Add(tier.Patience()); p == nil &&
		time.Now().Before(deadline); p = b.OpenReady(a, cpu()) {
		<-time.After(10 * time.Millisecond)
	}
	if p == nil {
		t.Fatal("the runner was never ready")
	}
	defer p.Close()
	if r := runStage(t, p, StageRequest{Mode: "test"}, 0); r.status != job.StatusPass || !p.IsWarm() {
		t.Errorf("got %s: %s\n%s", r.status, r.failure.Reason, r.outcome.Stderr)
	}
}

func TestWithoutWarmRunnerStagesRunCold(t *testing.T) {
	b := newBuilder()
	a, _ := mustBuild(t, b, bundle(whoEval))
	p := mustOpen(t, b, a)
	// An interpreter that exits at once stands for a runner that cannot start.
	broken := *b.cfg.Toolchain.Python
	cold := p.(*pythonProgram).spec(StageRequest{Mode: "test"})
	broken.Path = "/usr/bin/false"
	b.cfg.Toolchain.Python = &broken
	out, err := p.RunStage(t.Context(), StageRequest{Mode: "test", Timeout: time.Minute})
	if err != nil || out.ExitCode != 1 {
		t.Errorf("got %+v, %v; want the exit code of the interpreter itself", out, err)
	}
	if len(cold.Argv) != 4 || !strings.HasSuffix(strings.Join(cold.Argv[1:], " "), "eval.py test cases.txt") {
		t.Errorf("cold command: %q", cold.Argv)
	}
}

// compilingSubmission stands for a submission that calls load_inline: it takes its product from the extension
// directory, or makes it.
const compilingSubmission = `
import os
path = os.path.join(os.environ["TORCH_EXTENSIONS_DIR"], "py312_cu130", "mine", "mine.so")
found = os.path.exists(path) and os.stat(path).st_mtime_ns
if not found:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    open(path, "w").close()
    os.utime(path, ns=(1, 1700000000123456789))
answer = found
`

const extensionEval = `
import os
from submission import answer
with os.fdopen(int(os.environ["POPCORN_FD"]), "w") as pipe:
    print(f"found: {answer}\ncheck: pass", file=pipe)
`

func TestExtensionsAreCompiledOnceAndKept(t *testing.T) {
	b, spy := newSpiedBuilder(t)
	j := bundle(extensionEval)
	j.Sources["submission.py"] = []byte("# load_inline\n" + compilingSubmission)
	for try, cached := range []bool{false, true} {
		before := len(spy.specs())
		a, result := mustBuild(t, b, j)
		if want := map[bool]int{false: 2, true: 1}[cached]; result.FromCache != cached || len(spy.specs())-before != want {
			t.Errorf("try %d: cached %v, %d commands", try, result.FromCache, len(spy.specs())-before)
		}
		p := mustOpen(t, b, a)
		for name, program := range map[string]Program{"warm": p, "cold": coldProgram{p, b}} {
			var pipe strings.Builder
			out, err := program.RunStage(t.Context(),
				StageRequest{Mode: "test", Timeout: time.Minute, OnResultPipe: func(b []byte) { pipe.Write(b) }})
			if err != nil {
				t.Fatal(err)
			}
			if want := "found: 1700000000123456789\ncheck: pass\n"; pipe.String() != want {
				t.Errorf("try %d, %s: got %q, want %q\n%s", try, name, pipe.String(), want, out.Stderr)
			}
		}
	}
}

// TestExtensionsThatAreTooLargeAreNotKept checks that no submission fills the worker's memory with its archive.
func TestExtensionsThatAreTooLargeAreNotKept(t *testing.T) {
	b, _ := newSpiedBuilder(t)
	j := bundle(extensionEval)
	j.Sources["submission.py"] = []byte("# load_inline\n" + compilingSubmission + "os.truncate(path, 65 << 20)\n")
	a, result := mustBuild(t, b, j)
	if len(a.extensionArchives) > 0 || !strings.Contains(result.Stderr, "at most 67108864 are taken") {
		t.Errorf("%d archives are kept; the build says %q", len(a.extensionArchives), result.Stderr)
	}
}

// poolCompiles has a worker of a spawn pool print whether it compiles extensions like the process that opened the pool.
// The module stands for torch's.
const poolCompiles = `
import multiprocessing, os, sys
def changed(_):
    from torch.utils import cpp_extension
    return hasattr(cpp_extension, "_warpboard")
if __name__ == "__main__":
    os.makedirs("torch/utils")
    for name, text in (("__init__", ""), ("utils/__init__", ""), ("utils/cpp_extension", "def _write_ninja_file(path): pass\ndef load_inline(name): pass\n")):
        with open(f"torch/{name}.py", "w") as file:
            file.write(text)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        there = pool.apply(changed, (0,))
    with os.fdopen(int(os.environ["POPCORN_FD"]), "w") as pipe:
        print(f"here: {changed(0)}, in the pool: {there}\ncheck: pass", file=pipe)
`

// TestAPoolCompilesExtensionsAsItsParentDoes checks the settings in a process pool. An extension that a pool compiles
// in another way would be compiled again in each stage.
func TestAPoolCompilesExtensionsAsItsParentDoes(t *testing.T) {
	b := newBuilder()
	a, _ := mustBuild(t, b, bundle(poolCompiles))
	var pipe strings.Builder
	out, err := mustOpen(t, b, a).RunStage(t.Context(),
		StageRequest{Mode: "test", Timeout: time.Minute, OnResultPipe: func(b []byte) { pipe.Write(b) }})
	if err != nil {
		t.Fatal(err)
	}
	if want := "here: True, in the pool: True\ncheck: pass\n"; pipe.String() != want {
		t.Errorf("got %q, want %q\n%s", pipe.String(), want, out.Stderr)
	}
}

func TestABuildShowsHowExtensionsWereCompiled(t *testing.T) {
	b, _ := newSpiedBuilder(t)
	j := bundle(extensionEval)
	j.Sources["submission.py"] = []byte("# load_inline, with a log\n" + compilingSubmission + `
with open(os.path.join(os.path.dirname(path), "warpboard.log"), "w") as log:
    log.write("main.cpp: compiled\n")
raise SystemExit("no GPU")
`)
	// The log is shown although the import fails after the compilation.
	if _, result := mustBuild(t, b, j); result.Stdout != "mine: main.cpp: compiled\n" {
		t.Errorf("the log is %q", result.Stdout)
	}
}

func TestExtensionsOfAnEvaluationAreKeptForItsCallerAlone(t *testing.T) {
	tier.Needs(t, tier.Judge)
	b, _ := newSpiedBuilder(t)
	j := bundle(extensionEval)
	j.Sources["submission.py"] = []byte("# load_inline, of evaluations\n" + compilingSubmission)
	j.EvaluationID = "e"
	for _, try := range []struct {
		caller string
		cached bool
	}{{"key:1", false}, {"key:2", false}, {"key:1", true}, {"", false}, {"", false}} {
		j.Caller = try.caller
		if _, result := mustBuild(t, b, j); result.FromCache != try.cached {
			t.Errorf("for %q: cached %t, want %t", try.caller, result.FromCache, try.cached)
		}
	}
}
