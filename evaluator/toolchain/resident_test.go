package toolchain

import (
	"context"
	"strings"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/internal/test/tier"
	"warpboard/tasks"
)

// stayingJudge prints its PID, the number of stages that it has served, and leftovers of the stage before that it
// finds. It fails if the request says so, and leaves a child process that keeps its pipes open.
const stayingJudge = `
import os, socket, sys
served = sys.modules.setdefault("served", [])
served.append(1)
door = socket.socket(fileno=4)
_, descriptors, _, _ = socket.recv_fds(door, 4, 3)
end = socket.socket(fileno=descriptors[0])
end.send(b"go")
end.recv(1)
with open("asked") as file:
    asked = file.read()
if len(served) == 1 and os.fork() == 0:
    import signal
    signal.pause()
os.write(3, f"{os.getpid()} {len(served)} {asked} {os.path.exists('/tmp/left')} {os.environ['POPCORN_FD']}\n".encode())
print("printed", asked)
open("/tmp/left", "w").close()
for fd in descriptors:
    os.close(fd) if fd != descriptors[0] else end.close()
door.close()
sys.exit(3 if asked == "fail" else 0)
`

const answeringRunner = `
import socket
end = socket.socket(fileno=4)
end.recv(2)
end.send(b"x")
end.recv(1)
`

// TestAResidentJudgeServesTheNextStage checks that each stage of a resident judge gets its own descriptors and files,
// that a failure ends the judge, and that a stage of another kind gets another process.
func TestAResidentJudgeServesTheNextStage(t *testing.T) {
	tier.Needs(t, tier.Judge)
	b := newBuilder()
	j := job.Job{Sources: map[string][]byte{"judge.py": []byte(stayingJudge), "runner.py": []byte(answeringRunner)},
		Task: tasks.Definition{Protocol: tasks.ProtocolEval, Lang: tasks.LangPython, HasOwnHarness: true,
			Config: tasks.BuildConfig{MainFile: "judge.py"}}}
	a, result, err := b.Build(t.Context(), BuildRequest{Job: j, Environment: cpu(), RunnerScript: "runner.py"})
	if err != nil || a == nil {
		t.Fatalf("%+v, %v", result, err)
	}
	p, err := b.Open(t.Context(), a, cpu())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	serve := func(asked string, resident bool) []string {
		t.Helper()
		if next := p.Next(a); next != nil {
			p.Close()
			p = next
		}
		var output strings.Builder
		out, err := p.RunStage(t.Context(), StageRequest{
			Timeout: 30 * time.Second, Files: map[string][]byte{"asked": []byte(asked)}, KeepsJudge: resident,
			OnResultPipe: func(b []byte) { output.Write(b) },
		})
		if err != nil || (out.JudgeOutcome.ExitCode == 0) == (asked == "fail") ||
			strings.TrimSpace(out.JudgeOutcome.Stdout) != "printed "+asked {
			t.Fatalf("%q: %+v, %+v, %v", asked, out.Outcome, out.JudgeOutcome, err)
		}
		return strings.Fields(output.String())
	}
	const served, asked, found = 1, 2, 3
	want := func(got []string, times, what string) string {
		t.Helper()
		if len(got) != 5 || got[served] != times || got[asked] != what || got[found] != "False" {
			t.Errorf("%q said %q", what, got)
		}
		return got[0]
	}
	first := want(serve("one", true), "1", "one")
	if second := want(serve("two", true), "2", "two"); second != first {
		t.Errorf("another process serves the second stage: %s and %s", first, second)
	}
	want(serve("other", false), "1", "other")
	want(serve("three", true), "1", "three")
	want(serve("fail", true), "2", "fail")
	want(serve("four", true), "1", "four")
}

