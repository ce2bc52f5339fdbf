package taskrun

import (
	"context"
	"errors"

	"warpboard/evaluator/attempt"
	"warpboard/evaluator/harness"
	"warpboard/evaluator/job"
	"warpboard/evaluator/profiling"
	"warpboard/evaluator/sandbox"
	"warpboard/evaluator/sanitizing"
	"warpboard/evaluator/slots"
	"warpboard/evaluator/toolchain"
)

// Builder builds jobs and opens the programs. The implementation is *toolchain.Builder.
type Builder interface {
	Build(ctx context.Context, req toolchain.BuildRequest) (*toolchain.Artifact, job.StageResult, error)
	Open(ctx context.Context, a *toolchain.Artifact, place toolchain.Environment) (toolchain.Program, error)
}

// Profiler profiles a program on its device. The implementation is *profiling.Nsight. Failures of the program are in
// the stage's Status and Failure. The error is an infrastructure error.
type Profiler interface {
	Profile(ctx context.Context, req profiling.ProfileRequest) (job.StageResult, []job.Artifact, error)
}

// Run is one attempt at a run.
type Run struct {
	*attempt.Attempt
	builder       Builder
	profiler      Profiler
	sanitizer     *sanitizing.Sanitizer
	measureConfig MeasureConfig
	slotCount     int
	artifact      *toolchain.Artifact
}

// NVIDIATools has NVIDIA's tools; nil if unavailable.
type NVIDIATools struct {
	Profiler  Profiler
	Sanitizer *sanitizing.Sanitizer
}

// New returns a run that has not started.
func New(a *attempt.Attempt, builder Builder, tools NVIDIATools, measuring MeasureConfig) *Run {
	return &Run{
		Attempt:       a,
		builder:       builder,
		profiler:      tools.Profiler,
		sanitizer:     tools.Sanitizer,
		measureConfig: measuring,
	}
}

// Build compiles the job on a build slot, without occupying a slot. It returns true unless there is an error.
func (r *Run) Build(ctx context.Context) (ready bool, err error) {
	have := r.Slots.WaitInService(ctx, r.Job.Device, r.Job.Task.WorldSize())
	if r.slotCount, err = slotCount(r.Job.Task, have); err != nil {
		return false, err
	}
	// This precedes the wait for a build slot, so that the site knows that a worker received the run.
	r.AnnounceStart()
	number, release, err := r.AcquireBuild(ctx)
	if err != nil {
		return false, err
	}
	defer release()
	if err := r.BeginStageUnlessEnded(ctx, job.StageBuild, 0); err != nil {
		return false, err
	}
	log := r.NewStageLog(job.StageBuild)
	artifact, result, err := r.builder.Build(ctx, toolchain.BuildRequest{
		Job: r.Job, Environment: r.Slots.BuildEnvironment(r.Slot, number), OnLog: log.Write,
	})
	log.Close()
	if err := r.InterruptionError(ctx, job.StageBuild, err); err != nil {
		return false, err
	}
	result.Stage = job.StageBuild
	r.StoreStage(result)
	// ProgramNS is the time of compilers and programs. The rest of WallNS is work of the worker, and waiting.
	r.Result.ProgramNS += int64(result.EndedAt.Sub(result.StartedAt) - result.Overhead)
	r.artifact = artifact
	return true, attempt.StageError(ctx, result)
}

// SlotCount returns the number of slots that the run needs.
func (r *Run) SlotCount() int { return r.slotCount }

// Run runs the program on the slots, stage by stage. It returns nil if all stages passed, a Rejection if the submission
// failed, the cause of ctx if ctx ended, and another error for an infrastructure error.
func (r *Run) Run(ctx context.Context, held *slots.Lease) error {
	if err := held.CloseCachedPrograms(ctx); err != nil {
		return err
	}
	gpus := 0
	if r.Job.Task.MultiGPU {
		gpus = held.SlotCount()
	}
	// The slots are checked unless all stages passed, because a broken GPU may have caused a wrong answer and would
	// cause others.
	err := r.runStages(ctx, held.Environment(gpus))
	if err != nil && !held.ProbeAfterFailure(ctx) && !errors.As(err, new(attempt.Rejection)) {
		err = attempt.MarkCausedByJob(err) // an infrastructure error, and a slot failed its check afterwards
	}
	return err
}

