package models

import (
	"gorm.io/gorm"

	"warpboard/models/boards"
	"warpboard/models/db"
	"warpboard/models/flags"
	"warpboard/models/pools"
)

// holdSource holds back the valid runs of a run's source, of its person on its board, and those that come later, until somebody has
// looked: a leg of its confirmation failed. Else a kernel could fail where it is slow, and keep the number that it was lucky with.
func holdSource(tx *gorm.DB, runID int64, why string) error {
	var run Run
	if err := tx.Take(&run, runID).Error; err != nil {
		return db.ReadError(err, "run %d", runID)
	}
	if err := pools.Withhold(tx, runID, db.Now()); err != nil {
		return err
	}
	var same []int64
	err := tx.Table("runs").Where("version_id = ? and device = ? and user_id = ? and epoch_id = ? and "+boards.ValidRun, run.VersionID, run.Device, run.UserID, run.EpochID).
		Where("id = ? or submission_id in (select s.id from submissions s join submissions o on o.user_id = s.user_id and o.version_id = s.version_id and o.source_key = s.source_key where o.id = ? and o.source_key <> '')",
			runID, run.SubmissionID).Pluck("id", &same).Error
	if err != nil {
		return db.ReadError(err, "runs of the source of run %d", runID)
	}
	for _, id := range same {
		if err := tx.Model(&Run{}).Where("id = ?", id).Update("held_why", db.Cut(db.Sanitize(why), flags.LongestDetail)).Error; err != nil {
			return db.WriteError(err, "run %d", id)
		}
		if err := flags.Raise(tx, id, flags.Unconfirmed, why); err != nil {
			return err
		}
	}
	_, err = recompute(tx, []Entry{{VersionID: run.VersionID, Device: run.Device, UserID: run.UserID}})
	return err
}

// holdWithheld holds back a valid run whose source is.
func holdWithheld(tx *gorm.DB, r *Run) error {
	if !r.Valid() {
		return nil
	}
	withheld, err := pools.Withheld(tx, r.ID)
	if err != nil || !withheld {
		return err
	}
	r.HeldWhy = "Another run of this source did not pass when it was measured again."
	return db.WriteError(tx.Model(&Run{}).Where("id = ?", r.ID).Update("held_why", r.HeldWhy).Error, "run %d", r.ID)
}

// releaseSource lets a source count again that was held back, and has its confirmation begin again when it comes first.
func releaseSource(tx *gorm.DB, runID int64) error {
	if err := pools.Release(tx, runID); err != nil {
		return err
	}
	err := tx.Model(&Confirmation{}).Where("challenger_id = ? and ended_at is not null and challenger_ns is null", runID).Update("again", true).Error
	return db.WriteError(err, "confirmation of run %d", runID)
}
