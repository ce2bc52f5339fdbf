package boards

import (
	"context"

	"warpboard/models/catalog"
	"warpboard/models/db"
)

// RecordFilter chooses records; the zero value is all of them.
type RecordFilter struct {
	TaskID int64
	Device string
	UserID int64
	Limit  int
}

// TaskRecord is a record with its task.
type TaskRecord struct {
	RecordHolder
	TaskSlug  string
	TaskTitle string
}

// Records lists the latest records of the current boards of tasks that everybody may see, the last first.
func (s *Boards) Records(ctx context.Context, f RecordFilter) ([]TaskRecord, error) {
	q := s.db.Read(ctx).Table("records r").Select("r.*, u.name as user_name, t.slug as task_slug, t.title as task_title").
		Joins("join users u on u.id = r.user_id").Joins("join tasks t on t.version_id = r.version_id").Where("t.visibility = ?", catalog.Public)
	if f.TaskID != 0 {
		q = q.Where("t.id = ?", f.TaskID)
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
