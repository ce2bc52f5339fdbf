package models

import (
	"gorm.io/gorm"

	"warpboard/clients/go"
	"warpboard/models/boards"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/work"
)

// outcomeTold is what a run means on its task's current board, for webhooks; nil if it does not stand there. Who is next is
// left out if the task is hidden.
func outcomeTold(tx *gorm.DB, runID int64) (any, error) {
	var run work.Run
	if err := tx.Limit(1).Find(&run, runID).Error; err != nil || !run.Stands() {
		return nil, db.ReadError(err, "run %d", runID)
	}
	var task catalog.Task
	err := tx.Where("version_id = ?", run.VersionID).Limit(1).Find(&task).Error
	if err != nil || task.ID == 0 { // the task has a newer version
		return nil, db.ReadError(err, "task of run %d", runID)
	}
	o, err := boards.OutcomeOf(tx, run.Entry())
	if err != nil || o == nil {
		return nil, err
	}
	if task.Visibility != catalog.Public {
		o.HideNext()
	}
	return (*client.Outcome)(o), nil
}
