package catalog

import (
	"context"

	"warpboard/models/db"
)

// OpenTasks lists the tasks that take submissions, the one with the newest version first. Of each it
// reads what a worker is told of it beforehand: name, devices and current version.
func (s *Catalog) OpenTasks(ctx context.Context) ([]Task, error) {
	var list []Task
	err := s.db.Read(ctx).Select("id", "slug", "devices", "version_id").
		Where("deadline is null or deadline > ?", db.Now()).Order("version_id desc").Find(&list).Error
	return list, db.ReadError(err, "open tasks")
}
