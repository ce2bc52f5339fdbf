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
	NS              float64
	DeviationNS     float64 // sample standard deviation
	StandardErrorNS float64 // standard error
	boards.Interval
	RooflineShare *float64 // share of the device's limit, up to 1; nil if unknown
	HeldReason    string   // reason for a review before it counts; empty if it counts
	// DisturbedReason is a bad condition that the machine's record does not show: the slot drifts.
	DisturbedReason string
}

// ResultFindings has what the site concludes from a worker's result, which it does not trust.
type ResultFindings struct {
	Score          *Score          // only used for a ranked run that is done
	Evaluation     EvaluationState // final state of an evaluation, from its report
	WaitTime       time.Duration   // time that an evaluation waited on the worker for a slot
	CounterSamples []CounterSample // additions to the counters from an evaluation
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
// 6. It calls Consequences.StoreResultData: sample, holds, clocks, libraries, contradictions of a profile, validation, and the
// profile that follows.
//
// 7. It stores the state event (announce) and calls Consequences.ApplyEnd: webhooks, and the next step of a confirmation
// or rerun.
//
// 8. It calls Consequences.UpdateBoard: the score of the source, the entry, and the board's change number.
//
// 9. It calls Consequences.ConfirmFirstPlace: a confirmation of a new 1st place.
//
// A repeated result, or one of an earlier attempt, changes nothing. For the result of a cancelled run it does only 1
// and 2, writes the attempt, charges the time, and calls Consequences.StoreCancelledMeasurements and ConfirmFirstPlace.
// loss.go handles a result that reports a loss or returns the work, and cancel.go handles ends without a result. After
// the commit the dispatcher notifies watchers of the Effect.
func (l *LifeCycle) RecordResult(ctx context.Context, r job.Result, found ResultFindings) (Effect, error) {
	artifacts, err := l.storeArtifacts(ctx, &r)
	if err != nil {
		return Effect{}, err
	}
	var out Effect
	err = l.db.Write(ctx, func(tx *gorm.DB) error {
		a, err := l.loadAttemptWithWork(tx, r.AttemptID)
		if awaits, err := a.expectsResult(r, err); err != nil || !awaits {
			return err
		}
		if r.Outcome != job.OutcomeHandedBack { // work may be handed back any number of times
			if err := a.workItem.keepResult(tx, a.ID, r, artifacts); err != nil {
				return err
			}
		}
		if a.acceptsMessages() {
			out, err = a.conclude(tx, r, found)
		} else {
			out.ChangedBoard, err = a.endStale(tx, r)
		}
		if err != nil {
			return err
		}
		return a.workItem.confirmFirstPlace(tx, &out)
	})
	if err != nil {
		return Effect{}, fmt.Errorf("recording the result of attempt %s: %w", r.AttemptID, err)
	}
	return out, nil
}

// expectsResult reports whether the attempt waits for this result, and returns an error if its secret is wrong. err is
// the error of reading the attempt.
func (a *attemptWithWork) expectsResult(r job.Result, err error) (bool, error) {
	if err != nil || a == nil || a.EndedAt != nil {
		return false, err
	}
	if !a.hasSecret(r.AttemptSecret) || a.WorkRef() != r.WorkRef() {
		return false, db.Errorf(db.Forbidden, "The result of attempt %s came with a wrong secret.", r.AttemptID)
	}
	return true, nil
}

// resultFailure returns the failure in a result, with the failed stage.
func resultFailure(r job.Result) *job.Failure {
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
func (a *attemptWithWork) endStale(tx *gorm.DB, r job.Result) (*boards.ChangedBoard, error) {
	a.endAttempt(r.Outcome)
	if err := tx.Save(&a.Attempt).Error; err != nil {
		return nil, db.WriteError(err, "attempt")
	}
	if a.workItem.work().AttemptID != a.ID || !a.workItem.cancelled() {
		return nil, nil
	}
	if err := a.chargeBudget(tx, r, a.BeganAt()); err != nil {
		return nil, err
	}
	return a.workItem.applyCancelledResult(tx, r)
}

// ClassifyLoss classifies the loss of an attempt that its worker reports.
func ClassifyLoss(r job.Result) LossKind {
	switch {
	case r.Outcome == job.OutcomeHandedBack:
		return LossHandedBack
	case r.CausedByJob:
		return LossCountedAgainstWork
	}
	return LossRetriedAfterPause
}

// conclude ends the work, or returns it to the queue.
func (a *attemptWithWork) conclude(tx *gorm.DB, r job.Result, found ResultFindings) (Effect, error) {
	began := a.BeganAt()
	a.recordReceipt(r.Machine.Worker)
	a.workItem.setMeasured(r)
	switch r.Outcome {
	case job.OutcomePassed:
		a.workItem.setDone(r, found)
	case job.OutcomeFailed:
		a.workItem.setFailed(resultFailure(r))
	default: // handed back, lost, or cancelled by the worker alone
		var why job.Failure
		if r.Failure != nil {
			why = *r.Failure
		}
		return a.requeueOrFail(tx, ClassifyLoss(r), why)
	}
	if err := a.chargeBudget(tx, r, began); err != nil {
		return Effect{}, err
	}
	a.workItem.work().end()
	a.endAttempt(r.Outcome)
	if err := a.saveRows(tx); err != nil {
		return Effect{}, err
	}
	out := Effect{AttemptAccepted: true}
	return out, a.workItem.applyConsequences(tx, r, found, &out)
}
