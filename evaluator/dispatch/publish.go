package dispatch

import (
	"context"
	"errors"
	"fmt"

	"warpboard/evaluator/job"
	"warpboard/evaluator/queue"
	"warpboard/models"
)

// publish puts an attempt's job into the queue. If it fails, or the process dies before the
// attempt is marked, a later pass does it again: the queue takes an attempt once. A run of which no
// job can be made ends there.
func (d *Dispatcher) publish(ctx context.Context, attempt models.Attempt) error {
	j, err := d.job(ctx, attempt)
	if err == nil {
		err = d.jobs.Publish(ctx, j)
	}
	var broken unusable
	switch {
	case err == nil:
		return d.store.MarkPublished(ctx, attempt.ID)
	case errors.Is(err, queue.ErrTooLarge):
		return d.refuse(ctx, attempt, "the task and the submission together are larger than the queue carries")
	case errors.As(err, &broken):
		return d.refuse(ctx, attempt, broken.Error())
	}
	return fmt.Errorf("publishing attempt %s at run %d: %w", attempt.ID, attempt.RunID, err)
}

// refuse ends a run whose job cannot be made, however often it is tried, as a worker would.
func (d *Dispatcher) refuse(ctx context.Context, attempt models.Attempt, reason string) error {
	d.log.Error("no job can be made of a run", "run", attempt.RunID, "reason", reason)
	out, err := d.store.RecordResult(ctx, job.Result{
		RunID: attempt.RunID, AttemptID: attempt.ID, Secret: attempt.Secret, Outcome: job.OutcomeFailed,
		Failure: &job.Failure{Reason: fmt.Sprintf("The run could not be sent to a worker: %s.", reason), Ours: true},
	}, nil)
	announce(d.notify, out.Events)
	return err
}

// unusable says that a run's job cannot be made, however often it is tried.
type unusable struct{ error }

// avoid lists the workers that should leave the run to others.
func (d *Dispatcher) avoid(ctx context.Context, run models.Run) ([]string, error) {
	if run.Retries == 0 {
		return nil, nil
	}
	lostBy, err := d.store.LostBy(ctx, run.ID)
	return avoided(lostBy, d.offers[run.Device]), err
}

// job makes the message for an attempt.
func (d *Dispatcher) job(ctx context.Context, attempt models.Attempt) (job.Job, error) {
	run, err := d.store.Run(ctx, attempt.RunID)
	if err != nil {
		return job.Job{}, err
	}
	sub, err := d.store.Submission(ctx, run.SubmissionID)
	if err != nil {
		return job.Job{}, err
	}
	version, err := d.store.Version(ctx, run.VersionID)
	if err != nil {
		return job.Job{}, err
	}
	sources, err := d.sources(ctx, sub)
	if err != nil {
		return job.Job{}, err
	}
	avoid, err := d.avoid(ctx, run)
	if err != nil {
		return job.Job{}, err
	}
	return job.Job{
		Version: job.Version, RunID: run.ID, AttemptID: attempt.ID, Secret: attempt.Secret,
		Device: run.Device, Mode: run.Mode, TaskKey: version.Key, Task: version.Definition, Sources: sources,
		SecretSeed: uint64(attempt.Seed), Enqueued: run.QueuedAt, Avoid: avoid,
	}, nil
}

// sources gives every file of the run by its run-time name.
func (d *Dispatcher) sources(ctx context.Context, sub models.Submission) (map[string][]byte, error) {
	bundle, err := d.store.Bundle(ctx, sub.VersionID)
	if err != nil {
		return nil, err
	}
	source, err := d.store.Source(ctx, sub)
	if err != nil {
		return nil, err
	}
	sources, err := bundle.Resolve(source)
	if err != nil {
		return nil, unusable{err}
	}
	return sources, nil
}
