package models

import (
	"gorm.io/gorm"

	"warpboard/clients/go"
	"warpboard/models/boards"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/work"
)

// webhookOutcome returns the outcome of a run on its task's current board, for a webhook of a person (receiver) or of
// the site (0). It returns nil if the run has no rank. It omits the entry ahead if the receiver may not see the task;
// for the site's webhooks, unless everyone may.
func webhookOutcome(tx *gorm.DB, receiver, runID int64) (any, error) {
	var run work.Run
	if err := tx.Limit(1).Find(&run, runID).Error; err != nil || !run.MayBeEntry() {
		return nil, db.ReadError(err, "run %d", runID)
	}
	var task catalog.Task
	err := tx.Where("version_id = ?", run.VersionID).Limit(1).Find(&task).Error
	if err != nil || task.ID == 0 { // the run belongs to an older version of the task
		return nil, db.ReadError(err, "task of run %d", runID)
	}
	outcomes, _, err := boards.OutcomesOf(tx, run.BoardEntry())
	o := outcomes[run.ID]
	if err != nil || o == nil {
		return nil, err
	}
	shown := task.CurrentVisibility() == catalog.Public
	if receiver != 0 {
		if shown, err = canSeeRun(tx, receiver, runID); err != nil {
			return nil, err
		}
	}
	if !shown {
		o.HideNext()
	}
	return (*client.Outcome)(o), nil
}
