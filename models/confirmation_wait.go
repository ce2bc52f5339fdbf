package models

import (
	"context"
	"time"

	"gorm.io/gorm"

	"warpboard/models/db"
	"warpboard/models/work"
)

// legWait is how long a leg of a confirmation gives way to people's work. On a device that is never idle a lucky first would else never be
// measured again; four to eight legs take a minute of it in an hour.
const legWait = 10 * time.Minute

// HurryLegs moves legs that have waited for longer than a limit among people's runs: before all that were queued after them.
// They are no longer preempted. A leg does not use its person's turn, because they did not ask for it and could otherwise
// delay it with their own runs.
func (s *Store) HurryLegs(ctx context.Context, at time.Time) error {
	late := func(tx *gorm.DB) *gorm.DB {
		return tx.Model(&work.Run{}).Where("purpose = 'confirm' and not overdue and queued_at <= ? and "+work.Live, db.Time(at.Add(-legWait)))
	}
	var waiting int64
	// The dispatcher calls this in every round. Reading first keeps the writer free if nothing waits, which is nearly
	// always; the same condition leaves out a leg that ends between the two.
	err := late(s.db.Read(ctx)).Limit(1).Count(&waiting).Error
	if err != nil || waiting == 0 {
		return db.ReadError(err, "legs that wait")
	}
	return s.db.Write(ctx, func(tx *gorm.DB) error {
		return db.WriteError(late(tx).Update("overdue", true).Error, "legs that wait")
	})
}
