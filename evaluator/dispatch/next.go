package dispatch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"warpboard/evaluator/job"
	"warpboard/evaluator/kernelrun"
	"warpboard/models/work"
	"warpboard/tasks"
)

// errJobImpossible means that a job cannot be created, and a retry would not help.
var errJobImpossible = errors.New("no job can be made")

// Next starts the next attempt for a worker, or returns a task to precompile. If a job cannot be created, Next ends its
// work and continues with the next. If the process ends before the worker has the response, the attempt is sent again.
func (d *Dispatcher) Next(ctx context.Context, ask job.WorkRequest) ([]byte, error) {
	if ask.WantsPrecompileJob {
		return d.nextPrecompileJob(ctx, ask)
	}
	for {
		attempt, err := d.store.Work.StartNextAttempt(ctx, ask, d.now())
		if err != nil || attempt == nil {
			return nil, err
		}
		d.notifier.QueueChanged()
		message, err := d.encodeJob(ctx, *attempt)
		if !errors.Is(err, errJobImpossible) {
			return message, err
		}
		d.log.Error("work ends without a worker", attempt.WorkRef().KindName(), attempt.WorkRef().ID(), "err", err)
		// The site itself stores a failed result with the secret of the attempt. Viewers are notified as usual, and the
		// infrastructure error does not count for limits.
		why := strings.TrimPrefix(err.Error(), errJobImpossible.Error()+": ")
		out, err := d.store.Work.RecordResult(ctx, job.Result{
			RunID: attempt.RunID, EvaluationID: attempt.EvaluationID, AttemptID: attempt.ID, AttemptSecret: attempt.Secret, Outcome: job.OutcomeFailed,
			Failure: &job.Failure{
				Reason:                fmt.Sprintf("The %s could not be sent to a worker: %s.", attempt.WorkRef().KindName(), why),
				IsInfrastructureError: true,
			},
		}, work.ResultFindings{})
		if err := d.announceEffect(out, err); err != nil {
			return nil, err
		}
	}
}

// encodeJob returns the job of an attempt as JSON.
func (d *Dispatcher) encodeJob(ctx context.Context, attempt work.Attempt) ([]byte, error) {
	j := job.Job{
		MessageVersion: job.MessageVersion, RunID: attempt.RunID, EvaluationID: attempt.EvaluationID, AttemptID: attempt.ID, AttemptSecret: attempt.Secret,
	}
	fill, large := d.fillRun, "the task and the submission together are"
	if attempt.EvaluationID != "" {
		fill, large = d.fillEvaluation, "the request is"
	}
	of, err := fill(ctx, attempt, &j)
	if err != nil {
		return nil, err
	}
	j.Device, j.EnqueuedAt = of.Device, of.QueuedAt
	data, err := json.Marshal(j)
	if err == nil && len(data) > d.queue.MaxMessage() {
		err = fmt.Errorf("%w: %s larger than a message can be", errJobImpossible, large)
	}
	return data, err
}

// fillRun adds a run's task, sources, and seed to a job.
func (d *Dispatcher) fillRun(ctx context.Context, attempt work.Attempt, j *job.Job) (work.Work, error) {
	run, err := d.store.Work.Run(ctx, attempt.RunID)
	if err != nil {
		return run.Work, err
	}
	sub, err := d.store.Submissions.Submission(ctx, run.SubmissionID)
	if err != nil {
		return run.Work, err
	}
	version, err := d.store.Catalog.Version(ctx, run.VersionID)
	if err != nil {
		return run.Work, err
	}
	j.Mode, j.TaskHash, j.SecretSeed, j.ProfileFilter = work.WorkerMode(run.Mode), version.MeasurementHash, uint64(attempt.Seed), sub.ProfileFilter
	held, err := d.store.Work.MedianSlotTime(ctx, run)
	if err != nil {
		return run.Work, err
	}
	// The median is slot time. ExpectedTime is wall time, by which the worker decides whether the run can end in time.
	j.ExpectedTime = held / time.Duration(max(1, version.Definition.WorldSize()))
	submitted, err := d.store.Submissions.Source(ctx, sub)
	if err != nil {
		return run.Work, err
	}
	bundle, err := d.store.Catalog.Bundle(ctx, sub.VersionID)
	if err != nil {
		return run.Work, err
	}
	if run.Mode == job.ModeValidate {
		bundle = bundle.WithValidationScript()
	}
	j.Task = bundle.Definition.WithFiles(submitted.Names()).ForDevice(run.Device)
	if j.Mode == job.ModeRanked && j.Task.HasRanges() {
		j.DeclaredCases = &job.TaskCases{Tests: j.Task.Tests, Benchmarks: j.Task.Benchmarks}
	}
	if j.Task, err = d.store.Scores.Draw(ctx, attempt, run, j.Task); err != nil {
		return run.Work, err
	}
	if j.Sources, err = bundle.ProgramFiles(submitted); err != nil {
		err = fmt.Errorf("%w: %w", errJobImpossible, err)
	}
	return run.Work, err
}

// fillEvaluation adds an evaluation's request to a job.
func (d *Dispatcher) fillEvaluation(ctx context.Context, attempt work.Attempt, j *job.Job) (work.Work, error) {
	e, err := d.store.Work.Evaluation(ctx, attempt.EvaluationID)
	j.Task = tasks.Definition{Lang: tasks.LangPython, HasOwnHarness: true}
	j.Evaluation, j.Caller = e.Request, e.Owner
	if err == nil && e.Kind == string(kernelrun.KindCompile) {
		err = d.fillCompilation(ctx, e, j)
	}
	return e.Work, err
}

// fillCompilation adds the source, and the definition and files of its task, to a job that only compiles.
func (d *Dispatcher) fillCompilation(ctx context.Context, e work.Evaluation, j *job.Job) error {
	var request kernelrun.Request
	if err := json.Unmarshal(e.Request, &request); err != nil {
		return fmt.Errorf("read the request of evaluation %s: %w", e.ID, err)
	}
	j.Mode = job.ModeCompile
	if request.VersionID == 0 {
		j.Task, j.Sources = request.StandaloneTask()
		return nil
	}
	bundle, err := d.store.Catalog.Bundle(ctx, request.VersionID)
	if err != nil {
		return err
	}
	submitted, err := tasks.UnpackSubmission([]byte(request.CustomKernel.Source))
	if err != nil {
		return err
	}
	j.Task = bundle.Definition.WithFiles(submitted.Names()).ForDevice(e.Device)
	if j.Sources, err = bundle.ProgramFiles(submitted); err != nil {
		err = fmt.Errorf("%w: %w", errJobImpossible, err)
	}
	return err
}
