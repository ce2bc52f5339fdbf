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
	Tags   []string
	Mine   bool           // the viewer is on one of its boards
	People int64          // entries on all its boards
	Boards []BoardSummary // one per device of the task, in the task's order
}

// TaskSummaries lists what Tasks lists, with the leaders of the current version's boards.
func (s *Store) TaskSummaries(ctx context.Context, viewer User) ([]TaskSummary, error) {
	list, err := s.TaskList(ctx, viewer)
	if err != nil {
		return nil, err
	}
	return list, s.AddBoards(ctx, list)
}

// TaskList lists what Tasks lists, without boards: enough to search and sort.
func (s *Store) TaskList(ctx context.Context, viewer User) ([]TaskSummary, error) {
	list, err := s.ListTasks(ctx, viewer)
	if err != nil {
		return nil, err
	}
	out := make([]TaskSummary, len(list))
	for i, t := range list {
		out[i].Task, out[i].Lang, out[i].Tags, out[i].Mine, out[i].People = t.Task, t.Lang, t.Tags, t.Mine, t.People
	}
	return out, nil
}

// AddBoards reads the leaders of the tasks' current boards, one for each device of the task.
func (s *Store) AddBoards(ctx context.Context, list []TaskSummary) error {
	summaries, err := s.Summaries(ctx, versionsOf(list))
	if err != nil {
		return err
	}
	for i, t := range list {
		for _, d := range t.Devices {
			b := summaries[boards.Key{VersionID: t.VersionID, Device: d}]
			b.Device = d
			list[i].Boards = append(list[i].Boards, b)
		}
	}
	return nil
}

// OwnRanks reads the places of a person on the tasks' current boards, in one query; boards that the person is not on are left out.
func (s *Store) OwnRanks(ctx context.Context, userID int64, list []TaskSummary) (map[boards.Key]boards.Ranked, error) {
	return s.Own(ctx, userID, versionsOf(list))
}

func versionsOf(list []TaskSummary) []int64 {
	ids := make([]int64, len(list))
	for i, t := range list {
		ids[i] = t.VersionID
	}
	return ids
}
