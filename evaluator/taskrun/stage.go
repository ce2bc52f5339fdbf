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
	// maxUnrequestedCases limits the cases that a program may report in addition to the requested ones. A program that
	// measures itself can report any number.
	maxUnrequestedCases = 256
	// maxMessageBytes limits the message of a case, and maxSpecBytes the line that names it, in bytes.
	maxMessageBytes, maxSpecBytes = 4 << 10, 1 << 10
)

// runStage runs one step, reports its progress, and stores its result.
func (r *Run) runStage(ctx context.Context, program toolchain.Program, s programRun) error {
	if err := r.BeginStageUnlessEnded(ctx, s.stage, len(s.cases)); err != nil {
		return err
	}
	log := r.NewStageLog(s.stage)
	shown := r.newSecretFilter(s.stage)
	result, err := r.runProgram(ctx, program, s, func(c job.CaseResult, total int) {
		r.AnnounceCase(s.stage, shown.hideCaseValues(c), total)
	}, func(stream string) func([]byte) {
		return shown.hideOutput(func(b []byte) { log.Write(stream, b) })
	})
	log.Close()
	if err := r.InterruptionError(ctx, s.stage, err); err != nil {
		return err
	}
	shown.removeSecrets(&result)
	r.StoreStage(result)
	return attempt.StageError(ctx, result)
}

// runProgram runs the task's program once and parses its report while it is written.
func (r *Run) runProgram(ctx context.Context, program toolchain.Program, s programRun,
	onCase harness.CaseFunc, output func(stream string) func([]byte)) (job.StageResult, error) {
	// The pipe's goroutine feeds the parser, and this one reads it after RunStage has returned, so no lock is needed.
	parser := harness.NewParser(onCase)
	result := job.StageResult{Stage: s.stage, StartedAt: time.Now().UTC()}
	endWatch := r.startWatcher(ctx, s)
	req := toolchain.StageRequest{
		Mode: harness.EvalMode(s.stage), Cases: s.cases, Seed: s.seed, Timeout: s.timeout,
		OnResultPipe: func(b []byte) { parser.Write(b) },
		OnStdout:     output("stdout"), OnStderr: output("stderr"),
	}
	endMeasuring := r.startMeasurement(ctx, s, parser, &req)
	out, err := program.RunStage(ctx, req)
	endWatch()
	endMeasuring()
	if err != nil {
		r.storeUnfinished(s, parser)
		return result, err
	}
	parser.Close()
	result.Status, result.Failure = harness.StageVerdict(out, s.timeout, parser, s.requiredCases)
	if result.Status != job.StatusPass {
		r.storeUnfinished(s, parser)
	}
	cases := harness.FinishCases(parser.Cases(), result.Status)
	for _, c := range cases[:min(len(cases), len(s.cases)+maxUnrequestedCases)] {
		// Without a judge, a process that contains the submission wrote the whole report.
		if out.JudgeOutcome == nil {
			// only a judge reports these
			c.ClockTimes, c.ProcessMedians, c.NumericError = job.ClockTimes{}, nil, nil
		}
		result.Cases = append(result.Cases, trimCaseTexts(c))
	}
	result.Stdout, result.Stderr, result.ExtraKeys = out.Stdout, out.Stderr, parser.ExtraKeys()
	// The output comes from the task's own code and explains the failure.
	if result.Failure != nil && result.Failure.CausedByTask && out.JudgeOutcome != nil {
		result.Stderr += out.JudgeOutcome.Stderr
	}
	// Linux does not count GPU memory, and the host memory of the GPU's driver is not the submission's.
	if out.JudgeOutcome != nil && !r.Slot.IsGPU() {
		result.MemoryPeak = out.MemoryPeak
	}
	result.EndedAt = time.Now().UTC()
	result.Overhead = result.EndedAt.Sub(result.StartedAt) - out.WallTime
	r.Result.ProgramNS += out.WallTime.Nanoseconds()
	return result, nil
}

// storeUnfinished stores the measurements of a judge's ranked stage that did not pass. Runs with equal source count
// together, so that no one can choose among them by cancelling or failing.
func (r *Run) storeUnfinished(s programRun, parser *harness.Parser) {
	if s.stage == job.StageRanked && !r.Job.Task.HasOwnHarness {
		r.Result.UnfinishedRanking = &job.UnfinishedRanking{CaseMedians: parser.ProcessMedians()}
	}
}

// startMeasurement makes a ranked stage with a judge measure in several processes, until their interval is narrow or
// the time is up. The caller must call end after the stage.
func (r *Run) startMeasurement(ctx context.Context, s programRun, parser *harness.Parser,
	req *toolchain.StageRequest) (end func()) {
	if s.stage != job.StageRanked || r.Job.Task.HasOwnHarness {
		return func() {}
	}
	m := r.measureConfig.newMeasurement(r.Job.Task, s.timeout, parser.ExpectProcesses(), func() func() string {
		return device.StartWatcher(ctx, r.Slot.Slot).StopAndExplain
	})
	req.NeedsAnotherProcess = m.awaitDecision
	req.OnResultPipe = func(b []byte) {
		parser.Write(b)
		m.observeReport()
	}
	return func() { m.storeResult(&r.Result.Machine) }
}

// startWatcher samples the conditions of the device during a timed step. The caller must call end after the step.
func (r *Run) startWatcher(ctx context.Context, s programRun) (end func()) {
	if !s.isTimed {
		return func() {}
	}
	watch := device.StartWatcher(ctx, r.Slot.Slot)
	return func() { watch.StopAndStore(&r.Result.Machine) }
}

// runSecretSteps runs all steps again with the secret seed. It reports only pass or fail.
func (r *Run) runSecretSteps(ctx context.Context, program toolchain.Program, steps []programRun) error {
	if err := r.BeginStageUnlessEnded(ctx, job.StageSecret, 0); err != nil {
		return err
	}
	result := job.StageResult{Stage: job.StageSecret, Status: job.StatusPass, StartedAt: time.Now().UTC()}
	for _, s := range steps {
		one, err := r.runProgram(ctx, program, s, nil, func(string) func([]byte) { return nil })
		if err := r.InterruptionError(ctx, job.StageSecret, err); err != nil {
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

func trimCaseTexts(c job.CaseResult) job.CaseResult {
	c.Message, c.SpecLine = attempt.ShortenMiddle(c.Message, maxMessageBytes), attempt.ShortenMiddle(c.SpecLine,
		maxSpecBytes)
	if c.NumericError != nil {
		n := *c.NumericError
		for _, text := range []*string{&n.WorstPosition, &n.Got, &n.Want, &n.Note} {
			*text = attempt.ShortenMiddle(*text, maxSpecBytes)
		}
		c.NumericError = &n
	}
	return c
}
