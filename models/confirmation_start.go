package models

import (
	"fmt"

	"gorm.io/gorm"

	"warpboard/models/boards"
	"warpboard/models/db"
	"warpboard/models/pools"
	"warpboard/models/webhooks"
	"warpboard/models/work"
)

// startConfirmation begins one if the board's first was never confirmed and someone else is behind it.
func startConfirmation(tx *gorm.DB, versionID int64, device string, out *work.Recorded) error {
	// Entries of different epochs are not comparable: no one is behind a first that is alone with the newest software.
	top, err := topOf(tx, versionID, device, 2)
	if err != nil || len(top) < 2 || top[0].Age != top[1].Age {
		return err
	}
	// Legs belong to a source, not to a run: sending a confirmed source again, from another account as well, begins
	// nothing.
	turns, err := pools.Turns(tx, top[0].RunID, -top[0].Age)
	if err != nil || len(turns) > 0 {
		return err
	}
	var known int64
	err = tx.Model(&Confirmation{}).Where("(version_id = ? and device = ? and ended_at is null) or (challenger_id = ? and not again)",
		versionID, device, top[0].RunID).Count(&known).Error
	if err != nil || known > 0 {
		return db.ReadError(err, "confirmations")
	}
	// The holder goes first. If its source cannot run any more, that shows before the challenger's legs cost anything.
	c := Confirmation{VersionID: versionID, Device: device, ChallengerID: top[0].RunID, HolderID: top[1].RunID, CreatedAt: db.Now()}
	if err := tx.Create(&c).Error; err != nil {
		return fmt.Errorf("starting a confirmation: %w", err)
	}
	if err := webhooks.HoldPlace(tx, c.ChallengerID); err != nil {
		return err
	}
	if err := c.queueLeg(tx, c.HolderID, out); err != nil {
		return err
	}
	return c.show(tx, c.ChallengerID, out)
}

// topOf is the first entries of a board, so many at most.
// The order is that of bands and pages (entriesFirst in package boards); equal scores: the earlier run.
func topOf(tx *gorm.DB, versionID int64, device string, n int) (top []boards.Entry, err error) {
	err = tx.Where("version_id = ? and device = ?", versionID, device).Order("age, score_ns, run_id").Limit(n).Find(&top).Error
	return top, db.ReadError(err, "the first of a board")
}

// recomputeAndConfirm is recompute after a decision: the run that is first of a board by it is measured again. The changes have the numbers
// that the boards have then.
func (s *Store) recomputeAndConfirm(tx *gorm.DB, runs []boards.Entry) ([]boards.Change, error) {
	changes, err := recompute(tx, runs)
	if err != nil {
		return nil, err
	}
	for i := range changes {
		var out work.Recorded
		if err := s.confirmFirst(tx, changes[i].VersionID, changes[i].Device, &out); err != nil {
			return nil, err
		}
		if out.Board != nil {
			changes[i] = *out.Board
		}
	}
	return changes, nil
}

// confirmFirst begins a confirmation if the site has them enabled. Disabling them leaves open ones: their legs still run,
// and advanceConfirmation ends them, since it ignores the setting.
func (s *Store) confirmFirst(tx *gorm.DB, versionID int64, device string, out *work.Recorded) error {
	if !s.confirm {
		return nil
	}
	return startConfirmation(tx, versionID, device, out)
}

// confirmAfter does so when a run's end has changed its board. A leg's confirmation goes on without it. In a new epoch, the
// last run of a board that is measured again decides who is first.
func (s *Store) confirmAfter(tx *gorm.DB, run *work.Run, out *work.Recorded) error {
	if run.Purpose == work.Confirm || out.Board == nil && run.Purpose != work.Remeasure {
		return nil
	}
	// Until the last rerun of this board has ended, the first changes with every result. One confirmation after all of
	// them is enough.
	if run.Purpose == work.Remeasure {
		var others int64
		err := tx.Model(&work.Run{}).Where("version_id = ? and device = ? and rejudge_id = ? and "+work.Live,
			run.VersionID, run.Device, *run.RejudgeID).Limit(1).Count(&others).Error
		if err != nil || others > 0 {
			return db.ReadError(err, "what is measured again of a board")
		}
	}
	return s.confirmFirst(tx, run.VersionID, run.Device, out)
}
