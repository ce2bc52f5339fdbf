package catalog

import (
	"time"

	"gorm.io/gorm"

	"warpboard/models/accounts"
	"warpboard/models/db"
)

// ScheduleTask sets the time at which a task closes. If the task is hidden and opens is in the future, it becomes
// public at that time.
func ScheduleTask(tx *gorm.DB, actor accounts.User, task Task, opens, closes time.Time) error {
	in, opening := task.Settings(), task.CurrentVisibility() == Hidden && opens.After(db.Now())
	if !opening && in.Deadline != nil && in.Deadline.Equal(closes) {
		return nil
	}
	if in.Deadline = &closes; opening {
		task.OpensAt = &opens
	}
	return task.changeSettings(tx, actor, in)
}

// UnscheduleTasks cancels the scheduled opening of hidden tasks.
func UnscheduleTasks(tx *gorm.DB, taskIDs []int64) error {
	err := tx.Model(&Task{}).Where("id in ? and opens_at > ?", taskIDs, db.NormalizeTime(db.Now())).Update("opens_at", nil).Error
	return db.WriteError(err, "tasks")
}

// changeSettings changes settings without a new version. It refuses to reopen a closed task if secret cases have been
// drawn for it, because they became public at the deadline.
func (t *Task) changeSettings(tx *gorm.DB, actor accounts.User, in TaskSettings) error {
	open := t.AcceptsSubmissions(tx.NowFunc())
	if err := t.saveSettings(tx, actor, in); err != nil || open || !t.AcceptsSubmissions(tx.NowFunc()) {
		return err
	}
	var drawn int64
	if err := tx.Table("draws").Where("version_id = ?", t.VersionID).Limit(1).Count(&drawn).Error; err != nil {
		return db.ReadError(err, "draws of task %s", t.Slug)
	}
	if drawn > 0 {
		return db.Errorf(db.Conflict, "The task %s has closed, so everyone can read its secret sizes. Publish a new version to open it again.", t.Title)
	}
	return nil
}
