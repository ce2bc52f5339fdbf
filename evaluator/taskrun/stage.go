package taskrun

import (
	"context"
	"time"

	"warpboard/evaluator/attempt"
	"warpboard/evaluator/device"
	"warpboard/evaluator/harness"
	"warpboard/evaluator/job"
	"warpboard/evaluator/toolchain"
)

const (
	// extraCases limits the cases that a program may report in addition to the requested ones. A program that measures
	// itself can report any number.
	extraCases = 256
	// maxMessage limits the message of a case, and maxSpec the line that names it, in bytes.
	maxMessage, maxSpec = 4 << 10, 1 << 10
)

// stage runs one step, reports its progress, and stores its result.
func (r *Run) stage(ctx context.Context, program toolchain.Program, s step) error {
	if err := r.BeginUnlessEnded(ctx, s.stage, len(s.cases)); err != nil {
		return err
	}
	log := r.NewStageLog(s.stage)
	shown := r.secrecy(s.stage)
	result, err := r.runStep(ctx, program, s, func(c job.CaseResult, total int) {
		r.Case(s.stage, shown.withoutSecrets(c), total)
	}, func(stream string) func([]byte) {
		return shown.output(func(b []byte) { log.Write(stream, b) })
	})
	log.Close()
	if err := r.Interrupted(ctx, s.stage, err); err != nil {
		return err
	}
	shown.removeSecrets(&result)
	r.StoreStage(result)
	return attempt.StageError(ctx, result)
}

// runStep runs the task's program once and parses its report while it is written.
func (r *Run) runStep(ctx context.Context, program toolchain.Program, s step,
	onCase harness.CaseFunc, output func(stream string) func([]byte)) (job.StageResult, error) {
	// The pipe's goroutine feeds the parser, and this one reads it after RunStage has returned, so no lock is needed.
	parser := harness.NewParser(onCase)
	result := job.StageResult{Stage: s.stage, StartedAt: time.Now().UTC()}
	endWatch := r.watch(ctx, s)
	req := toolchain.StageRequest{
		Mode: harness.Mode(s.stage), Cases: s.cases, Seed: s.seed, Timeout: s.timeout,
		OnPipe:   func(b []byte) { parser.Write(b) },
		OnStdout: output("stdout"), OnStderr: output("stderr"),
	}
	endMeasuring := r.measure(ctx, s, parser, &req)
	out, err := program.RunStage(ctx, req)
	endWatch()
	endMeasuring()
	if err != nil {
		r.keepUnfinished(s, parser)
		return result, err
	}
	parser.Close()
	result.Status, result.Failure = harness.Judge(out, s.timeout, parser, s.requiredCases)
	if result.Status != job.StatusPass {
		r.keepUnfinished(s, parser)
	}
	cases := harness.Finish(parser.Cases(), result.Status)
	for _, c := range cases[:min(len(cases), len(s.cases)+extraCases)] {
		// Without a judge, a process that contains the submission wrote the whole report.
		if out.Judge == nil {
			c.Clocks, c.Processes, c.Numerics = job.Clocks{}, nil, nil // values that only a judge can measure
		}
		result.Cases = append(result.Cases, trimCase(c))
	}
	result.Stdout, result.Stderr, result.ExtraKeys = out.Stdout, out.Stderr, parser.Extra()
	// The output comes from the task's own code and explains the failure.
	if result.Failure != nil && result.Failure.CausedByTask && out.Judge != nil {
		result.Stderr += out.Judge.Stderr
	}
	// Linux does not count GPU memory, and the host memory of the GPU's driver is not the submission's.
	if out.Judge != nil && !r.Slot.IsGPU() {
		result.MemoryPeak = out.MemoryMax
	}
	result.EndedAt = time.Now().UTC()
	result.Overhead = result.EndedAt.Sub(result.StartedAt) - out.WallTime
	r.Result.ProgramNS += out.WallTime.Nanoseconds()
	return result, nil
}

// keepUnfinished stores the measurements of a judge's ranked stage that did not pass. Runs with equal source count
// together, so that no one can choose among them by cancelling or failing.
func (r *Run) keepUnfinished(s step, parser *harness.Parser) {
	if s.stage == job.StageRanked && !r.Job.Task.OwnHarness {
		r.Result.UnfinishedRanking = &job.UnfinishedRanking{Cases: parser.Medians()}
	}
}

// measure makes a ranked stage with a judge measure in several processes, until their interval is narrow or the time is
// up. The caller must call end after the stage.
func (r *Run) measure(ctx context.Context, s step, parser *harness.Parser, req *toolchain.StageRequest) (end func()) {
	if s.stage != job.StageRanked || r.Job.Task.OwnHarness {
		return func() {}
	}
	m := r.measuring.newMeasurement(r.Job.Task, s.timeout, parser.ByProcess(), func() func() string {
		return device.Watch(ctx, r.Slot.Slot).StopAndExplain
	})
	req.AnotherProcess = m.anotherProcess
	req.OnPipe = func(b []byte) {
		parser.Write(b)
		m.observe()
	}
	return func() { m.end(&r.Result.Machine) }
}

// watch samples the conditions of the device during a timed step. The caller must call end after the step.
func (r *Run) watch(ctx context.Context, s step) (end func()) {
	if !s.timed {
		return func() {}
	}
	watch := device.Watch(ctx, r.Slot.Slot)
	return func() { watch.StopAndStore(&r.Result.Machine) }
}

// secretPass runs all steps again with the secret seed. It reports only pass or fail.
func (r *Run) secretPass(ctx context.Context, program toolchain.Program, steps []step) error {
	if err := r.BeginUnlessEnded(ctx, job.StageSecret, 0); err != nil {
		return err
	}
	result := job.StageResult{Stage: job.StageSecret, Status: job.StatusPass, StartedAt: time.Now().UTC()}
	for _, s := range steps {
		one, err := r.runStep(ctx, program, s, nil, func(string) func([]byte) { return nil })
		if err := r.Interrupted(ctx, job.StageSecret, err); err != nil {
			return err
		}
		result.Overhead += one.Overhead
		if one.Status != job.StatusPass {
			result.Status = job.StatusFail
			result.Failure = &job.Failure{Reason: "The run did not pass when it was repeated with secret inputs, and so it has no score."}
			break
		}
	}
	result.EndedAt = time.Now().UTC()
	r.StoreStage(result)
	return attempt.StageError(ctx, result)
}

func trimCase(c job.CaseResult) job.CaseResult {
	c.Message, c.Spec = attempt.ShortenMiddle(c.Message, maxMessage), attempt.ShortenMiddle(c.Spec, maxSpec)
	if c.Numerics != nil {
		n := *c.Numerics
		for _, text := range []*string{&n.Worst, &n.Got, &n.Want, &n.Note} {
			*text = attempt.ShortenMiddle(*text, maxSpec)
		}
		c.Numerics = &n
	}
	return c
}
