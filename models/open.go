package models

import "context"

// OpenTasks lists the tasks that take submissions, the one with the newest version first. Of each it
// reads what a worker is told of it beforehand: name, devices and current version.
func (s *Store) OpenTasks(ctx context.Context) ([]Task, error) {
	var list []Task
	err := s.read(ctx).Select("id", "slug", "devices", "version_id").
		Where("deadline is null or deadline > ?", now()).Order("version_id desc").Find(&list).Error
	return list, lookup(err, "open tasks")
}
