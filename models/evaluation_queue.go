package models

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"
)

// NextEvaluations lists the first limit evaluations that wait for a device, have no job in the queue and may
// begin at a time: one of each caller in turn, counting those under way; of two whose turn it is, the older.
func (s *Store) NextEvaluations(ctx context.Context, device string, limit int, at time.Time) ([]Evaluation, error) {
	var list []Evaluation
	err := s.read(ctx).Raw(`select q.* from (
		select e.*, row_number() over (partition by caller
			order by case when attempt_id <> '' then 0 else 1 end, created_at, id) as turn
		from evaluations e where device = ? and `+liveEvaluation+`
	) q where attempt_id = '' and (not_before is null or not_before <= ?) order by turn, created_at, id limit ?`, device, stored(at), limit).Scan(&list).Error
	return list, lookup(err, "evaluations that wait for %s", device)
}

// StartEvaluation makes the next attempt at an evaluation that waits. Conflict: it waits no more.
func (s *Store) StartEvaluation(ctx context.Context, id string) (Evaluation, error) {
	var e Evaluation
	err := s.write(ctx, func(tx *gorm.DB) error {
		res := tx.Model(&Evaluation{}).Where("id = ? and state = ? and attempt_id = ''", id, EvaluationSubmitted).
			Updates(map[string]any{"attempt_id": uuid.NewString(), "secret": newSecret(), "last_seq": 0,
				"dispatched_at": now(), "published_at": nil, "taken_at": nil})
		switch {
		case res.Error != nil:
			return fmt.Errorf("starting evaluation %s: %w", id, res.Error)
		case res.RowsAffected != 1:
			return Errorf(Conflict, "Evaluation %s does not wait any more.", id)
		}
		return lookup(tx.Where("id = ?", id).Take(&e).Error, "evaluation %s", id)
	})
	return e, err
}

// EvaluationPublished notes that the queue has the attempt's job.
func (s *Store) EvaluationPublished(ctx context.Context, attemptID string) error {
	err := s.save(ctx).Model(&Evaluation{}).Where("attempt_id = ?", attemptID).Update("published_at", now()).Error
	return saving(err, "evaluation")
}

// LiveEvaluations lists the current attempts of evaluations, as LiveAttempts does those of runs.
func (s *Store) LiveEvaluations(ctx context.Context) ([]LiveAttempt, error) {
	var list []Evaluation
	err := s.read(ctx).Omit("request", "result").Where("attempt_id <> '' and " + liveEvaluation).
		Order("dispatched_at, id").Find(&list).Error
	live := make([]LiveAttempt, 0, len(list))
	for _, e := range list {
		live = append(live, LiveAttempt{Device: e.Device, EvaluationID: e.ID, Attempt: Attempt{
			ID: e.AttemptID, Secret: e.Secret, Worker: e.Worker, CreatedAt: *e.DispatchedAt,
			PublishedAt: e.PublishedAt, TakenAt: e.TakenAt,
		}})
	}
	return live, lookup(err, "live evaluations")
}

// EvaluationsTaken notes that a worker says it has these attempts, in case its events got lost. It returns
// the evaluations that changed, and the attempts that are not at a live evaluation. As in NoteTaken, what
// it says of a device that it may not work for is ignored.
func (s *Store) EvaluationsTaken(ctx context.Context, worker string, attemptIDs []string) (changed []Evaluation, rest []string, err error) {
	live, err := s.LiveEvaluations(ctx)
	if err != nil {
		return nil, nil, err
	}
	byID := byAttempt(live)
	for _, id := range attemptIDs {
		a, ours := byID[id]
		switch {
		case !ours:
			rest = append(rest, id)
		default:
			if a.TakenAt != nil {
				gone, err := s.letGo(ctx, a, worker)
				if err != nil {
					return nil, nil, err
				}
				if !gone {
					continue
				}
			}
			if may, err := s.mayTake(ctx, worker); err != nil {
				return nil, nil, err
			} else if !may(a.Device) {
				continue
			}
			e, current, err := s.changeAttempt(ctx, id, func(e *Evaluation) error { e.takeOver(worker); return nil })
			if err != nil {
				return nil, nil, err
			}
			if current {
				changed = append(changed, e)
			}
		}
	}
	return changed, rest, nil
}

// changeAttempt changes the evaluation whose current attempt this is, in one transaction. It tells
// whether there is one that is live.
func (s *Store) changeAttempt(ctx context.Context, attemptID string, change func(*Evaluation) error) (e Evaluation, current bool, err error) {
	err = s.write(ctx, func(tx *gorm.DB) error {
		e, current, err = changeAttempt(tx, attemptID, change)
		return err
	})
	return e, current, err
}

func changeAttempt(tx *gorm.DB, attemptID string, change func(*Evaluation) error) (e Evaluation, current bool, err error) {
	if attemptID == "" {
		return e, false, nil
	}
	res := tx.Where("attempt_id = ? and "+liveEvaluation, attemptID).Limit(1).Find(&e)
	if res.Error != nil || res.RowsAffected == 0 {
		return e, false, lookup(res.Error, "the evaluation of attempt %s", attemptID)
	}
	if err := change(&e); err != nil {
		return e, false, err
	}
	e.Change++
	return e, true, saving(tx.Save(&e).Error, "evaluation")
}

// take notes which worker has the attempt.
func (e *Evaluation) take(worker string) {
	if e.TakenAt == nil {
		e.takeOver(worker)
	}
}

// takeOver has the attempt begin on a worker, whoever had it before.
func (e *Evaluation) takeOver(worker string) {
	t := now()
	e.TakenAt, e.Worker = &t, clean(worker)
}
