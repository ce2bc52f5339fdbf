package catalog

import (
	"context"

	"gorm.io/gorm"

	"warpboard/models/accounts"
	"warpboard/models/db"
	"warpboard/tasks"
)

// Task returns the task with a slug. The caller must check RestrictToVisible before showing it.
func (s *Catalog) Task(ctx context.Context, slug string) (Task, error) {
	var task Task
	err := s.db.Read(ctx).Where("slug = ?", slug).Take(&task).Error
	return task, db.ReadError(err, "task %q", slug)
}

// FullTask is a task with its current version, its author, and its event.
type FullTask struct {
	Task
	Version    TaskVersion
	Owner      accounts.User
	EventSlug  string // slug of the current event with the task; empty if none
	EventTitle string
}

// TableName returns the table of tasks.
func (FullTask) TableName() string { return "tasks" }

// joinRunningEventSQL joins task t with its running event. Of several events it joins the one that ends first.
const joinRunningEventSQL = `left join events e on e.id = (select r.id from events r join event_tasks t on t.event_id = r.id
	where t.task_id = tasks.id and r.starts_at <= ? and r.ends_at > ? order by r.ends_at, r.id limit 1)`

// FullTask reads a task with its version, author, and event. The caller must check RestrictToVisible before showing it.
func (s *Catalog) FullTask(ctx context.Context, slug string) (FullTask, error) {
	var posed FullTask
	now := db.Now()
	err := s.db.Read(ctx).Select([]string{"tasks.*", "coalesce(e.slug, '') as event_slug", "coalesce(e.title, '') as event_title"}).
		Joins("Version").Joins("Owner").Joins(joinRunningEventSQL, now, now).Where("tasks.slug = ?", slug).Take(&posed).Error
	return posed, db.ReadError(err, "task %q", slug)
}

// TaskByID returns the task with an ID.
func (s *Catalog) TaskByID(ctx context.Context, id int64) (Task, error) {
	var task Task
	err := s.db.Read(ctx).Take(&task, id).Error
	return task, db.ReadError(err, "task %d", id)
}

// Tasks lists the tasks that the viewer may see: open ones first, newest first.
func (s *Catalog) Tasks(ctx context.Context, viewer accounts.User) ([]Task, error) {
	var list []Task
	err := s.listQuery(ctx, viewer).Find(&list).Error
	return list, db.ReadError(err, "tasks")
}

// TaskRow is a task with additional data for lists.
type TaskRow struct {
	Task
	Lang        tasks.Lang // language of the current version
	Tags        []string   `gorm:"serializer:json"`
	ProblemName string     `gorm:"column:problem"`
	HasOwnEntry bool       `gorm:"column:mine"`   // the viewer is on one of its boards
	EntryCount  int64      `gorm:"column:people"` // number of entries on all its boards
}

// TaskRows lists the tasks that the viewer may see, as Tasks does, with additional data for lists.
func (s *Catalog) TaskRows(ctx context.Context, viewer accounts.User) ([]TaskRow, error) {
	var list []TaskRow
	err := s.listQuery(ctx, viewer).
		Select("t.*, v.lang, v.tags, v.problem, t.version_id in (select e.version_id from entries e where e.user_id = ?) as mine, "+
			"(select coalesce(sum(o.size), 0) from boards o where o.version_id = t.version_id) as people", viewer.ID).
		Joins("join task_versions v on v.id = t.version_id").Scan(&list).Error
	return list, db.ReadError(err, "tasks")
}

func (s *Catalog) listQuery(ctx context.Context, viewer accounts.User) *gorm.DB {
	q := s.db.Read(ctx).Table("tasks t").Clauses(db.OrderBy("case when t.deadline is null or t.deadline > ? then 0 else 1 end, t.id desc", db.Now()))
	return RestrictToListed(q, viewer)
}

// OpenTasks lists the tasks that accept submissions, newest version first. It reads only what workers need for
// preparing tasks: name, devices, and current version.
func (s *Catalog) OpenTasks(ctx context.Context) ([]Task, error) {
	var list []Task
	err := s.db.Read(ctx).Select("id", "slug", "devices", "version_id").
		Where("deadline is null or deadline > ?", db.Now()).Order("version_id desc").Find(&list).Error
	return list, db.ReadError(err, "open tasks")
}
