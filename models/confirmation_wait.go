package models

import (
	"context"
	"time"

	"gorm.io/gorm"

	"warpboard/models/db"
	"warpboard/models/work"
)

// turnMaxWait is the time for which a turn of a confirmation gives way to people's work. On a device that is never
// idle, a lucky 1st place would otherwise never be measured again; four to eight turns take a minute of it in an hour.
const turnMaxWait = 10 * time.Minute

// HurryTurns moves turns that have waited for longer than a limit among people's runs: before all that were queued
// after them. They are no longer preempted. Such a run does not use its person's turn, because they did not ask for it
// and could otherwise delay it with their own runs.
func (s *Store) HurryTurns(ctx context.Context, at time.Time) error {
	late := func(tx *gorm.DB) *gorm.DB {
		return tx.Model(&work.Run{}).Where("purpose = 'confirm' and not overdue and queued_at <= ? and "+work.LiveCondition, db.Time(at.Add(-turnMaxWait)))
	}
	var waiting int64
	// The dispatcher calls this in every round. Reading first keeps the writer free if nothing waits, which is nearly
	// always; the same condition leaves out a turn that ends between the two.
	err := late(s.db.Read(ctx)).Limit(1).Count(&waiting).Error
	if err != nil || waiting == 0 {
		return db.ReadError(err, "turns that wait")
	}
	return s.db.Write(ctx, func(tx *gorm.DB) error {
		return db.WriteError(late(tx).Update("overdue", true).Error, "turns that wait")
	})
}
