package evaluator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"warpboard/evaluator/harness"
	"warpboard/evaluator/job"
	"warpboard/evaluator/sandbox"
	"warpboard/evaluator/toolchain"
)

// probeTime bounds the check of a unit.
const probeTime = 30 * time.Second

// rejection says that the submission failed: a normal end, and not an error of ours.
type rejection struct{ *job.Failure }

func (r rejection) Error() string { return r.Reason }

// pipeline takes one job through its stages.
type pipeline struct {
	w      *Worker
	slot   *slot
	job    job.Job
	say    *announcer
	began  time.Time
	result job.Result
	now    job.Stage // the stage that is running
	settle func()    // says that the processors are needed no more
}

func newPipeline(w *Worker, s *slot, j job.Job) *pipeline {
	return &pipeline{
		w: w, slot: s, job: j, began: time.Now(),
		say: newAnnouncer(w.cfg.Conn, w.cfg.Name, j, w.log),
		result: job.Result{
			RunID: j.RunID, AttemptID: j.AttemptID, Secret: j.Secret, EvaluationID: j.EvaluationID,
			Harness: harness.Name(j.Task), Machine: w.machine(s.Slot, j.Task.Lang),
		},
	}
}

// run builds the job and runs its stages. It returns nil when all passed, a rejection when the
// submission failed, the cause when ctx ended, and other errors when the fault is ours.
func (p *pipeline) run(ctx context.Context) error {
	if p.job.Version != job.Version {
		return fmt.Errorf("the job has version %d and this worker reads version %d: update the older one", p.job.Version, job.Version)
	}
	if p.job.EvaluationID != "" {
		return p.evaluation(ctx)
	}
	need, err := units(p.job.Task, p.w.count(p.job.Device))
	if err != nil {
		return err
	}
	p.say.taken()
	artifact, err := p.build(ctx)
	if err != nil {
		return err
	}
	held, release, err := p.hold(ctx, need)
	if err != nil {
		return err
	}
	defer release()
	gpus := 0
	if p.job.Task.MultiGPU {
		gpus = len(held)
	}
	err = p.onSlot(ctx, artifact, p.w.place(held, gpus))
	if err != nil && !p.w.examine(ctx, held) && !errors.As(err, new(rejection)) {
		err = suspect{err} // it failed by our fault, and its unit is broken since
	}
	return err
}

// hold takes the units that the job needs; the first is from now on the job's slot. What runs on GPUs
// leaves the processors to others.
func (p *pipeline) hold(ctx context.Context, need int) (held []*slot, release func(), err error) {
	if p.slot.IsGPU() {
		p.settle()
	}
	if held, release, err = p.w.hold(ctx, p.slot, need, p.job.AttemptID); err != nil {
		return nil, nil, err
	}
	p.slot = held[0]
	p.result.Machine = p.w.machine(p.slot.Slot, p.job.Task.Lang)
	p.w.inHand.reached(p.job.AttemptID)
	return held, release, nil
}

// build compiles on a build place; the slot stays free for others.
func (p *pipeline) build(ctx context.Context) (*toolchain.Artifact, error) {
	var number int
	select {
	case number = <-p.w.builds:
		defer func() { p.w.builds <- number }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if err := p.enter(ctx, job.StageBuild, 0); err != nil {
		return nil, err
	}
	log := p.say.logs(job.StageBuild)
	artifact, result, err := p.w.cfg.Builder.Build(ctx, toolchain.BuildRequest{
		Job: p.job, Place: buildPlace(p.slot, number), OnLog: log.write,
	})
	log.close()
	if err := p.interrupted(ctx, job.StageBuild, err); err != nil {
		return nil, err
	}
	result.Stage = job.StageBuild
	p.leave(result)
	p.result.ProgramNS += int64(result.Ended.Sub(result.Started) - result.Overhead)
	return artifact, verdict(ctx, result)
}

// onSlot runs what was built, with the units of the place held.
func (p *pipeline) onSlot(ctx context.Context, artifact *toolchain.Artifact, at toolchain.Place) error {
	program, err := p.w.cfg.Builder.Open(ctx, artifact, at)
	if err := p.interrupted(ctx, "", err); err != nil {
		return err
	}
	defer func() {
		if err := program.Close(); err != nil {
			p.w.log.Warn("program not closed", "attempt", p.job.AttemptID, "err", err)
		}
	}()
	for _, s := range plan(p.job) {
		if err := p.stage(ctx, program, s); err != nil {
			return err
		}
	}
	if steps := secretPlan(p.job); steps != nil {
		if err := p.secretPass(ctx, program, steps); err != nil {
			return err
		}
	}
	return p.profile(ctx, program, at)
}

// enter announces a stage, unless the run has ended already.
func (p *pipeline) enter(ctx context.Context, stage job.Stage, total int) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	p.now = stage
	p.say.stage(stage, total)
	return nil
}

// leave keeps what a stage left, and announces it.
func (p *pipeline) leave(result job.StageResult) {
	p.result.Stages = append(p.result.Stages, result)
	p.say.ended(result)
}

// interrupted says why a stage did not come to its end, nil when it did: ctx ended, or the
// machine failed.
func (p *pipeline) interrupted(ctx context.Context, stage job.Stage, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		if stage != "" {
			now := time.Now().UTC()
			p.leave(job.StageResult{Stage: stage, Status: job.StatusCancelled, Started: now, Ended: now})
		}
		return context.Cause(ctx)
	}
	if errors.Is(err, sandbox.ErrStuck) {
		p.slot.retire(err)
	}
	return err
}

// verdict is nil for a stage that passed, and else what ends the run.
func verdict(ctx context.Context, result job.StageResult) error {
	if result.Status == job.StatusPass {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	failure := result.Failure
	if failure == nil {
		failure = &job.Failure{Reason: fmt.Sprintf("The %s stage ended with status %q.", result.Stage, result.Status)}
	}
	if failure.Ours {
		return errors.New(failure.Reason)
	}
	return rejection{failure}
}
