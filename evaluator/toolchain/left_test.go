package toolchain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/evaluator/judge"
	"warpboard/internal/test/tier"
	"warpboard/tasks"
)

// leavingJudge makes a runner answer, reports whether processes of an earlier stage are left, waits for their end if
// requested, and ends without waiting for its own runner.
const leavingJudge = `
import os, select, socket
with open("asked") as file:
    asked = file.read()
door = socket.socket(fileno=4)
number, descriptors, _, _ = socket.recv_fds(door, 4, 3)
end = socket.socket(fileno=descriptors[0])
end.send(b"go")
said = end.recv(1000).decode()
is_over = lambda: "over" if select.select([5], [], [], 0)[0] else "left"
os.write(3, f"{said} {is_over()}".encode())
if asked == "wait":
    assert os.read(5, 1) == b""
    os.write(3, b" " + is_over().encode())
door.send(number)
end.close()
door.close()
for fd in descriptors[1:]:
    os.close(fd)
`

// slowRunner prints its user ID and whether it finds an earlier file, leaves a file, and ends in the way that its
// argument requests. Runners that stay close their output, like a process that ends.
const slowRunner = `
import os, signal, socket, sys
end = socket.socket(fileno=4)
end.recv(2)
print("printed")
end.send(f"{os.getuid()} {os.path.exists('/tmp/left')}".encode())
open("/tmp/left", "w").close()
end.recv(1)
how = sys.argv[1]
if how == "fork" and os.fork() == 0 or how == "stay":
    os.setsid() if how == "fork" else None
    print("more")
    sys.stdout.flush()
    os.closerange(0, 4)
    while True:
        signal.pause()
`

// leaving runs programs whose stages may leave processes behind.
type leaving struct {
	programs
	artifact *Artifact
}

// newLeaving opens a program of one user. The next one has another.
func newLeaving(t *testing.T) *leaving {
	t.Helper()
	at, second := preparingPlace(t)
	l := &leaving{programs: programs{t: t, builder: newBuilder(), place: at}}
	go l.builder.KeepWarm(t.Context(), second, 1)
	j := job.Job{Sources: map[string][]byte{"judge.py": []byte(leavingJudge), "runner.py": []byte(slowRunner)},
		Task: tasks.Definition{Protocol: tasks.ProtocolEval, Lang: tasks.LangPython, HasOwnHarness: true,
			Config: tasks.BuildConfig{MainFile: "judge.py"}}}
	a, result, err := l.builder.Build(t.Context(), BuildRequest{Job: j, Environment: at, RunnerScript: "runner.py"})
	if err != nil || a == nil {
		t.Fatalf("%+v, %v", result, err)
	}
	l.artifact = a
	l.open(a)
	if end, _ := l.run("leave", "go", nil); end.LeftProcesses != nil {
		if err := end.LeftProcesses.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	tier.WaitFor(t, "Pythons of another user", func() error {
		if l.next(a); l.program.(*pythonProgram).environment.SandboxSlot == at.SandboxSlot {
			return errors.New("they are not ready")
		}
		return nil
	})
	l.next(a)
	return l
}

// run runs a stage, and calls see with the judge's report so far.
func (l *leaving) run(asked, how string, see func(report string)) (judge.StageEnding, string) {
	l.t.Helper()
	var report, output strings.Builder
	end, err := l.program.RunStage(l.t.Context(), StageRequest{
		Mode: "test", Timeout: time.Minute, LingerTime: time.Minute, KeepsJudge: true, Files: map[string][]byte{"asked": []byte(asked)},
		Processes: []StageProcess{{Arguments: []string{how}}}, OnStdout: func(b []byte) { output.Write(b) },
		OnResultPipe: func(b []byte) {
			if report.Write(b); see != nil {
				see(report.String())
			}
		}})
	if err != nil || end.ExitCode != 0 || end.JudgeOutcome.ExitCode != 0 ||
		!strings.HasPrefix(output.String(), "printed\n") {
		l.t.Fatalf("%q, %q; %+v, judge %+v, %v", report.String(), output.String(), end.Outcome, end.JudgeOutcome, err)
	}
	if how == "stay" && !strings.HasSuffix(output.String(), "more\n") {
		l.t.Errorf("the output lacks its end: %q", output.String())
	}
	return end, report.String()
}

// stages returns the living processes of a user that its warm Python has forked.
func stages(t *testing.T, uid int) (pids []int) {
	t.Helper()
	all := pythons(t, uid)
	for pid, parent := range all {
		if _, ok := all[parent]; ok {
			pids = append(pids, pid)
		}
	}
	return pids
}

// kill kills processes, of which some may have ended.
func kill(t *testing.T, pids []int) {
	t.Helper()
	for _, pid := range pids {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			t.Error(err)
		}
	}
}