func (r *Run) runStages(ctx context.Context, at toolchain.Environment) error {
	at.MemoryLimit = r.Job.Task.MemoryLimit
	program, err := r.builder.Open(ctx, r.artifact, at)
	if err := r.InterruptionError(ctx, "", err); err != nil {
		return err
	}
	defer func() {
		if err := program.Close(); err != nil {
			r.Log.Warn("program not closed", "attempt", r.Job.AttemptID, "err", err)
			if errors.Is(err, sandbox.ErrProcessStuck) {
				r.Slot.Retire(err)
			}
		}
	}()
	for _, s := range planProgramRuns(r.Job) {
		if err := r.runStage(ctx, program, s); err != nil {
			return err
		}
	}
	// This follows the public stages in the same program on the same slots. Data that the program stored about the
	// public inputs does not help here.
	if steps := secretSteps(r.Job); steps != nil {
		if err := r.runSecretSteps(ctx, program, steps); err != nil {
			return err
		}
	}
	if r.Job.Mode == job.ModeProfile {
		return r.runProfile(ctx, program)
	}
	if r.Job.Mode == job.ModeSanitize {
		return r.runSanitizer(ctx, program)
	}
	if r.Job.Mode == job.ModeValidate {
		return r.runValidation(ctx, program)
	}
	return r.InterruptionError(ctx, "", ctx.Err())
}

// runProfile runs the profile stage, which follows the build in mode profile.
func (r *Run) runProfile(ctx context.Context, program toolchain.Program) error {
	switch {
	case r.profiler == nil || !r.Slot.IsGPU(): // ncu can only profile GPUs
		return attempt.NewRejection("Nothing can be profiled on worker %s: it has no profiler for %s.", r.WorkerName(), r.Job.Device)
	case r.Job.Task.DisableProfile:
		return attempt.NewRejection("The task turns profiling off (profile: false).")
	}
	first, cases, err := r.Job.ProfileFilter.ChooseCases(harness.StageCases(r.Job.Task, job.StageProfile), r.Job.Task.Benchmarks)
	if err != nil {
		return attempt.NewRejection("Nothing was profiled: %v.", err)
	}
	if err := r.BeginStageUnlessEnded(ctx, job.StageProfile, len(cases)); err != nil {
		return err
	}
	log := r.NewStageLog(job.StageProfile)
	result, artifacts, err := r.profiler.Profile(ctx, profiling.ProfileRequest{
		Job: r.Job, Program: program, Cases: cases, FirstCaseNumber: first, PTX: r.artifact.PTX, OnLog: log.Write,
		OnCase: func(c job.CaseResult) { r.AnnounceCase(job.StageProfile, c, len(cases)) },
	})
	log.Close()
	if err := r.InterruptionError(ctx, job.StageProfile, err); err != nil {
		return err
	}
	result.Stage = job.StageProfile
	r.Result.Artifacts = artifacts
	r.Result.ProgramNS += int64(result.EndedAt.Sub(result.StartedAt))
	r.StoreStage(result)
	return attempt.StageError(ctx, result)
}

// Conclude returns the result after Build or Run ended with err.
func (r *Run) Conclude(err error) job.Result {
	if err == nil {
		err = r.setScore()
	}
	return r.Attempt.Conclude(err)
}

// setScore sets the score of a ranked run that passed.
func (r *Run) setScore() error {
	for _, stage := range r.Result.Stages {
		if stage.Stage != job.StageRanked {
			continue
		}
		score, err := harness.Score(r.Job.Task.RankingBy, stage.Cases)
		if err != nil {
			return attempt.Rejection{Failure: &job.Failure{Reason: attempt.ErrorSentence(err)}}
		}
		r.Result.ScoreNS = &score
	}
	return nil
}
