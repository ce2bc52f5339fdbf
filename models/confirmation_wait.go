package models

import (
	"context"
	"time"

	"gorm.io/gorm"

	"warpboard/models/db"
	"warpboard/models/work"
)

// maxTurnWait is the time for which people's work takes precedence over a waiting turn. Without it, a lucky 1st place
// on a busy device would never be measured again. Four to eight turns take about a minute of an hour.
const maxTurnWait = 10 * time.Minute

// PrioritizeOverdueTurns gives turns, the runs of a confirmation, that have waited for maxTurnWait the priority of
// people's runs, ahead of all that were queued later. They are no longer preempted. In the fair order such a turn does
// not count as a run of the person whose source it measures, because that person did not request it, and could delay
// it with other runs.
func (s *Store) PrioritizeOverdueTurns(ctx context.Context, at time.Time) error {
	late := func(tx *gorm.DB) *gorm.DB {
		return tx.Model(&work.Run{}).Where("purpose = 'confirm' and not overdue and queued_at <= ? and "+work.NotEndedSQL, db.NormalizeTime(at.Add(-maxTurnWait)))
	}
	var waiting int64
	// The dispatcher calls this in every pass. Reading first avoids a write transaction if nothing waits, which is
	// nearly always so. The transaction checks the same condition again.
	err := late(s.db.Read(ctx)).Limit(1).Count(&waiting).Error
	if err != nil || waiting == 0 {
		return db.ReadError(err, "turns that wait")
	}
	return s.db.Write(ctx, func(tx *gorm.DB) error {
		return db.WriteError(late(tx).Update("overdue", true).Error, "turns that wait")
	})
}