// wantEnded checks that no process of a user is among these.
func wantEnded(t *testing.T, uid int, pids []int) {
	t.Helper()
	for _, pid := range stages(t, uid) {
		if slices.Contains(pids, pid) {
			t.Errorf("process %d of user %d lives", pid, uid)
		}
	}
}

// TestTheNextProgramBeginsWhileProcessesAreEnding checks that the judge of the next program can wait until the
// processes of the first one have ended. The third program, which has the user ID of the first, must not begin before
// that.
func TestTheNextProgramBeginsWhileProcessesAreEnding(t *testing.T) {
	tier.Needs(t, tier.Judge)
	l := newLeaving(t)
	first := firstUID + l.place.SandboxSlot
	for _, how := range []string{"fork", "stay"} {
		end, _ := l.run("leave", how, nil)
		left := stages(t, first)
		if how == "stay" && (end.LeftProcesses == nil || end.LeftProcesses.HasEnded() || len(left) != 1) {
			t.Fatalf("the stage waited for its process: %+v, %v", end, left)
		}
		l.next(l.artifact)
		next, report := l.run("wait", "go", func(report string) {
			if strings.HasSuffix(report, " left") && how == "stay" {
				kill(t, left)
			} else if strings.HasSuffix(report, " over") {
				wantEnded(t, first, left)
			}
		})
		if strings.HasPrefix(report, fmt.Sprint(first)) || !strings.HasSuffix(report, " over") {
			t.Errorf("%s: the next program reported %q", how, report)
		}
		if next.EarlierProcessKilled != (how == "stay") {
			t.Errorf("%s: an earlier process was killed: %v", how, next.EarlierProcessKilled)
		}
		l.next(l.artifact)
		if how == "stay" { // the Python with the first user ID has ended, too
			break
		}
		if _, report := l.run("leave", "go", nil); report != fmt.Sprint(first)+" False over" {
			t.Errorf("the first user's next program reported %q", report)
		}
	}
}

// TestAUsersNextProgramWaitsForItsLastOne checks that a program waits for the processes of the last one with its user
// ID, even if the program between them did not wait for them.
func TestAUsersNextProgramWaitsForItsLastOne(t *testing.T) {
	tier.Needs(t, tier.Judge)
	l := newLeaving(t)
	first := firstUID + l.place.SandboxSlot
	l.run("leave", "stay", nil)
	left := stages(t, first)
	if len(left) != 1 {
		t.Fatalf("stages of the first user: %v", left)
	}
	l.next(l.artifact)
	if _, report := l.run("leave", "go", nil); !strings.HasSuffix(report, " left") {
		t.Errorf("the second program reported %q", report)
	}
	l.next(l.artifact)
	waiting, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.program.RunStage(waiting, StageRequest{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a stage began beside another one of its user: %v", err)
	}
	kill(t, left)
	end, report := l.run("leave", "go", func(string) { wantEnded(t, first, left) })
	if !strings.HasPrefix(report, fmt.Sprint(first)+" False ") || !end.EarlierProcessKilled {
		t.Errorf("the third program reported %q, killed %v", report, end.EarlierProcessKilled)
	}
}

// TestClosingAProgramWaitsForItsLastProcesses checks that Close returns only when no process of the program is left,
// because the slot then gets another job.
func TestClosingAProgramWaitsForItsLastProcesses(t *testing.T) {
	tier.Needs(t, tier.Judge)
	l := newLeaving(t)
	first := firstUID + l.place.SandboxSlot
	l.run("leave", "stay", nil)
	l.next(l.artifact)
	kill(t, stages(t, first))
	if err := l.program.Close(); !errors.Is(err, judge.ErrKilledLate) {
		t.Errorf("closing gave %v", err)
	}
	if left := pythons(t, first); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
	if err := l.program.Close(); err != nil {
		t.Errorf("closing again gave %v", err)
	}
}
