package work

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"warpboard/evaluator/job"
	"warpboard/models/db"
)

// attemptIDLength is the length of a UUID as text.
const attemptIDLength = 36

// Attempt is one try to execute a run or an evaluation. A result counts only with the secret of the current attempt.
type Attempt struct {
	ID           string
	RunID        int64  `gorm:"<-:create;default:null"` // 0 for an attempt at an evaluation
	EvaluationID string `gorm:"<-:create;default:null"` // empty for an attempt at a run
	Number       int    // 1, 2, … within its work
	Secret       string
	Seed         int64  // bits of the ranked stage's seed; never shown
	Worker       string // name of the worker
	CreatedAt    time.Time
	ReceivedAt   *time.Time `gorm:"column:taken_at"` // when its worker reported that it has the job
	EndedAt      *time.Time // when its result was recorded, or it stopped counting
	Outcome      job.Outcome
	LastSeq      int    // highest number of the stored events
	DrawEpochID  *int64 // epoch whose drawn cases its job had; nil if none
	LogBytes     int64  // bytes of the stored output, plus 1/eventWeight of those of other events
}

// WorkRef returns the reference of the run or evaluation.
func (a Attempt) WorkRef() job.WorkRef {
	return job.WorkRef{RunID: a.RunID, EvaluationID: a.EvaluationID}
}

// BeganAt returns the time at which a worker received the attempt, or its creation if no worker reported that.
func (a Attempt) BeganAt() time.Time {
	if a.ReceivedAt != nil {
		return *a.ReceivedAt
	}
	return a.CreatedAt
}

// StartAttempt creates the next attempt at waiting work, not yet assigned to a worker. It returns Conflict if the work
// no longer waits.
func (l *LifeCycle) StartAttempt(ctx context.Context, ref job.WorkRef) (attempt Attempt, err error) {
	err = l.db.Write(ctx, func(tx *gorm.DB) error {
		attempt, err = l.startAttempt(tx, ref, "")
		return err
	})
	return attempt, err
}

func (l *LifeCycle) startAttempt(tx *gorm.DB, ref job.WorkRef, worker string) (Attempt, error) {
	u, err := l.loadWork(tx, ref)
	if db.KindOf(err) == db.NotFound || err == nil && (u.work().AttemptID != "" || u.work().EndedAt != nil) {
		return Attempt{}, db.Errorf(db.Conflict, "%s is no longer waiting.", sentenceSubject(ref))
	}
	if err != nil {
		return Attempt{}, err
	}
	w := u.work()
	attempt := Attempt{
		ID: uuid.NewString(), RunID: ref.RunID, EvaluationID: ref.EvaluationID, Number: w.AttemptCount + 1,
		Secret: db.NewSecret(), Seed: newSeed(), Worker: db.SanitizeText(worker), CreatedAt: db.Now(),
	}
	w.AttemptID, w.DispatchedAt, w.AttemptCount = attempt.ID, &attempt.CreatedAt, attempt.Number
	if err := saveWork(tx, u, ""); err != nil {
		return attempt, err
	}
	return attempt, db.WriteError(tx.Create(&attempt).Error, "attempt")
}

// LiveAttempt is the current attempt of live work.
type LiveAttempt struct {
	Attempt
	Device    string
	Kind      string
	Priority  Priority
	Owner     string // Evaluation.Owner; empty for a run
	TurnOwner string `gorm:"column:turn_of"` // see QueuedWork
}

// LiveAttempts lists all current attempts, oldest first.
func (l *LifeCycle) LiveAttempts(ctx context.Context) ([]LiveAttempt, error) {
	return liveAttempts(l.db.Read(ctx), "")
}

func liveAttempts(tx *gorm.DB, where string, values ...any) ([]LiveAttempt, error) {
	var list []LiveAttempt
	err := tx.Raw(`select a.*, w.device, w.kind, w.priority, w.owner, w.turn_of
		from attempts a join (`+allLiveWorkSQL+`) w on w.attempt_id = a.id `+where+` order by a.created_at, a.id`, values...).Scan(&list).Error
	return list, db.ReadError(err, "live attempts")
}

// workersWithLostAttempt lists the workers that lost an attempt at the work, unsorted.
func workersWithLostAttempt(tx *gorm.DB, ref job.WorkRef) ([]string, error) {
	var workers []string
	err := tx.Model(&Attempt{}).Where("outcome = 'lost' and worker <> ''").Where(attemptsOfWork(ref)).
		Distinct().Pluck("worker", &workers).Error
	return workers, db.ReadError(err, "the workers that lost %s", ref)
}

// attemptsOfWork returns the condition that selects the attempts at one run or evaluation.
func attemptsOfWork(ref job.WorkRef) map[string]any {
	if ref.EvaluationID != "" {
		return map[string]any{"evaluation_id": ref.EvaluationID}
	}
	return map[string]any{"run_id": ref.RunID}
}

func newSeed() int64 {
	var b [8]byte
	rand.Read(b[:]) // rand.Read never fails
	return int64(binary.LittleEndian.Uint64(b[:]))
}
