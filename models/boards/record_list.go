package boards

import (
	"context"

	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/db"
)

// olderRecordSQL is the condition that record r has an older epoch than its board.
const olderRecordSQL = "exists (select 1 from boards k where k.version_id = r.version_id and k.device = r.device and k.epoch_id > -r.age)"

// RecordFilter selects records. The zero value selects all.
type RecordFilter struct {
	TaskID int64
	Device string
	UserID int64
	Limit  int
}

// TaskRecord is a record with its task.
type TaskRecord struct {
	RecordWithHolder
	TaskSlug  string
	TaskTitle string
}

// Records lists the latest records on current boards of publicly listed tasks, newest first. If f names a task, it
// lists only that task's records, provided that everyone may see the task.
func (s *Boards) Records(ctx context.Context, f RecordFilter) ([]TaskRecord, error) {
	join := "join "
	if f.TaskID == 0 && f.UserID == 0 {
		// SQLite then joins in this order, newest records first, and stops early instead of sorting all records
		join = "cross join "
	}
	q := s.db.Read(ctx).Table("records r").Select("r.*, u.name as user_name, t.slug as task_slug, t.title as task_title, " + olderRecordSQL + " as older, " + isUnconfirmedSQL + " as unconfirmed").
		Joins(join + "task_versions v").Joins(join + "tasks t").Joins(join + "users u").Joins(join + "runs q").
		Where("v.id = r.version_id and t.id = v.task_id and t.version_id = v.id and u.id = r.user_id and q.id = r.run_id")
	if f.TaskID != 0 {
		q = catalog.RestrictToVisible(q, accounts.User{}).Where("t.id = ?", f.TaskID)
	} else {
		q = catalog.RestrictToListed(q, accounts.User{})
	}
	if f.Device != "" {
		q = q.Where("r.device = ?", f.Device)
	}
	if f.UserID != 0 {
		q = q.Where("r.user_id = ?", f.UserID)
	}
	var list []TaskRecord
	err := q.Order("r.achieved_at desc, r.run_id desc").Limit(f.Limit).Scan(&list).Error
	return list, db.ReadError(err, "the latest records")
}
