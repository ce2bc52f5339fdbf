package dispatch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"warpboard/evaluator/job"
	"warpboard/evaluator/queue"
	"warpboard/models/submissions"
	"warpboard/models/work"
	"warpboard/tasks"
)

// publish puts an attempt's job into the queue. If it fails, or the process dies before the
// attempt is marked, a later pass does it again: the queue takes an attempt once. Work of which no
// job can be made ends there.
// Between Publish and MarkPublished a worker may take, end and deliver the job: MarkPublished then changes a row that has
// ended, which harms nothing.
func (d *Dispatcher) publish(ctx context.Context, attempt work.Attempt) error {
	j, err := d.job(ctx, attempt)
	if err == nil {
		err = d.jobs.Publish(ctx, j)
	}
	var broken unusable
	switch {
	case err == nil:
		return d.store.Work.MarkPublished(ctx, attempt.ID)
	case errors.Is(err, queue.ErrTooLarge) && attempt.EvaluationID != "":
		return d.refuse(ctx, attempt, "the request is larger than the queue carries")
	case errors.Is(err, queue.ErrTooLarge):
		return d.refuse(ctx, attempt, "the task and the submission together are larger than the queue carries")
	case errors.As(err, &broken):
		return d.refuse(ctx, attempt, broken.Error())
	}
	return fmt.Errorf("publishing attempt %s at %s: %w", attempt.ID, attempt.Ref(), err)
}

// refuse ends work whose job cannot be made, however often it is tried, as a worker would.
func (d *Dispatcher) refuse(ctx context.Context, attempt work.Attempt, reason string) error {
	ref := attempt.Ref()
	d.log.Error("no job can be made", ref.Noun(), ref.ID(), "reason", reason)
	// The site speaks as a worker here: it knows the secret, and gets a run that ends as all others do, told to its
	// watchers and charged to nobody.
	out, err := d.store.Work.RecordResult(ctx, job.Result{
		RunID: attempt.RunID, EvaluationID: attempt.EvaluationID, AttemptID: attempt.ID, Secret: attempt.Secret, Outcome: job.OutcomeFailed,
		Failure: &job.Failure{Reason: fmt.Sprintf("The %s could not be sent to a worker: %s.", ref.Noun(), reason), Infrastructure: true},
	}, work.Findings{})
	announce(d.notify, out)
	return err
}

// unusable says that a job cannot be made, however often it is tried.
type unusable struct{ error }

// job makes the message for an attempt.
func (d *Dispatcher) job(ctx context.Context, attempt work.Attempt) (j job.Job, err error) {
	var work work.Work
	if attempt.EvaluationID != "" {
		work, err = d.fillEvaluation(ctx, attempt, &j)
	} else {
		work, err = d.fillRun(ctx, attempt, &j)
	}
	if err != nil {
		return j, err
	}
	j.Version, j.RunID, j.EvaluationID = job.Version, attempt.RunID, attempt.EvaluationID
	j.AttemptID, j.Secret, j.Device, j.Enqueued = attempt.ID, attempt.Secret, work.Device, work.QueuedAt
	// Only attempts that were lost are avoided, and only where another worker offers the device at this moment. It is
	// advice: a worker that finds itself named passes the job on twice and then takes it.
	if work.Retries > 0 {
		lostBy, err := d.store.Work.LostBy(ctx, attempt.Ref())
		if err != nil {
			return j, err
		}
		j.Avoid = avoided(lostBy, d.offers[work.Device])
	}
	return j, nil
}

// fillRun puts a run's task, sources and seed into a job.
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
	j.Mode, j.TaskKey, j.SecretSeed = work.Measured(run.Mode), version.Key, uint64(attempt.Seed)
	held, err := d.store.Work.UsualTime(ctx, run)
	if err != nil {
		return run.Work, err
	}
	// UsualTime counts units; Expect is by the clock, for the worker that has to decide whether it can end in time.
	j.Expect = held / time.Duration(max(1, version.Definition.WorldSize()))
	submitted, err := d.store.Submissions.Source(ctx, sub)
	if err != nil {
		return run.Work, err
	}
	j.Task = version.Definition.With(submitted.Names())
	j.Sources, err = d.sources(ctx, sub, submitted)
	return run.Work, err
}

// fillEvaluation puts an evaluation's request into a job.
func (d *Dispatcher) fillEvaluation(ctx context.Context, attempt work.Attempt, j *job.Job) (work.Work, error) {
	e, err := d.store.Work.Evaluation(ctx, attempt.EvaluationID)
	j.Task = tasks.Definition{Lang: tasks.LangPython, OwnHarness: true}
	j.Evaluation, j.Caller = e.Request, e.Owner
	return e.Work, err
}

// sources gives every file of the run by its run-time name.
func (d *Dispatcher) sources(ctx context.Context, sub submissions.Submission, submitted tasks.Submission) (map[string][]byte, error) {
	bundle, err := d.store.Catalog.Bundle(ctx, sub.VersionID)
	if err != nil {
		return nil, err
	}
	sources, err := bundle.Resolve(submitted)
	if err != nil {
		return nil, unusable{err}
	}
	return sources, nil
}
