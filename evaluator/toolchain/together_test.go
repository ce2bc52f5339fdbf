package toolchain

import (
	"strings"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/tasks"
)

// meetingJudge waits until both of its runners are alive, and prints what each has found.
const meetingJudge = `
import os, socket
door = socket.socket(fileno=4)
ends = []
for _ in range(2):
    _, descriptors, _, _ = socket.recv_fds(door, 4, 3)
    ends.append(socket.socket(fileno=descriptors[0]))
for end in ends:
    end.send(b"go")
said = sorted(end.recv(1000).decode() for end in ends)
os.write(3, "\n".join(said).encode())
`

// leavingRunner leaves files where it can, and prints those that others have left.
const leavingRunner = `
import os, socket, sys
end = socket.socket(fileno=4)
for place in ("/tmp/left", "/tmp/cache/triton/left"):
    os.makedirs(os.path.dirname(place), exist_ok=True)
    open(place + sys.argv[1], "w").close()
end.recv(2)
found = [name for place in ("/tmp", "/tmp/cache/triton") for name in os.listdir(place) if name.startswith("left")]
end.send(" ".join([sys.argv[1], *sorted(found)]).encode())
end.recv(1)
`

// TestProcessesThatLiveTogetherShareNothing has two runners with one judge, twice: the second time in the same warm
// Pythons.
func TestProcessesThatLiveTogetherShareNothing(t *testing.T) {
	b := newBuilder()
	at := cpu()
	at.ExtraSandboxSlots = []int{9}
	j := job.Job{Sources: map[string][]byte{"judge.py": []byte(meetingJudge), "runner.py": []byte(leavingRunner)},
		Task: tasks.Definition{
			Protocol:      tasks.ProtocolEval,
			Lang:          tasks.LangPython,
			HasOwnHarness: true,
			Config:        tasks.BuildConfig{MainFile: "judge.py"},
		}}
	a, result, err := b.Build(t.Context(), BuildRequest{Job: j, Environment: at, RunnerScript: "runner.py"})
	if err != nil || a == nil {
		t.Fatalf("%+v, %v", result, err)
	}
	p, err := b.Open(t.Context(), a, at)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for _, want := range []string{"one leftone leftone\ntwo lefttwo lefttwo", "four leftfour leftfour\nthree leftthree leftthree"} {
		names := []StageProcess{{Arguments: []string{"one"}}, {Arguments: []string{"two"}}}
		if strings.HasPrefix(want, "four") {
			names = []StageProcess{{Arguments: []string{"three"}}, {Arguments: []string{"four"}}}
		}
		var message strings.Builder
		end, err := p.RunStage(t.Context(), StageRequest{
			Mode: "test", Timeout: 30 * time.Second, Processes: names, OnResultPipe: func(b []byte) { message.Write(b) }})
		if err != nil || end.RunnerCount != 2 || message.String() != want {
			t.Errorf("%q, want %q; %+v, judge %+v, %v", message.String(), want, end.Outcome, end.JudgeOutcome, err)
		}
	}
}
