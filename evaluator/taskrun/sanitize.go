package taskrun

import (
	"context"

	"warpboard/evaluator/attempt"
	"warpboard/evaluator/harness"
	"warpboard/evaluator/job"
	"warpboard/evaluator/sanitizing"
	"warpboard/evaluator/toolchain"
	"warpboard/tasks"
)

// runSanitizer runs the sanitize stage, which follows the build in mode sanitize.
func (r *Run) runSanitizer(ctx context.Context, program toolchain.Program) error {
	cases := harness.StageCases(r.Job.Task, job.StageSanitize)
	switch {
	case r.sanitizer == nil || !r.Slot.IsGPU():
		return attempt.NewRejection("Nothing can be checked on worker %s: it has no compute-sanitizer for %s.", r.WorkerName(), r.Job.Device)
	case r.Job.Task.MultiGPU:
		return attempt.NewRejection("A task on several GPUs cannot be checked with compute-sanitizer.")
	case len(cases) == 0 && r.Job.Task.Protocol != tasks.ProtocolLegacy:
		return attempt.NewRejection("The task has no tests in which compute-sanitizer could check the kernel.")
	}
	if err := r.BeginStageUnlessEnded(ctx, job.StageSanitize, sanitizing.ToolCount()); err != nil {
		return err
	}
	log := r.NewStageLog(job.StageSanitize)
	result, err := r.sanitizer.Sanitize(ctx, sanitizing.SanitizeRequest{
		Job: r.Job, Program: program, Cases: cases, OnLog: log.Write,
		OnTool: func(c job.CaseResult) { r.AnnounceCase(job.StageSanitize, c, sanitizing.ToolCount()) },
	})
	log.Close()
	if err := r.InterruptionError(ctx, job.StageSanitize, err); err != nil {
		return err
	}
	r.Result.ProgramNS += int64(result.EndedAt.Sub(result.StartedAt))
	r.StoreStage(result)
	return attempt.StageError(ctx, result)
}
