package models

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"warpboard/evaluator/job"
	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/db"
)

// Submission is one person's act: one source file for a task, in one mode. It has one Run per device.
type Submission struct {
	ID         int64
	UserID     int64
	TaskID     int64
	VersionID  int64
	Mode       job.Mode
	FileName   string
	SourceHash string
	Via        string // "web", "api", "cli", "mcp"
	CreatedAt  time.Time
}

// MaySeeSource reports whether the viewer may read a submission's source: the own always, an admin
// always, everybody once the task's deadline is over. Without a deadline it stays hidden.
func MaySeeSource(viewer User, sub Submission, task Task, at time.Time) bool {
	if viewer.IsAdmin() || viewer.SignedIn() && viewer.ID == sub.UserID {
		return true
	}
	return task.VisibleTo(viewer) && task.Deadline != nil && !task.Open(at)
}

// Submission returns one submission. Callers ask its task's VisibleTo before they show it.
func (s *Store) Submission(ctx context.Context, id int64) (Submission, error) {
	var sub Submission
	err := s.db.Read(ctx).Take(&sub, id).Error
	return sub, db.ReadError(err, "submission %d", id)
}

// Source returns the submitted text. Callers ask MaySeeSource before they show it.
func (s *Store) Source(ctx context.Context, sub Submission) ([]byte, error) {
	var blob Blob
	err := s.db.Read(ctx).Where("hash = ?", sub.SourceHash).Take(&blob).Error
	return blob.Data, db.ReadError(err, "source of submission %d", sub.ID)
}

// DeleteSubmission removes a submission with its runs; boards fall back to the person's next best
// run. The submitter and admins may. Attempts that are running are cancelled at their next sign of life.
func (s *Store) DeleteSubmission(ctx context.Context, actor User, id int64) (changes []BoardChange, err error) {
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		var sub Submission
		if err := tx.Take(&sub, id).Error; err != nil {
			return db.ReadError(err, "submission %d", id)
		}
		if sub.UserID != actor.ID && !actor.IsAdmin() {
			return Errorf(Forbidden, "Only the person who made submission %d, and admins, may delete it.", id)
		}
		counted, err := boards.OfSubmission(tx, id)
		if err != nil {
			return err
		}
		if err := tx.Delete(&sub).Error; err != nil {
			return fmt.Errorf("deleting submission %d: %w", id, err)
		}
		if changes, err = boards.Recompute(tx, counted); err != nil {
			return err
		}
		return accounts.WriteAudit(tx, actor, "delete submission", fmt.Sprintf("submission %d", id), "")
	})
	return changes, err
}
