package evaluator

import (
	"context"
	"fmt"
	"time"

	"warpboard/evaluator/harness"
	"warpboard/evaluator/job"
	"warpboard/evaluator/toolchain"
)

// profile adds the profile of a job that asks for one. A ranked run stands without it: there,
// whatever goes wrong is told in the stage and changes nothing else.
func (p *pipeline) profile(ctx context.Context, program toolchain.Program, at toolchain.Place) error {
	asked := p.job.Mode == job.ModeProfile
	if !asked && !p.job.Profile {
		return nil
	}
	switch {
	case p.w.cfg.Profiler == nil && asked:
		return rejection{&job.Failure{Reason: fmt.Sprintf("Nothing can be profiled on worker %s: it has no profiler for %s.", p.w.cfg.Name, p.job.Device)}}
	case p.job.Task.NoProfile && asked:
		return rejection{&job.Failure{Reason: "The task says that its runs are not profiled (profile: false)."}}
	case p.w.cfg.Profiler == nil || p.job.Task.NoProfile:
		return nil
	}
	cases := harness.StageCases(p.job.Task, job.StageProfile)
	if err := p.enter(ctx, job.StageProfile, len(cases)); err != nil {
		return err
	}
	log := p.say.logs(job.StageProfile)
	result, artifacts, err := p.w.cfg.Profiler.Profile(ctx, ProfileRequest{
		Job: p.job, Program: program, Place: at, Cases: cases, OnLog: log.write,
	})
	log.close()
	if err != nil && !asked && ctx.Err() == nil {
		p.w.log.Error("no profile", "attempt", p.job.AttemptID, "err", err)
		result = faulty(err)
	} else if err := p.interrupted(ctx, job.StageProfile, err); err != nil {
		return err
	}
	result.Stage = job.StageProfile
	p.result.Artifacts = artifacts
	p.leave(result)
	if !asked && ctx.Err() == nil {
		return nil
	}
	return verdict(ctx, result)
}

// faulty is the profile stage of a ranked run that a fault of ours left without its profile.
func faulty(err error) job.StageResult {
	now := time.Now().UTC()
	return job.StageResult{
		Status: job.StatusError, Started: now, Ended: now,
		Failure: &job.Failure{Ours: true, Reason: "The profile could not be made: " + sentence(err)},
	}
}
