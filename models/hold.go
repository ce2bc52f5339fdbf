package models

import (
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/db"
	"warpboard/models/events"
	"warpboard/models/review"
	"warpboard/models/work"
)

// SourceHold keeps the runs of a person's source off a board until a review, with any software, because one of them
// failed when it was measured again. Otherwise a kernel could fail on purpose on slow slots and keep a lucky score. A
// hold remains when its runs are deleted.
type SourceHold struct {
	ID          int64
	VersionID   int64
	Device      string
	UserID      int64
	SourceKey   string
	FailedRunID int64  `gorm:"column:run_id"` // the run that failed; 0: unknown
	Reason      string `gorm:"column:why"`
	CreatedAt   time.Time
}

// TableName returns the table of held sources.
func (SourceHold) TableName() string { return "holds" }

// holdReasonSQL is the reason why a run is held although it would count: an impossible score without a review, a hold
// of its source, or an event whose results are not revealed. It is the only place of this rule. runs.held_why stores
// the result for the index of valid runs, and applyHolds updates it.
const (
	holdReasonSQL = `case when disqualified_at is not null then '' else coalesce(
		(select f.detail from flags f where f.run_id = runs.id and f.kind = 'held' and f.closed_at is null limit 1),
		(select case when h.run_id = runs.id then h.why
			else 'Another run of this source did not pass when it was measured again.' end ` + holdOfRunSQL + `),
		(select '` + events.FrozenHoldReason + `' from submissions s where s.id = runs.submission_id and s.frozen_event <> 0), '') end`
	holdOfRunSQL = `from holds h where h.version_id = runs.version_id and h.device = runs.device and h.user_id = runs.user_id
		and h.source_key = (select s.source_key from submissions s where s.id = runs.submission_id)`
)

// runOnHold is a run with the reason why it is held.
type runOnHold struct {
	ID           int64
	HoldReason   string `gorm:"column:why"`
	HeldBySource bool   `gorm:"column:by_source"`
}

// applyHolds updates the stored reasons of the selected runs, requests reviews of runs that are held because of their
// source, and returns the runs that changed. Call it after each change of the data in holdReasonSQL, and before
// recomputing boards.
func applyHolds(tx, runs *gorm.DB) (changed []runOnHold, err error) {
	err = runs.Where("mode = 'ranked' and state = 'done' and score_ns is not null and purpose = 'submitted' and held_why <> " + holdReasonSQL).
		Select("id, " + holdReasonSQL + " as why, exists (select 1 " + holdOfRunSQL + ") as by_source").Order("id").Scan(&changed).Error
	if err != nil {
		return nil, db.ReadError(err, "what holds runs back")
	}
	for _, r := range changed {
		if err := tx.Model(&work.Run{}).Where("id = ?", r.ID).Update("held_why", r.HoldReason).Error; err != nil {
			return nil, db.WriteError(err, "run %d", r.ID)
		}
		if r.HoldReason == "" || !r.HeldBySource {
			continue
		}
		if err := review.RaiseFlag(tx, r.ID, review.KindUnconfirmed, r.HoldReason); err != nil {
			return nil, err
		}
	}
	return changed, nil
}

// applyHoldsAtEnd holds a run that has just ended, if there is a reason.
func applyHoldsAtEnd(tx *gorm.DB, r *work.Run) error {
	if r.HeldReason != "" { // package scores found the score impossible
		if err := review.RaiseFlag(tx, r.ID, review.KindHeld, r.HeldReason); err != nil {
			return err
		}
	}
	changed, err := applyHolds(tx, tx.Model(&work.Run{}).Where("id = ?", r.ID))
	for _, c := range changed {
		r.HeldReason = c.HoldReason
	}
	return err
}

// holdSource holds the source of a run that failed when it was measured again.
func holdSource(tx *gorm.DB, runID int64, why string) ([]boards.ChangedBoard, error) {
	var run work.Run
	if err := tx.Take(&run, runID).Error; err != nil {
		return nil, db.ReadError(err, "run %d", runID)
	}
	h := SourceHold{VersionID: run.VersionID, Device: run.Device, UserID: run.UserID, FailedRunID: run.ID,
		Reason: db.CutText(db.SanitizeText(why), review.MaxDetailLength), CreatedAt: db.Now()}
	err := tx.Table("submissions").Where("id = ?", run.SubmissionID).Pluck("source_key", &h.SourceKey).Error
	if err == nil {
		err = tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&h).Error
	}
	if err == nil {
		_, err = applyHolds(tx, runsOfEqualSource(tx, run))
	}
	if err != nil {
		return nil, db.WriteError(err, "source of run %d", runID)
	}
	return recomputeBoards(tx, []boards.Entry{{VersionID: run.VersionID, Device: run.Device, UserID: run.UserID}})
}

// releaseSource ends the hold of a run's source, closes the flags of its runs, and allows its confirmation to start
// again. It returns the number of holds that ended. The caller must call applyHolds.
func releaseSource(tx *gorm.DB, actor accounts.User, run work.Run, why string) (ended int64, err error) {
	same := func() *gorm.DB { return runsOfEqualSource(tx, run).Select("id") }
	res := tx.Where("id in (?)", tx.Table("runs").Select("(select h.id "+holdOfRunSQL+")").Where("runs.id = ?", run.ID)).Delete(&SourceHold{})
	if res.Error != nil || res.RowsAffected == 0 {
		return 0, db.WriteError(res.Error, "source of run %d", run.ID)
	}
	err = tx.Model(&review.Flag{}).Where("run_id in (?) and kind = ? and closed_at is null", same(), review.KindUnconfirmed).
		Updates(map[string]any{"closed_at": db.Now(), "closed_by": actor.ID, "outcome": why}).Error
	if err == nil {
		err = allowNextConfirmation(tx, same())
	}
	return res.RowsAffected, db.WriteError(err, "source of run %d", run.ID)
}
