package work

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"gorm.io/gorm"

	"warpboard/evaluator/job"
	"warpboard/models/db"
)

// PreemptAttempt ends the current attempt of a profile that occupies a slot which other work needs. The run is queued
// again, and this does not count as a loss. If the attempt is no longer current, it does nothing.
func (l *LifeCycle) PreemptAttempt(ctx context.Context, attemptID string) (Effect, error) {
	return l.loseAttempt(ctx, attemptID, LossHandedBack, "The profile waits until the device is idle.")
}

// FailAttempt ends a current attempt because of an infrastructure error. Its work is queued again, or fails after too
// many losses. An attempt that no worker received does not count as a loss. Of several losses by one worker only the
// first counts, because restarts of one worker do not show that the work crashes workers. If the attempt is no longer
// current, it does nothing.
func (l *LifeCycle) FailAttempt(ctx context.Context, attemptID, reason string, loss LossKind) (Effect, error) {
	return l.loseAttempt(ctx, attemptID, loss, reason)
}

func (l *LifeCycle) loseAttempt(
	ctx context.Context, attemptID string, loss LossKind, reason string,
) (out Effect, err error) {
	err = l.db.Write(ctx, func(tx *gorm.DB) error {
		a, err := l.loadAttemptWithWork(tx, attemptID)
		if err != nil || a == nil || !a.acceptsMessages() {
			return err
		}
		if loss == LossCountedAgainstWork {
			workers, err := workersWithLostAttempt(tx, a.WorkRef())
			if err != nil {
				return err
			}
			if slices.Contains(workers, a.Worker) {
				loss = LossRetriedAfterPause
			}
		}
		out, err = a.requeueOrFail(tx, loss, job.Failure{Reason: reason})
		out.StoppedAttempts = []string{attemptID}
		return err
	})
	return out, err
}

// requeueOrFail ends the attempt and returns its work to its former position in the queue, or ends the work.
func (a *attemptWithWork) requeueOrFail(tx *gorm.DB, loss LossKind, why job.Failure) (Effect, error) {
	why.IsInfrastructureError, why.Reason = true, cmp.Or(why.Reason, "The worker stopped it without giving a reason.")
	taken, w := a.ReceivedAt != nil, a.workItem.work()
	if !taken {
		loss = LossHandedBack
	}
	a.endAttempt(lostOutcome(loss, taken))
	retried := !w.AttemptCounts.countLoss(loss)
	if retried {
		w.AttemptID, w.DispatchedAt, w.StartedAt = "", nil, nil
		a.workItem.setWaiting(&why)
	} else {
		why.Reason = fmt.Sprintf("The %s ended after %d infrastructure errors, and does not count against any limit. The last error: %s",
			a.WorkRef().KindName(), w.Retries, why.Reason)
		w.end()
		a.workItem.setFailed(&why)
	}
	if err := a.saveRows(tx); err != nil {
		return Effect{}, err
	}
	out := Effect{AttemptAccepted: true, WorkRetried: retried}
	if err := countLostAttempt(tx, loss, retried); err != nil {
		return out, err
	}
	if !taken { // no worker had received it, so watchers saw no change
		return out, nil
	}
	if err := a.workItem.countLoss(tx); err != nil {
		return out, err
	}
	return out, a.workItem.announce(tx, &out)
}

// countLostAttempt adds a lost attempt to the counters for operators.
func countLostAttempt(tx *gorm.DB, loss LossKind, retried bool) error {
	switch {
	case loss == LossHandedBack:
		return nil
	case retried:
		return AddToCounters(tx, CounterSample{Name: CounterLossesRetried})
	}
	return AddToCounters(tx, CounterSample{Name: CounterLossesFailed})
}

// lostOutcome returns the outcome of an attempt that ends without a result. taken means that a worker received it;
// otherwise it was lost in the queue.
func lostOutcome(loss LossKind, taken bool) job.Outcome {
	if loss == LossHandedBack && taken {
		return job.OutcomeHandedBack
	}
	return job.OutcomeLost
}

const (
	// MaxLosses is the number of lost attempts, each by another worker, after which a run or evaluation fails, because
	// it may crash its workers.
	MaxLosses = 3
	// MaxRetries limits the attempts at a job after losses. The pauses are 1 s, 4 s, 16 s, 64 s, 256 s, then ten
	// minutes each: two and a half hours in total, longer than the restart of a whole cluster.
	MaxRetries = 20

	minRetryPause, maxRetryPause = time.Second, 10 * time.Minute
	retryPauseGrowth             = 4
)

// LossKind classifies the loss of an attempt, which determines how it counts.
type LossKind int

const (
	LossHandedBack         LossKind = iota // handed back: tried again at once, and nothing counts
	LossRetriedAfterPause                  // because of an infrastructure error: tried again after a pause
	LossCountedAgainstWork                 // the work may have caused the loss: it fails after MaxLosses of these
)

// AttemptCounts counts the lost attempts of a run or evaluation.
type AttemptCounts struct {
	Losses    int        // lost attempts that the work may have caused
	Retries   int        // all lost attempts
	NotBefore *time.Time // when the next attempt may begin, after a loss
}

// countLoss counts a lost attempt. givenUp reports whether the work fails instead of being tried again.
func (t *AttemptCounts) countLoss(loss LossKind) (givenUp bool) {
	if loss == LossHandedBack {
		return false
	}
	t.Retries++
	if loss == LossCountedAgainstWork {
		t.Losses++
	}
	next := db.Now().Add(retryPause(t.Retries))
	t.NotBefore = &next
	return t.Losses >= MaxLosses || t.Retries >= MaxRetries
}

// retryPause returns the pause before the next attempt after a number of losses.
func retryPause(retries int) time.Duration {
	pause := minRetryPause
	for range retries - 1 {
		if pause *= retryPauseGrowth; pause >= maxRetryPause {
			return maxRetryPause
		}
	}
	return pause
}
