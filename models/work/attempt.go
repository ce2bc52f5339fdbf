package work

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"warpboard/evaluator/job"
	"warpboard/models/db"
)

// Attempt is one try at a run or an evaluation. A result counts only with the secret of the work's current attempt.
type Attempt struct {
	ID           string // also the message id in the queue
	RunID        int64  `gorm:"<-:create;default:null"` // 0: it is at an evaluation
	EvaluationID string `gorm:"<-:create;default:null"` // empty: it is at a run
	Number       int    // 1, 2, … within its work
	Secret       string
	Seed         int64 // bits of the ranked stage's seed; never shown
	Worker       string
	CreatedAt    time.Time
	PublishedAt  *time.Time // the queue has the job
	TakenAt      *time.Time // a worker has the job
	EndedAt      *time.Time // its result is recorded, or it counts no more
	Outcome      job.Outcome
	LastSeq      int   // of the events that are stored
	LogBytes     int64 // of the log events that are stored
}

// Ref names the work that it is an attempt at.
func (a Attempt) Ref() job.Ref { return job.Ref{RunID: a.RunID, EvaluationID: a.EvaluationID} }

// StartAttempt makes the next attempt at work that waits. Conflict: it waits no more.
func (l *LifeCycle) StartAttempt(ctx context.Context, ref job.Ref) (attempt Attempt, err error) {
	attempt = Attempt{ID: uuid.NewString(), RunID: ref.RunID, EvaluationID: ref.EvaluationID, Secret: db.NewSecret(), Seed: newSeed(), CreatedAt: db.Now()}
	err = l.db.Write(ctx, func(tx *gorm.DB) error {
		u, err := l.loadUnit(tx, ref)
		if db.KindOf(err) == db.NotFound || err == nil && (u.work().AttemptID != "" || u.work().EndedAt != nil) {
			return db.Errorf(db.Conflict, "%s does not wait any more.", subject(ref))
		}
		if err != nil {
			return err
		}
		w := u.work()
		w.AttemptID, w.DispatchedAt = attempt.ID, &attempt.CreatedAt
		w.Attempts++
		attempt.Number = w.Attempts
		if err := saveUnit(tx, u, ""); err != nil {
			return err
		}
		return db.WriteError(tx.Create(&attempt).Error, "attempt")
	})
	return attempt, err
}

// MarkPublished notes that the queue has the attempt's job.
func (l *LifeCycle) MarkPublished(ctx context.Context, attemptID string) error {
	return l.db.Write(ctx, func(tx *gorm.DB) error {
		return db.WriteError(tx.Model(&Attempt{}).Where("id = ?", attemptID).Update("published_at", db.Now()).Error, "attempt")
	})
}

// QueueMayBeEmpty has the jobs of all live attempts that no worker has taken published again: the queue was
// opened, and its files may hold less than was published. The queue takes an attempt once, so that what it
// still holds is not there twice.
func (l *LifeCycle) QueueMayBeEmpty(ctx context.Context) error {
	return l.db.Write(ctx, func(tx *gorm.DB) error {
		err := tx.Exec(`update attempts set published_at = null where taken_at is null and published_at is not null
			and id in (select attempt_id from (` + liveWork + `) w)`).Error
		if err != nil {
			return fmt.Errorf("noting that jobs have to be published again: %w", err)
		}
		return nil
	})
}

// LiveAttempt is the current attempt of live work.
type LiveAttempt struct {
	Attempt
	Device       string
	State        string // of its run or evaluation
	SubmissionID int64  // of a run
	Priority     Priority
	Kind         string // of an evaluation; a run's mode
	UserID       int64
}

// LiveAttempts lists all current attempts, the oldest first.
func (l *LifeCycle) LiveAttempts(ctx context.Context) ([]LiveAttempt, error) {
	return l.liveAttempts(ctx, "")
}

func (l *LifeCycle) liveAttempts(ctx context.Context, where string, values ...any) ([]LiveAttempt, error) {
	var list []LiveAttempt
	err := l.db.Read(ctx).Raw(`select a.*, w.device, w.state, w.submission_id, w.priority, w.kind, w.user_id
		from attempts a join (`+liveWork+`) w on w.attempt_id = a.id `+where+` order by a.created_at, a.id`, values...).Scan(&list).Error
	return list, db.ReadError(err, "live attempts")
}

// LostBy lists the workers that lost an attempt at the work, in no order.
func (l *LifeCycle) LostBy(ctx context.Context, ref job.Ref) ([]string, error) {
	var workers []string
	err := l.db.Read(ctx).Model(&Attempt{}).Where("outcome = 'lost' and worker <> ''").Where(attemptsAt(ref)).
		Distinct().Pluck("worker", &workers).Error
	return workers, db.ReadError(err, "the workers that lost %s", ref)
}

// attemptsAt chooses the attempts at one unit of work.
func attemptsAt(ref job.Ref) map[string]any {
	if ref.EvaluationID != "" {
		return map[string]any{"evaluation_id": ref.EvaluationID}
	}
	return map[string]any{"run_id": ref.RunID}
}

func newSeed() int64 {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return int64(binary.LittleEndian.Uint64(b[:]))
}
