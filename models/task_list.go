package models

import (
	"context"

	"warpboard/models/boards"
	"warpboard/tasks"
)

// TaskSummary is a task as a list shows it.
type TaskSummary struct {
	Task
	Lang   tasks.Lang
	Boards []BoardSummary // one per device of the task, in the task's order
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
	langs, err := s.Langs(ctx, ids)
	if err != nil {
		return nil, err
	}
	summaries, err := s.Summaries(ctx, ids)
	if err != nil {
		return nil, err
	}
	out := make([]TaskSummary, len(list))
	for i, t := range list {
		out[i] = TaskSummary{Task: t, Lang: langs[t.VersionID]}
		for _, d := range t.Devices {
			b := summaries[boards.Key{VersionID: t.VersionID, Device: d}]
			b.Device = d
			out[i].Boards = append(out[i].Boards, b)
		}
	}
	return out, nil
}
