package evaluator_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"warpboard/evaluator"
	"warpboard/evaluator/device"
	"warpboard/evaluator/job"
	"warpboard/evaluator/judge"
	"warpboard/evaluator/kernelrun"
	"warpboard/evaluator/sandbox"
	"warpboard/evaluator/toolchain"
)

// countingBuilder counts the programs that it opens. Their processes can be reused by the next program.
type countingBuilder struct {
	fakeBuilder
	opened, closed, crash atomic.Int64
	prepared              atomic.Int64 // calls of PrepareLater
	earlierKilled         atomic.Bool
}

func (b *countingBuilder) Open(context.Context, *toolchain.Artifact, toolchain.Environment) (toolchain.Program, error) {
	b.opened.Add(1)
	return &countedProgram{builder: b}, nil
}

type countedProgram struct {
	fakeProgram
	builder *countingBuilder
}

func (p *countedProgram) RunStage(_ context.Context, req toolchain.StageRequest) (judge.StageEnding, error) {
	fmt.Fprintln(pipe(req.OnResultPipe), `{"stage":"compiling","kernel":"custom"}`)
	if p.builder.crash.Load() > 0 {
		return judge.StageEnding{Outcome: sandbox.Outcome{Signal: "SIGSEGV", ExitCode: 139}}, nil
	}
	fmt.Fprintln(pipe(req.OnResultPipe), `{"may_prepare":true}`+"\n"+`{"report":{"compiled":true}}`+"\n"+`{"done":true}`)
	return judge.StageEnding{EarlierProcessKilled: p.builder.earlierKilled.Load()}, nil
}

func (p *countedProgram) Next(*toolchain.Artifact) toolchain.Program {
	return &countedProgram{builder: p.builder}
}

func (p *countedProgram) PrepareLater() { p.builder.prepared.Add(1) }

func (p *countedProgram) Close() error { p.builder.closed.Add(1); return nil }

type pipe func([]byte)

func (p pipe) Write(b []byte) (int, error) { p(b); return len(b), nil }

func TestARunnerServesOneCallerUntilItFails(t *testing.T) {
	for _, slot := range []device.Slot{gpu(0), {Device: device.CPU}} {
		t.Run(slot.Device, func(t *testing.T) { servesOneCaller(t, slot) })
	}
}

func servesOneCaller(t *testing.T, slot device.Slot) {
	b := &countingBuilder{}
	s := newSite(t)
	cfg := evaluator.Config{Builder: b, Slots: []device.Slot{slot}}
	cfg.Toolchain.Python = &toolchain.Python{Packages: map[string]string{"torch": "2"}}
	r := s.start(cfg)
	number := 0
	evaluate := func(caller string) kernelrun.Result {
		t.Helper()
		number++
		j := evaluationJob(t, evaluateOne(t, torch("x = 1")))
		j.Device, j.Caller, j.AttemptID = slot.Device, caller, fmt.Sprint("a", number)
		var out kernelrun.Result
		if err := json.Unmarshal(s.run(j).Evaluation, &out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	want := func(opened, closed int64) {
		t.Helper()
		if b.opened.Load() != opened || b.closed.Load() != closed {
			t.Errorf("%d runners were opened and %d closed, want %d and %d", b.opened.Load(), b.closed.Load(), opened,
				closed)
		}
	}
	if r := evaluate("token:1"); !r.Compiled {
		t.Errorf("report: %+v", r)
	}
	evaluate("token:1")
	want(1, 0)
	evaluate("token:2")
	want(2, 1)
	b.crash.Store(1)
	if r := evaluate("token:2"); r.Signal != "SIGSEGV" {
		t.Errorf("report: %+v", r)
	}
	want(2, 2)
	b.crash.Store(0)
	evaluate("token:2")
	want(3, 2)
	r.stop()
	<-r.ended
	want(3, 3)
	if n := b.prepared.Load(); n != 4 {
		t.Errorf("later processes were prepared %d times, want once in each of the 4 evaluations that ended", n)
	}
}

// TestAnEvaluationIsHandedBackIfAnEarlierOneBrokeItsGPU checks that an evaluation is returned to the site if a process
// of an earlier one had to be killed and the GPU no longer works: the earlier one may be the cause.
func TestAnEvaluationIsHandedBackIfAnEarlierOneBrokeItsGPU(t *testing.T) {
	b, broken := &countingBuilder{}, atomic.Bool{}
	s := newSite(t)
	cfg := evaluator.Config{Builder: b, Slots: []device.Slot{gpu(0)},
		ProbeDevice: func(context.Context, device.Slot) error {
			if broken.Load() {
				return errors.New("a wrong sum")
			}
			return nil
		}}
	cfg.Toolchain.Python = &toolchain.Python{Packages: map[string]string{"torch": "2"}}
	s.start(cfg)
	b.earlierKilled.Store(true)
	for _, c := range []struct {
		id      string
		broken  bool
		outcome job.Outcome
	}{{"whole", false, job.OutcomePassed}, {"broken", true, job.OutcomeHandedBack}} {
		broken.Store(c.broken)
		j := evaluationJob(t, evaluateOne(t, torch("x = 1")))
		j.Device, j.Caller, j.AttemptID = gpu(0).Device, "token:1", c.id
		if r := s.run(j); r.Outcome != c.outcome || r.CausedByJob {
			t.Errorf("%s: %s, %+v", c.id, r.Outcome, r.Failure)
		}
	}
}
