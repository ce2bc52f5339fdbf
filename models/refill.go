package models

import (
	"context"
	"fmt"

	"gorm.io/gorm"
)

// QueueMayBeEmpty has the jobs of all live attempts that no worker has taken published again: the queue was
// opened, and its files may hold less than was published. The queue takes an attempt once, so that what it
// still holds is not there twice.
func (s *Store) QueueMayBeEmpty(ctx context.Context) error {
	return s.write(ctx, func(tx *gorm.DB) error {
		err := tx.Exec(`update attempts set published_at = null where taken_at is null and published_at is not null
			and id in (select attempt_id from runs where ` + liveRun + `)`).Error
		if err == nil {
			err = tx.Exec(`update evaluations set published_at = null where taken_at is null and published_at is not null
				and attempt_id <> '' and ` + liveEvaluation).Error
		}
		if err != nil {
			return fmt.Errorf("noting that jobs have to be published again: %w", err)
		}
		return nil
	})
}
