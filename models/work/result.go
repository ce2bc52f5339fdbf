package work

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"warpboard/evaluator/job"
	"warpboard/models/boards"
	"warpboard/models/db"
)

// Score is the score of a ranked run and its deviation, in nanoseconds.
type Score struct {
	NS    float64
	StdNS float64 // sample standard deviation
	ErrNS float64 // standard error
	boards.Interval
	Roof       *float64 // share of the device's limit, up to 1; nil if unknown
	HeldReason string   // reason for a review before it counts; empty if it counts
	// Disturbed is a bad condition that the machine's record does not show: the slot drifts.
	Disturbed string
}

// Findings has what the site concludes from a worker's result, which it does not trust.
type Findings struct {
	Score      *Score          // only used for a ranked run that is done
	Evaluation EvaluationState // final state of an evaluation, from its report
	WaitTime   time.Duration   // time that an evaluation waited on the worker for a slot
	Samples    []Sample        // additions to the counters from an evaluation
}

// RecordResult ends an attempt and its work. It first stores the artifacts as files. Then, in one transaction:
//
// 1. It checks the secret; a wrong one is Forbidden.
//
// 2. It stores stages, epoch, and artifacts (keepResult).
//
// 3. It charges the GPU time (charge.go).
//
// 4. It writes the attempt, and the run if it still belongs to the attempt.
//
// 5. It updates the counters (countStages).
//
// 6. It calls Consequences.Keep: sample, holds, clocks, libraries, contradictions of a profile, validation, and the
// profile that follows.
//
// 7. It stores the state event (announce) and calls Consequences.Ended: webhooks, and the next step of a confirmation
// or rerun.
//
// 8. It calls Consequences.Place: the score of the source, the entry, and the board's change number.
//
// 9. It calls Consequences.Settled: a confirmation of a new 1st place.
//
// A repeated result, or one of an earlier attempt, changes nothing. For the result of a cancelled run it does only 1
// and 2, writes the attempt, charges the time, and calls Consequences.Stopped and Settled. loss.go handles a result
// that reports a loss or returns the work, and cancel.go handles ends without a result. After the commit the dispatcher
// notifies watchers of the Effect.
func (l *LifeCycle) RecordResult(ctx context.Context, r job.Result, found Findings) (Effect, error) {
	artifacts, err := l.storeArtifacts(ctx, &r)
	if err != nil {
		return Effect{}, err
	}
	var out Effect
	err = l.db.Write(ctx, func(tx *gorm.DB) error {
		a, err := l.loadInFlight(tx, r.AttemptID)
		if awaits, err := a.expectsResult(r, err); err != nil || !awaits {
			return err
		}
		if r.Outcome != job.OutcomeHandedBack { // work may be handed back any number of times
			if err := a.item.keepResult(tx, a.ID, r, artifacts); err != nil {
				return err
			}
		}
		if a.current() {
			out, err = a.conclude(tx, r, found)
		} else {
			out.Board, err = a.endStale(tx, r)
		}
		if err != nil {
			return err
		}
		return a.item.settle(tx, &out)
	})
	if err != nil {
		return Effect{}, fmt.Errorf("recording the result of attempt %s: %w", r.AttemptID, err)
	}
	return out, nil
}

// expectsResult reports whether the attempt waits for this result, and returns an error if its secret is wrong. err is
// the error of reading the attempt.
func (a *inFlight) expectsResult(r job.Result, err error) (bool, error) {
	if err != nil || a == nil || a.EndedAt != nil {
		return false, err
	}
	if !a.hasSecret(r.Secret) || a.Ref() != r.Ref() {
		return false, db.Errorf(db.Forbidden, "The result of attempt %s came with a wrong secret.", r.AttemptID)
	}
	return true, nil
}

// failureOf returns the failure in a result, with the failed stage.
func failureOf(r job.Result) *job.Failure {
	if r.Failure == nil {
		return nil
	}
	why := *r.Failure
	why.Stage = ""
	for _, stage := range r.Stages {
		if stage.Status != job.StatusPass {
			why.Stage = stage.Stage
		}
	}
	return &why
}

// endStale ends an attempt that is no longer current. If its person cancelled the work, the slot time and the
// measurements still count.
func (a *inFlight) endStale(tx *gorm.DB, r job.Result) (*boards.Change, error) {
	a.end(r.Outcome)
	if err := tx.Save(&a.Attempt).Error; err != nil {
		return nil, db.WriteError(err, "attempt")
	}
	if a.item.work().AttemptID != a.ID || !a.item.cancelled() {
		return nil, nil
	}
	if err := a.chargeBudget(tx, r, a.BeganAt()); err != nil {
		return nil, err
	}
	return a.item.afterStop(tx, r)
}

// LossOf classifies the loss of an attempt that its worker reports.
func LossOf(r job.Result) Loss {
	switch {
	case r.Outcome == job.OutcomeHandedBack:
		return LossFree
	case r.CausedByJob:
		return LossCounts
	}
	return LossWaits
}

// conclude ends the work, or returns it to the queue.
func (a *inFlight) conclude(tx *gorm.DB, r job.Result, found Findings) (Effect, error) {
	began := a.BeganAt()
	a.take(r.Machine.Worker)
	a.item.setMeasured(r)
	switch r.Outcome {
	case job.OutcomeDone:
		a.item.setDone(r, found)
	case job.OutcomeFailed:
		a.item.setFailed(failureOf(r))
	default: // handed back, lost, or cancelled by the worker alone
		var why job.Failure
		if r.Failure != nil {
			why = *r.Failure
		}
		return a.requeueOrFail(tx, LossOf(r), why)
	}
	if err := a.chargeBudget(tx, r, began); err != nil {
		return Effect{}, err
	}
	a.item.work().end()
	a.end(r.Outcome)
	if err := a.store(tx); err != nil {
		return Effect{}, err
	}
	out := Effect{Accepted: true}
	return out, a.item.afterResult(tx, r, found, &out)
}
