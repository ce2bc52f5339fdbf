package models

import (
	"context"
	"fmt"
)

// SubmissionFilter chooses submissions; a zero field chooses all.
type SubmissionFilter struct {
	UserID    int64
	TaskID    int64
	VersionID int64
	Before    int64 // only ids below this one: the next page begins at the last id of this one
	Limit     int   // 0: 50
}

// SubmissionSummary is a submission as a list shows it.
type SubmissionSummary struct {
	Submission
	UserName  string
	TaskSlug  string
	TaskTitle string
	Runs      []Run `gorm:"-"`
}

// Submissions lists what the filter chooses and the viewer may see, the newest first.
func (s *Store) Submissions(ctx context.Context, viewer User, f SubmissionFilter) ([]SubmissionSummary, error) {
	q := s.db.Read(ctx).Table("submissions s").
		Select("s.*, u.name as user_name, t.slug as task_slug, t.title as task_title").
		Joins("join users u on u.id = s.user_id").Joins("join tasks t on t.id = s.task_id")
	for column, value := range map[string]int64{"s.user_id": f.UserID, "s.task_id": f.TaskID, "s.version_id": f.VersionID} {
		if value > 0 {
			q = q.Where(column+" = ?", value)
		}
	}
	if f.Before > 0 {
		q = q.Where("s.id < ?", f.Before)
	}
	if !viewer.IsAdmin() {
		q = q.Where("t.visibility = ? or t.owner_id = ?", Public, viewer.ID)
	}
	if f.Limit <= 0 {
		f.Limit = 50
	}
	var list []SubmissionSummary
	if err := q.Order("s.id desc").Limit(f.Limit).Scan(&list).Error; err != nil {
		return nil, fmt.Errorf("listing submissions: %w", err)
	}
	return list, s.addRuns(ctx, list)
}

func (s *Store) addRuns(ctx context.Context, list []SubmissionSummary) error {
	at := make(map[int64]int, len(list))
	ids := make([]int64, len(list))
	for i, sub := range list {
		at[sub.ID], ids[i] = i, sub.ID
	}
	var runs []Run
	if err := s.db.Read(ctx).Where("submission_id in ? and profile_of is null", ids).Order("id").Find(&runs).Error; err != nil {
		return fmt.Errorf("listing runs: %w", err)
	}
	for _, run := range runs {
		i := at[run.SubmissionID]
		list[i].Runs = append(list[i].Runs, run)
	}
	return nil
}
