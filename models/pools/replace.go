package pools

import (
	"fmt"
	"time"

	"gorm.io/gorm"

	"warpboard/models/db"
)

// Replace lets a rejudge's measurement, m, replace everything in the pool of a run: its person's runs of that source and
// software, also those that do not count now, and retained measurements. They have m's numbers from then on, and count once,
// whichever run stands for the others.
func Replace(tx *gorm.DB, runID int64, m Measurement, epochID int64, until time.Time) error {
	by := m.RunID
	m.Fixed, m.ByRun = false, &by
	var of struct {
		VersionID, UserID int64
		Device, SourceKey string
	}
	err := tx.Table("runs r").Joins("join submissions s on s.id = r.submission_id").Select("r.version_id, r.user_id, r.device, s.source_key").Where("r.id = ?", runID).Take(&of).Error
	if err != nil {
		return db.ReadError(err, "source of run %d", runID)
	}
	same := []int64{}
	// Runs that are disqualified or held are among them, hence no ValidRun: reinstated, they would bring their old luck
	// back.
	if of.SourceKey != "" {
		err = tx.Table("runs r").Joins("join submissions s on s.id = r.submission_id").
			Where("r.version_id = ? and r.device = ? and r.user_id = ? and s.source_key = ? and r.epoch_id = ?", of.VersionID, of.Device, of.UserID, of.SourceKey, epochID).
			Where("r.mode = 'ranked' and r.state = 'done' and r.score_ns is not null and r.profile_of is null and r.id <> ? and r.ended_at <= ?", runID, db.Time(until)).
			Pluck("r.id", &same).Error
	}
	if err == nil {
		err = tx.Where("version_id = ? and device = ? and user_id = ? and source_key = ? and epoch_id = ? and why <> ? and ended_at <= ?",
			of.VersionID, of.Device, of.UserID, of.SourceKey, epochID, Unconfirmed, db.Time(until)).Delete(&Retained{}).Error
	}
	if err != nil {
		return db.WriteError(err, "what was measured of the source of run %d", runID)
	}
	// Each gets a copy of m that names the one measuring run (ByRun); distinct counts these copies once.
	for _, id := range append(same, runID) {
		m.RunID = id
		if err := m.Set(tx, map[string]any{"epoch_id": epochID}); err != nil {
			return fmt.Errorf("in place of what run %d measured: %w", id, err)
		}
	}
	return nil
}

// others reports whether runs of other submissions have what measured a run again, too.
func (m Measurement) others(tx *gorm.DB, submissionID int64) (bool, error) {
	if m.ByRun == nil {
		return false, nil
	}
	var n int64
	err := tx.Table("measurements x").Joins("join runs r on r.id = x.run_id").Where("x.by_run = ? and r.submission_id <> ?", *m.ByRun, submissionID).Limit(1).Count(&n).Error
	return n > 0, db.ReadError(err, "what was measured by run %d", *m.ByRun)
}
