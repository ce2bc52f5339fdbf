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

// HurryLegs has the legs that have waited for longer at a time take their turn among people's runs: before all that were queued after them. They
// are not preempted any more. A leg takes no turn of its person's, who did not ask for it and could else hold it up with runs of theirs.
func (s *Store) HurryLegs(ctx context.Context, at time.Time) error {
	late := func(tx *gorm.DB) *gorm.DB {
		return tx.Model(&work.Run{}).Where("confirmation_id is not null and not overdue and queued_at <= ? and "+work.Live, db.Time(at.Add(-legWait)))
	}
	var waiting int64
	// The dispatcher asks this in every round. Reading first keeps the writer free when nothing waits, which is nearly
	// always; a leg that ends between the two is left out by the same condition.
	err := late(s.db.Read(ctx)).Limit(1).Count(&waiting).Error
	if err != nil || waiting == 0 {
		return db.ReadError(err, "legs that wait")
	}
	return s.db.Write(ctx, func(tx *gorm.DB) error {
		return db.WriteError(late(tx).Update("overdue", true).Error, "legs that wait")
	})
}
