package models

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"warpboard/evaluator/job"
)

// NoteEvaluation moves an evaluation on as its worker tells. It returns it when watchers should see it
// anew, and tells whether the attempt counts no more, so that its worker should drop it.
func (s *Store) NoteEvaluation(ctx context.Context, event job.Event) (changed *Evaluation, stale bool, err error) {
	e, current, err := s.changeAttempt(ctx, event.AttemptID, func(e *Evaluation) error {
		if !e.hasSecret(event.Secret) {
			return errUnchanged
		}
		if event.Seq == 1 && e.TakenAt != nil && e.Worker != clean(event.Worker) {
			e.takeOver(event.Worker) // the queue delivered the job again, because its first worker fell silent
			e.LastSeq = 0
		}
		if event.Seq <= e.LastSeq {
			return errUnchanged
		}
		e.take(event.Worker)
		e.LastSeq = event.Seq
		if state := EvaluationState(event.Stage); event.Type == job.EventStage && !state.Final() {
			e.State = state
		}
		return nil
	})
	switch {
	case errors.Is(err, errUnchanged):
		return nil, false, nil
	case err != nil:
		return nil, false, fmt.Errorf("noting an event of evaluation %s: %w", event.EvaluationID, err)
	case !current:
		return nil, true, nil
	}
	return &e, false, nil
}

// errUnchanged ends a transaction that has nothing to do.
var errUnchanged = errors.New("nothing changes")

func (e *Evaluation) hasSecret(secret string) bool {
	return subtle.ConstantTimeCompare([]byte(e.Secret), []byte(secret)) == 1
}

// EvaluationEnd is how an attempt at an evaluation ended.
type EvaluationEnd struct {
	AttemptID string
	Secret    string
	Worker    string
	State     EvaluationState // final; anything else: lost by our fault, to be tried again
	Loss      Loss            // how it counts that it was lost
	Result    json.RawMessage
	Failure   string
	Waited    time.Duration // on the worker, until a slot was free
	Samples   []Sample      // what the counters gain
}

// EndEvaluation ends the current attempt, and counts what happened in it. Accepted is false when the
// attempt is not the current one any more, or has ended before; a wrong secret is Forbidden.
func (s *Store) EndEvaluation(ctx context.Context, end EvaluationEnd) (e Evaluation, accepted bool, err error) {
	err = s.write(ctx, func(tx *gorm.DB) error {
		var samples []Sample
		e, accepted, err = changeAttempt(tx, end.AttemptID, func(e *Evaluation) error {
			if !e.hasSecret(end.Secret) {
				return Errorf(Forbidden, "The result of attempt %s came with a wrong secret.", end.AttemptID)
			}
			e.take(end.Worker)
			if !end.State.Final() {
				samples = e.lose(end.Loss, end.Failure)
				return nil
			}
			e.finish(end.State, end.Failure)
			e.Result = end.Result
			samples = append(end.Samples, e.ended())
			return nil
		})
		if err != nil || !accepted {
			return err
		}
		if e.State.Final() {
			samples = append(samples, Sample{Name: CounterWaited, Value: (e.TakenAt.Sub(e.CreatedAt) + end.Waited).Seconds()})
		}
		return count(tx, samples...)
	})
	return e, accepted, err
}

// LoseEvaluation gives up a current attempt by our fault: its evaluation waits again, or fails once too
// many were lost. When the attempt is not the current one, nothing happens.
func (s *Store) LoseEvaluation(ctx context.Context, attemptID, reason string, loss Loss) (e Evaluation, accepted bool, err error) {
	err = s.write(ctx, func(tx *gorm.DB) error {
		var samples []Sample
		e, accepted, err = changeAttempt(tx, attemptID, func(e *Evaluation) error { samples = e.lose(loss, reason); return nil })
		if err != nil {
			return err
		}
		return count(tx, samples...)
	})
	return e, accepted, err
}

// CancelEvaluation ends a live evaluation and returns the attempt whose work is to be stopped, "" if
// there is none. Conflict: it has ended.
func (s *Store) CancelEvaluation(ctx context.Context, id, reason string) (e Evaluation, attemptID string, err error) {
	err = s.write(ctx, func(tx *gorm.DB) error {
		if err := tx.Where("id = ?", id).Take(&e).Error; err != nil {
			return lookup(err, "evaluation %s", id)
		}
		if e.State.Final() {
			return Errorf(Conflict, "Evaluation %s has ended already.", id)
		}
		attemptID = e.AttemptID
		e.finish(EvaluationCancelled, reason)
		e.Change++
		if err := tx.Save(&e).Error; err != nil {
			return saving(err, "evaluation")
		}
		return count(tx, append(e.givenUp(), e.ended())...)
	})
	return e, attemptID, err
}

func (e *Evaluation) finish(state EvaluationState, failure string) {
	t := now()
	e.State, e.EndedAt, e.Failure = state, &t, clean(failure)
}

// lose puts the evaluation back to where it stood in the queue, and returns what the counters gain. An
// attempt that no worker took does not count as lost.
func (e *Evaluation) lose(loss Loss, reason string) []Sample {
	samples := e.givenUp()
	if e.TakenAt == nil {
		loss = LossFree
	}
	e.Failure = clean(reason)
	if e.Tries.lose(loss) {
		e.finish(EvaluationFailed, fmt.Sprintf("The evaluation was given up after %d attempts that failed by our fault. The last reason: %s", e.Retries, reason))
		return append(samples, e.ended())
	}
	e.State, e.AttemptID, e.Secret = EvaluationSubmitted, "", ""
	e.DispatchedAt, e.PublishedAt, e.TakenAt = nil, nil, nil
	return samples
}

// givenUp is what the counters gain when a worker's attempt ends without a report. Only a report names the
// unit that was held, so without this one nothing would tell that it ever was.
func (e *Evaluation) givenUp() []Sample {
	if e.TakenAt == nil {
		return nil
	}
	return []Sample{{Name: CounterGivenUp}}
}

// ended is what the counters gain from an evaluation's end: its time from first to last.
func (e *Evaluation) ended() Sample {
	return Sample{Name: CounterEnded + string(e.State), Value: e.EndedAt.Sub(e.CreatedAt).Seconds()}
}
