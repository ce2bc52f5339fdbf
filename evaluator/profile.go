package evaluator

import (
	"context"
	"fmt"

	"warpboard/evaluator/harness"
	"warpboard/evaluator/job"
	"warpboard/evaluator/toolchain"
)

// profile is the stage of a job that asks for a profile, the only one beside its build.
func (p *pipeline) profile(ctx context.Context, program toolchain.Program, at toolchain.Place) error {
	switch {
	case p.job.Mode != job.ModeProfile:
		return nil
	case !p.w.profiles(p.slot):
		return rejection{&job.Failure{Reason: fmt.Sprintf("Nothing can be profiled on worker %s: it has no profiler for %s.", p.w.cfg.Name, p.job.Device)}}
	case p.job.Task.NoProfile:
		return rejection{&job.Failure{Reason: "The task says that its runs are not profiled (profile: false)."}}
	}
	cases := harness.StageCases(p.job.Task, job.StageProfile)
	if err := p.enter(ctx, job.StageProfile, len(cases)); err != nil {
		return err
	}
	log := p.say.logs(job.StageProfile)
	result, artifacts, err := p.w.cfg.Profiler.Profile(ctx, ProfileRequest{
		Job: p.job, Program: program, Place: at, Cases: cases, OnLog: log.write,
		OnCase: func(c job.CaseResult) { p.say.caseEnded(job.StageProfile, c, len(cases)) },
	})
	log.close()
	if err := p.interrupted(ctx, job.StageProfile, err); err != nil {
		return err
	}
	result.Stage = job.StageProfile
	p.result.Artifacts = artifacts
	p.result.ProgramNS += int64(result.Ended.Sub(result.Started))
	p.leave(result)
	return verdict(ctx, result)
}

// profiles tells whether what runs on the slot can be profiled; a CPU has no counters that ncu reads.
func (w *Worker) profiles(s *slot) bool { return w.cfg.Profiler != nil && s.IsGPU() }
