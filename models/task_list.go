package models

import (
	"context"

	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/catalog"
	"warpboard/tasks"
)

// TaskSummary is a task with its boards in the form that lists show.
type TaskSummary struct {
	catalog.Task
	Lang        tasks.Lang
	Tags        []string
	ProblemName string                `gorm:"column:problem"`
	HasOwnEntry bool                  `gorm:"column:mine"`   // the viewer is on one of its boards
	EntryCount  int64                 `gorm:"column:people"` // number of entries on all its boards
	Boards      []boards.BoardSummary // one per device of the task, in the task's order
}

// TaskList returns the tasks that the viewer may see, without boards, for searching and sorting.
func (s *Store) TaskList(ctx context.Context, viewer accounts.User) ([]TaskSummary, error) {
	list, err := s.Catalog.TaskRows(ctx, viewer)
	if err != nil {
		return nil, err
	}
	out := make([]TaskSummary, len(list))
	for i, t := range list {
		out[i].Task, out[i].Lang, out[i].Tags, out[i].ProblemName, out[i].HasOwnEntry, out[i].EntryCount = t.Task, t.Lang, t.Tags, t.ProblemName, t.HasOwnEntry, t.EntryCount
	}
	return out, nil
}

// AddBoardSummaries adds to tasks the leading entries of their current boards, one board per device, and the viewer's
// ranks.
func (s *Store) AddBoardSummaries(ctx context.Context, viewer accounts.User, list []TaskSummary) error {
	versions := make([]int64, len(list))
	for i, t := range list {
		versions[i] = t.VersionID
	}
	summaries, err := s.Boards.SummariesOf(ctx, viewer.ID, versions)
	if err != nil {
		return err
	}
	for i, t := range list {
		for _, d := range t.Devices {
			b := summaries[boards.BoardKey{VersionID: t.VersionID, Device: d}]
			b.Device = d
			list[i].Boards = append(list[i].Boards, b)
		}
	}
	return nil
}
