package models

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"warpboard/evaluator/job"
)

// Attempt is one try at a run. A result counts only with the secret of the run's current attempt.
type Attempt struct {
	ID          string // also the message id in the queue
	RunID       int64
	Number      int // 1, 2, … within the run
	Secret      string
	Seed        int64 // bits of the ranked stage's seed; never shown
	Worker      string
	CreatedAt   time.Time
	PublishedAt *time.Time // the queue has the job
	TakenAt     *time.Time // a worker has the job
	EndedAt     *time.Time // its result is recorded, or it counts no more
	Outcome     job.Outcome
	LastSeq     int   // of the events that are stored
	LogBytes    int64 // of the log events that are stored
}

// StartAttempt makes the next attempt at a run that waits. Conflict: it waits no more.
func (s *Store) StartAttempt(ctx context.Context, runID int64) (run Run, attempt Attempt, err error) {
	attempt = Attempt{ID: uuid.NewString(), RunID: runID, Secret: newSecret(), Seed: newSeed(), CreatedAt: now()}
	err = s.write(ctx, func(tx *gorm.DB) error {
		res := tx.Model(&Run{}).Where("id = ? and state = ? and attempt_id = ''", runID, StateQueued).
			Updates(map[string]any{"attempt_id": attempt.ID, "attempts": gorm.Expr("attempts + 1"), "dispatched_at": attempt.CreatedAt})
		switch {
		case res.Error != nil:
			return fmt.Errorf("starting an attempt at run %d: %w", runID, res.Error)
		case res.RowsAffected != 1:
			return Errorf(Conflict, "Run %d does not wait any more.", runID)
		}
		if err := tx.Take(&run, runID).Error; err != nil {
			return lookup(err, "run %d", runID)
		}
		attempt.Number = run.Attempts
		return saving(tx.Create(&attempt).Error, "attempt")
	})
	return run, attempt, err
}

// MarkPublished notes that the queue has the attempt's job.
func (s *Store) MarkPublished(ctx context.Context, attemptID string) error {
	return s.write(ctx, func(tx *gorm.DB) error {
		return saving(tx.Model(&Attempt{}).Where("id = ?", attemptID).Update("published_at", now()).Error, "attempt")
	})
}

// LiveAttempt is the current attempt of a run or an evaluation that has not ended.
type LiveAttempt struct {
	Attempt
	Device       string
	State        RunState // of a run
	SubmissionID int64    // of a run
	Follows      int      // 1: a profile that follows a ranked run, and gives way to everything else
	EvaluationID string   `gorm:"-"` // empty: it is a run's
}

// LiveAttempts lists all current attempts, the oldest first.
func (s *Store) LiveAttempts(ctx context.Context) ([]LiveAttempt, error) {
	var list []LiveAttempt
	err := s.read(ctx).Raw(`select a.*, r.device, r.state, r.submission_id,
			case when r.profile_of is null then 0 else 1 end as follows
		from runs r join attempts a on a.id = r.attempt_id
		where r.` + liveRun + ` order by a.created_at, a.id`).Scan(&list).Error
	return list, lookup(err, "live attempts")
}

func byAttempt(live []LiveAttempt) map[string]LiveAttempt {
	byID := make(map[string]LiveAttempt, len(live))
	for _, a := range live {
		byID[a.ID] = a
	}
	return byID
}

// NoteTaken notes that a worker says it has these attempts, in case its event got lost. It returns
// the new events, and those of the attempts that count no more: the worker should drop them. An attempt that
// another worker took, and has no more, is from now on this one's. What it says
// of a device that it may not work for is ignored; to have that dropped would stop who really has it.
func (s *Store) NoteTaken(ctx context.Context, worker string, attemptIDs []string) (events []RunEvent, stale []string, err error) {
	live, err := s.LiveAttempts(ctx)
	if err != nil {
		return nil, nil, err
	}
	byID := byAttempt(live)
	for _, id := range attemptIDs {
		a, ok := byID[id]
		if !ok {
			stale = append(stale, id)
			continue
		}
		if a.TakenAt != nil {
			gone, err := s.letGo(ctx, a, worker)
			if err != nil {
				return nil, nil, err
			}
			if !gone {
				continue
			}
		}
		// Asked for each, for few come here: events are seldom lost.
		if may, err := s.mayTake(ctx, worker); err != nil {
			return nil, nil, err
		} else if !may(a.Device) {
			continue
		}
		taken, err := s.take(ctx, a.ID, worker)
		if err != nil {
			return nil, nil, err
		}
		events = append(events, taken...)
	}
	return events, stale, nil
}

// letGo reports whether the worker that took an attempt has it no more, so that another one that says it
// has may be believed: the queue delivered the job again.
func (s *Store) letGo(ctx context.Context, a LiveAttempt, to string) (bool, error) {
	if a.Worker == clean(to) {
		return false, nil
	}
	var from Worker
	found := s.read(ctx).Where("name = ?", a.Worker).Limit(1).Find(&from)
	if found.Error != nil {
		return false, lookup(found.Error, "worker %s", a.Worker)
	}
	gone := !from.Live(now()) || from.SeenAt.After(*a.TakenAt) && !slices.Contains(from.Attempts, a.ID)
	return found.RowsAffected == 0 || gone, nil
}

func (s *Store) take(ctx context.Context, attemptID, worker string) (events []RunEvent, err error) {
	err = s.write(ctx, func(tx *gorm.DB) error {
		a, err := loadInFlight(tx, attemptID)
		if err != nil || a == nil || !a.current() || a.Worker == clean(worker) {
			return err
		}
		a.takeOver(worker)
		if err := a.store(tx); err != nil {
			return err
		}
		e, err := noteState(tx, a.run)
		events = append(events, e)
		return err
	})
	return events, err
}

func newSeed() int64 {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return int64(binary.LittleEndian.Uint64(b[:]))
}
