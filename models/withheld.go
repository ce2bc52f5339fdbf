package models

import (
	"gorm.io/gorm"

	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/db"
	"warpboard/models/pools"
	"warpboard/models/review"
	"warpboard/models/work"
)

// holdSource holds back the valid runs of a run's source, of its person on its board, and those that come later, until someone has
// looked: a leg of its confirmation failed, with whatever software. Else a kernel could fail where it is slow, and keep the number that it was lucky with.
func holdSource(tx *gorm.DB, runID int64, why string) ([]boards.Change, error) {
	var run work.Run
	if err := tx.Take(&run, runID).Error; err != nil {
		return nil, db.ReadError(err, "run %d", runID)
	}
	if err := pools.HoldSource(tx, runID, why); err != nil {
		return nil, err
	}
	var same []int64
	if err := ofEqualSource(tx, run).Where(boards.ValidRun).Pluck("id", &same).Error; err != nil {
		return nil, db.ReadError(err, "runs of the source of run %d", runID)
	}
	for _, id := range same {
		if err := tx.Model(&work.Run{}).Where("id = ?", id).Update("held_why", db.Cut(db.Sanitize(why), review.LongestDetail)).Error; err != nil {
			return nil, db.WriteError(err, "run %d", id)
		}
		if err := review.Raise(tx, id, review.Unconfirmed, why); err != nil {
			return nil, err
		}
	}
	return recompute(tx, []boards.Entry{{VersionID: run.VersionID, Device: run.Device, UserID: run.UserID}})
}

// heldWithSource is why runs are held back that came after the one whose leg failed.
const heldWithSource = "Another run of this source did not pass when it was measured again."

// holdWithheld holds back a valid run whose source is.
func holdWithheld(tx *gorm.DB, r *work.Run) error {
	if !r.Valid() {
		return nil
	}
	withheld, err := pools.Held(tx, r.ID)
	if err != nil || !withheld {
		return err
	}
	r.HeldWhy = heldWithSource
	if err := tx.Model(&work.Run{}).Where("id = ?", r.ID).Update("held_why", r.HeldWhy).Error; err != nil {
		return db.WriteError(err, "run %d", r.ID)
	}
	return review.Raise(tx, r.ID, review.Unconfirmed, r.HeldWhy)
}

// heldBySource chooses the runs of a run's person, board and source that are held back because a leg failed, and for nothing else.
func heldBySource(tx *gorm.DB, run work.Run) *gorm.DB {
	return ofEqualSource(tx, run).Where("held_why <> '' and (held_why = ? or id in (select f.run_id from flags f where f.kind = ? and f.closed_at is null))", heldWithSource, review.Unconfirmed)
}

// releaseSource lets a source count again that was held back, with all its runs, and has its confirmation begin again when it comes first.
func releaseSource(tx *gorm.DB, actor accounts.User, run work.Run, why string) error {
	var same []int64
	err := heldBySource(tx, run).Pluck("id", &same).Error
	if err == nil {
		err = pools.Release(tx, run.ID)
	}
	if err == nil {
		err = tx.Model(&work.Run{}).Where("id in ?", same).Update("held_why", "").Error
	}
	if err == nil {
		err = holdAllFrozen(tx, same)
	}
	if err == nil {
		err = tx.Model(&review.Flag{}).Where("run_id in ? and closed_at is null and (kind = ? or detail = ?)", same, review.Unconfirmed, heldWithSource).
			Updates(map[string]any{"closed_at": db.Now(), "closed_by": actor.ID, "outcome": why}).Error
	}
	if err == nil {
		err = tx.Model(&Confirmation{}).Where("challenger_id in ? and ended_at is not null and "+unmeasured, same).Update("again", true).Error
	}
	return db.WriteError(err, "source of run %d", run.ID)
}
