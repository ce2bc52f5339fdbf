package models

import (
	"context"

	"warpboard/tasks"
)

// Task returns the task with this slug. Callers ask VisibleTo before they show it.
func (s *Store) Task(ctx context.Context, slug string) (Task, error) {
	var task Task
	err := s.read(ctx).Where("slug = ?", slug).Take(&task).Error
	return task, lookup(err, "task %q", slug)
}

// TaskByID returns the task with this id.
func (s *Store) TaskByID(ctx context.Context, id int64) (Task, error) {
	var task Task
	err := s.read(ctx).Take(&task, id).Error
	return task, lookup(err, "task %d", id)
}

// Tasks lists the tasks that the viewer may see: open ones first, then the latest first.
func (s *Store) Tasks(ctx context.Context, viewer User) ([]Task, error) {
	var list []Task
	q := s.read(ctx).Clauses(orderBy("case when deadline is null or deadline > ? then 0 else 1 end, id desc", now()))
	if !viewer.IsAdmin() {
		q = q.Where("visibility = ? or owner_id = ?", Public, viewer.ID)
	}
	err := q.Find(&list).Error
	return list, lookup(err, "tasks")
}

// TaskSummary is a task as a list shows it.
type TaskSummary struct {
	Task
	Lang   tasks.Lang
	Boards []BoardSummary // one per device of the task, in the task's order
}

// BoardSummary is a board in short.
type BoardSummary struct {
	Device  string
	Size    int64      // people on it
	Leaders []Standing // the first three
}

// TaskSummaries lists what Tasks lists, with the leaders of the current version's boards.
func (s *Store) TaskSummaries(ctx context.Context, viewer User) ([]TaskSummary, error) {
	list, err := s.Tasks(ctx, viewer)
	if err != nil {
		return nil, err
	}
	ids := make([]int64, len(list))
	for i, t := range list {
		ids[i] = t.VersionID
	}
	langs, err := s.langs(ctx, ids)
	if err != nil {
		return nil, err
	}
	boards, err := s.boardSummaries(ctx, ids)
	if err != nil {
		return nil, err
	}
	out := make([]TaskSummary, len(list))
	for i, t := range list {
		out[i] = TaskSummary{Task: t, Lang: langs[t.VersionID]}
		for _, d := range t.Devices {
			b := boards[boardKey{t.VersionID, d}]
			b.Device = d
			out[i].Boards = append(out[i].Boards, b)
		}
	}
	return out, nil
}