// TestAJudgeThatStaysAndHangsIsEndedInTime checks that a resident judge that hangs is killed at its stage's time limit.
func TestAJudgeThatStaysAndHangsIsEndedInTime(t *testing.T) {
	b := newBuilder()
	j := job.Job{Sources: map[string][]byte{"judge.py": []byte("import signal; signal.pause()"),
		"runner.py": []byte(answeringRunner)},
		Task: tasks.Definition{Protocol: tasks.ProtocolEval, Lang: tasks.LangPython, HasOwnHarness: true,
			Config: tasks.BuildConfig{MainFile: "judge.py"}}}
	a, _, err := b.Build(t.Context(), BuildRequest{Job: j, Environment: cpu(), RunnerScript: "runner.py"})
	if err != nil {
		t.Fatal(err)
	}
	p, err := b.Open(context.WithoutCancel(t.Context()), a, cpu())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	out, err := p.RunStage(t.Context(), StageRequest{Timeout: time.Second, KeepsJudge: true})
	if err != nil || out.JudgeOutcome.ExceededLimit != "wall" {
		t.Errorf("%+v, %+v, %v", out.Outcome, out.JudgeOutcome, err)
	}
}

// busyJudge works for the requested number of seconds.
const busyJudge = `
import time
with open("asked") as file:
    end = time.process_time() + float(file.read())
while time.process_time() < end:
    pass
`

// TestAJudgeThatStaysGivesEachStageItsProcessorTime checks that CPU time that a resident judge used in earlier stages
// does not count against a later stage.
func TestAJudgeThatStaysGivesEachStageItsProcessorTime(t *testing.T) {
	tier.Needs(t, tier.Judge)
	b, at := newBuilder(), cpu()
	at.RunLimits.CPU = 2 * time.Second
	j := job.Job{Sources: map[string][]byte{"judge.py": []byte(busyJudge), "runner.py": []byte("")},
		Task: tasks.Definition{Protocol: tasks.ProtocolEval, Lang: tasks.LangPython, HasOwnHarness: true,
			Config: tasks.BuildConfig{MainFile: "judge.py"}}}
	a, _, err := b.Build(t.Context(), BuildRequest{Job: j, Environment: at, RunnerScript: "runner.py"})
	if err != nil {
		t.Fatal(err)
	}
	p, err := b.Open(t.Context(), a, at)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for _, seconds := range []string{"0.8", "1.6"} {
		out, err := p.RunStage(t.Context(),
			StageRequest{
				Timeout:    30 * time.Second,
				Files:      map[string][]byte{"asked": []byte(seconds)},
				KeepsJudge: true,
			})
		if err != nil || out.JudgeOutcome.ExitCode != 0 {
			t.Errorf("%s s: %+v, %v", seconds, out.JudgeOutcome, err)
		}
	}
}

func TestAJudgeIsHandedOverAlsoWhereExtensionsAreCompiled(t *testing.T) {
	b := newBuilder()
	j := job.Job{Sources: map[string][]byte{"judge.py": []byte("import os; os.write(3, str(os.getpid()).encode())"),
		"runner.py": []byte("")},
		Task: tasks.Definition{Protocol: tasks.ProtocolEval, Lang: tasks.LangPython, HasOwnHarness: true,
			Config: tasks.BuildConfig{MainFile: "judge.py"}}}
	plain, _, err := b.Build(t.Context(), BuildRequest{Job: j, Environment: cpu(), RunnerScript: "runner.py"})
	if err != nil {
		t.Fatal(err)
	}
	extended := *plain
	extended.extensionArchives = map[string][]byte{"other.py": nil}
	p, err := b.Open(t.Context(), plain, cpu())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { p.Close() }()
	judges := map[string]bool{}
	for _, next := range []*Artifact{plain, &extended, plain} { // the third program follows one with extensions
		var output strings.Builder
		if out, err := p.RunStage(t.Context(), StageRequest{Timeout: 30 * time.Second, KeepsJudge: true,
			OnResultPipe: func(b []byte) { output.Write(b) }}); err != nil || out.JudgeOutcome.ExitCode != 0 {
			t.Fatalf("%+v, %v", out.JudgeOutcome, err)
		}
		judges[output.String()] = true
		following := p.Next(next)
		if following == nil || !following.IsWarm() {
			t.Fatalf("handed over: %+v", following)
		}
		p = following
	}
	if len(judges) != 1 {
		t.Errorf("%d judges served three stages", len(judges))
	}
}
