package events

import (
	"time"

	"gorm.io/gorm"

	"warpboard/models/catalog"
	"warpboard/models/db"
)

// FrozenHoldReason is the reason for holding a run that was submitted while its event was frozen.
const FrozenHoldReason = "Its event was frozen when it was submitted. It counts when the organizer reveals the results."

// utcFormat is the format of times in sentences.
const utcFormat = "2006-01-02 15:04:05"

// CheckEventOpen returns an error for a submission to a task whose event has not begun. Otherwise it returns the ID of
// the event that is frozen for the task, or 0. Submissions that an admin adds for a person, and trials of a task, are
// accepted at any time, and are frozen even after the end.
func CheckEventOpen(tx *gorm.DB, task catalog.Task, at time.Time, exempt bool) (frozen int64, err error) {
	var found []Event
	err = tx.Where("id in (select event_id from event_tasks where task_id = ?)", task.ID).
		Where("ends_at > ? or frozen_at is not null and revealed_at is null", at).Order("ends_at desc").Limit(1).Find(&found).Error
	if err != nil || len(found) == 0 {
		return 0, db.ReadError(err, "event of task %s", task.Slug)
	}
	switch e := found[0]; {
	case !e.HasBegun(at) && !exempt:
		return 0, db.Errorf(db.Forbidden, "The event %s starts at %s UTC. Until then, %s accepts no submissions.", e.Title, e.StartsAt.UTC().Format(utcFormat), task.Title)
	case e.IsFrozen(at) && (exempt || !e.HasEnded(at)):
		return e.ID, nil
	}
	return 0, nil
}
