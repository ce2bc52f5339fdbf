package evaluator

import (
	"context"
	"time"

	"warpboard/evaluator/device"
	"warpboard/evaluator/harness"
	"warpboard/evaluator/job"
	"warpboard/evaluator/toolchain"
)

const (
	// spareCases is how many more cases a program may report than it was given.
	spareCases = 256
	// maxMessage bounds the text of a case and maxSpec the line that names it, in bytes.
	maxMessage, maxSpec = 4 << 10, 1 << 10
)

// stage runs one step, tells about it while it runs, and keeps its result.
func (p *pipeline) stage(ctx context.Context, program toolchain.Program, s step) error {
	if err := p.enter(ctx, s.stage, len(s.cases)); err != nil {
		return err
	}
	log := p.say.logs(s.stage)
	result, err := p.runStep(ctx, program, s, func(c job.CaseResult, total int) {
		p.say.caseEnded(s.stage, trimCase(c), total)
	}, func(stream string) func([]byte) {
		return func(b []byte) { log.write(stream, b) }
	})
	log.close()
	if err := p.interrupted(ctx, s.stage, err); err != nil {
		return err
	}
	p.leave(result)
	return verdict(ctx, result)
}

// runStep runs the task's program once and reads its report while it is written.
func (p *pipeline) runStep(ctx context.Context, program toolchain.Program, s step,
	onCase harness.CaseFunc, output func(stream string) func([]byte)) (job.StageResult, error) {
	parser := harness.NewParser(onCase)
	result := job.StageResult{Stage: s.stage, Started: time.Now().UTC()}
	endWatch := p.watch(ctx, s)
	out, err := program.RunStage(ctx, toolchain.StageRequest{
		Mode: harness.Mode(s.stage), Cases: s.cases, Seed: s.seed, Timeout: s.timeout,
		OnPipe:   func(b []byte) { parser.Write(b) },
		OnStdout: output("stdout"), OnStderr: output("stderr"),
	})
	endWatch()
	if err != nil {
		return result, err
	}
	parser.Close()
	result.Status, result.Failure = harness.Judge(out, s.timeout, parser, s.want)
	cases := harness.Finish(parser.Cases(), result.Status)
	for _, c := range cases[:min(len(cases), len(s.cases)+spareCases)] {
		if out.Judge == nil {
			c.Clocks = job.Clocks{} // a program that measures itself may say what it likes
		}
		result.Cases = append(result.Cases, trimCase(c))
	}
	result.Stdout, result.Stderr, result.Extra = out.Stdout, out.Stderr, parser.Extra()
	result.Ended = time.Now().UTC()
	result.Overhead = result.Ended.Sub(result.Started) - out.Wall
	p.result.ProgramNS += out.Wall.Nanoseconds()
	return result, nil
}

// watch samples the unit's condition while a timed step runs; the returned function ends that.
func (p *pipeline) watch(ctx context.Context, s step) (end func()) {
	if !s.timed {
		return func() {}
	}
	watch := device.Watch(ctx, p.slot.Slot)
	return func() { p.result.Machine.Conditions = watch.Stop() }
}

// secretPass does all steps again with the secret seed. Nothing but pass or fail leaves it.
func (p *pipeline) secretPass(ctx context.Context, program toolchain.Program, steps []step) error {
	if err := p.enter(ctx, job.StageSecret, 0); err != nil {
		return err
	}
	result := job.StageResult{Stage: job.StageSecret, Status: job.StatusPass, Started: time.Now().UTC()}
	for _, s := range steps {
		one, err := p.runStep(ctx, program, s, nil, func(string) func([]byte) { return nil })
		if err := p.interrupted(ctx, job.StageSecret, err); err != nil {
			return err
		}
		result.Overhead += one.Overhead
		if one.Status != job.StatusPass {
			result.Status = job.StatusFail
			result.Failure = &job.Failure{Reason: "The run did not pass when it was repeated with secret inputs, and so it has no score."}
			break
		}
	}
	result.Ended = time.Now().UTC()
	p.leave(result)
	return verdict(ctx, result)
}

func trimCase(c job.CaseResult) job.CaseResult {
	c.Message, c.Spec = cut(c.Message, maxMessage), cut(c.Spec, maxSpec)
	return c
}
