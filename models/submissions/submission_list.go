package submissions

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"warpboard/evaluator/job"
	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/work"
)

// SubmissionFilter selects submissions. Zero fields select all.
type SubmissionFilter struct {
	UserID     int64
	TaskID     int64
	VersionID  int64
	Via        string
	OnlyRanked bool  `gorm:"column:ranked"` // only those with a ranked result
	BeforeID   int64 // only IDs below this one: the last ID of the previous page
	Offset     int   // number of the newest to skip
	Limit      int   // 0 for 50
	// OnlyTableColumns reads only the columns that tables show, see submissionTableColumns and runTableColumns.
	OnlyTableColumns bool `gorm:"column:short"`
}

// submissionTableColumns lists the columns that tables show of a submission s, its person u, and its task t.
const submissionTableColumns = "s.id, s.user_id, s.mode, s.created_at, u.name as user_name, t.slug as task_slug, t.title as task_title"

// runTableColumns lists the columns that tables show of a run r, a fourth of all, because lists have hundreds of runs.
const runTableColumns = `r.id, r.submission_id, r.mode, r.purpose, r.device, r.state, r.queued_at, r.score_ns, r.failure,
	r.interval_low, r.interval_high, r.processes, r.disqualified_at, r.disqualified_why, r.reinstated_why, r.held_why`

// excludeFrozenEvents excludes submissions s that the viewer may not see because their event is frozen. It must agree
// with Submission.HiddenFrom.
func excludeFrozenEvents(q *gorm.DB, viewer accounts.User) *gorm.DB {
	if viewer.IsAdmin() {
		return q
	}
	return q.Where("(s.frozen_event = 0 or s.user_id = ?)", viewer.ID)
}

// SubmissionSummary is a submission with the data that lists show.
type SubmissionSummary struct {
	Submission
	UserName      string
	TaskSlug      string
	TaskTitle     string
	VersionNumber int
	Runs          []work.Run `gorm:"-"`
}

// Submissions lists the selected submissions that the viewer may see, newest first.
func (t *Submissions) Submissions(
	ctx context.Context, viewer accounts.User, f SubmissionFilter,
) ([]SubmissionSummary, error) {
	// People do not see their own submissions to a task that was hidden later.
	q := excludeFrozenEvents(catalog.RestrictToActivityOf(t.filteredQuery(ctx, f), viewer, f.UserID), viewer)
	if f.Limit <= 0 {
		f.Limit = 50
	}
	var list []SubmissionSummary
	if err := q.Order("s.id desc").Offset(f.Offset).Limit(f.Limit).Scan(&list).Error; err != nil {
		return nil, fmt.Errorf("listing submissions: %w", err)
	}
	return list, t.addRuns(ctx, list, f.OnlyTableColumns)
}

// filteredQuery returns a query for the selected submissions. The order of conditions is fixed, so that equal filters
// have equal SQL texts, which both databases prepare once.
func (t *Submissions) filteredQuery(ctx context.Context, f SubmissionFilter) *gorm.DB {
	q := t.db.Read(ctx).Table("submissions s").Joins("join users u on u.id = s.user_id").Joins("join tasks t on t.id = s.task_id")
	if f.OnlyTableColumns {
		q = q.Select(submissionTableColumns)
	} else {
		q = q.Select("s.*, u.name as user_name, t.slug as task_slug, t.title as task_title, v.number as version_number").
			Joins("join task_versions v on v.id = s.version_id")
	}
	if f.UserID > 0 {
		q = q.Where("s.user_id = ?", f.UserID)
	}
	if f.TaskID > 0 {
		q = q.Where("s.task_id = ?", f.TaskID)
	}
	if f.VersionID > 0 {
		q = q.Where("s.version_id = ?", f.VersionID)
	}
	switch {
	case f.Via != "":
		q = q.Where("s.via = ?", f.Via)
	case f.UserID != 0: // trials of a person's own task are on the task's page
		q = q.Where("s.via <> ?", ViaTrial)
	}
	if f.OnlyRanked {
		q = q.Where("s.mode = ? and exists (select 1 from runs r where r.submission_id = s.id and r.profile_of is null and r.state = ?)", job.ModeRanked, work.StateDone)
	}
	if f.BeforeID > 0 {
		q = q.Where("s.id < ?", f.BeforeID)
	}
	return q
}

func (t *Submissions) addRuns(ctx context.Context, list []SubmissionSummary, short bool) error {
	at := make(map[int64]int, len(list))
	ids := make([]int64, len(list))
	for i, sub := range list {
		at[sub.ID], ids[i] = i, sub.ID
	}
	columns := "r.*"
	if short {
		columns = runTableColumns
	}
	runs := make([]work.Run, 0, len(list)) // most have one device: avoids copying rows while the list grows
	// This second query may see a later state: a run may have ended, or its submission may be deleted. Neither harms a
	// list.
	if err := t.db.Read(ctx).Table("runs r").Select(columns).Where("r.submission_id in ? and r.profile_of is null", ids).Order("r.id").Scan(&runs).Error; err != nil {
		return fmt.Errorf("listing runs: %w", err)
	}
	for _, run := range runs {
		i := at[run.SubmissionID]
		list[i].Runs = append(list[i].Runs, run)
	}
	return nil
}

// LatestToTask lists a person's latest submissions to a task, except those of trials, with the runs that the person
// requested. It makes one query and reads the columns of tables. Of the submissions it sets only ID, mode, and time.
// Each submission has runs (see Submit), so the join omits none.
func (t *Submissions) LatestToTask(
	ctx context.Context, userID, taskID int64, limit int,
) (list []SubmissionSummary, err error) {
	latest := t.db.Read(ctx).Table("submissions").Where("user_id = ? and task_id = ? and via <> ?", userID, taskID, ViaTrial).Order("id desc").Limit(limit)
	var rows []struct {
		work.Run  `gorm:"embedded"`
		Submitted time.Time
	}
	err = t.db.Read(ctx).Table("(?) s", latest).Select(runTableColumns + ", s.created_at as submitted").
		Joins("join runs r on r.submission_id = s.id and r.profile_of is null").Order("s.id desc, r.id").Scan(&rows).Error
	for _, row := range rows {
		last := len(list) - 1
		if last < 0 || list[last].ID != row.SubmissionID {
			list = append(list, SubmissionSummary{Submission: Submission{
				ID:        row.SubmissionID,
				UserID:    userID,
				TaskID:    taskID,
				Mode:      row.Mode,
				CreatedAt: row.Submitted,
			}})
			last++
		}
		list[last].Runs = append(list[last].Runs, row.Run)
	}
	return list, db.ReadError(err, "submissions of a person to a task")
}

// LastSubmission is a person's latest submission and the number of its unfinished runs.
type LastSubmission struct {
	ID             int64
	TaskSlug       string
	TaskTitle      string
	UnfinishedRuns int `gorm:"column:live"`
}

// LastSubmission returns a person's latest submission to a task that they can still see, or NotFound.
func (t *Submissions) LastSubmission(ctx context.Context, person accounts.User) (LastSubmission, error) {
	var last LastSubmission
	q := t.db.Read(ctx).Table("submissions s").
		Select("s.id, t.slug as task_slug, t.title as task_title, (select count(*) from runs r where r.submission_id = s.id and r.profile_of is null and r.ended_at is null) as live").
		Joins("join tasks t on t.id = s.task_id").Where("s.user_id = ? and s.via <> ?", person.ID, ViaTrial)
	err := catalog.RestrictToVisible(q, person).Order("s.id desc").Limit(1).Take(&last).Error
	return last, db.ReadError(err, "submission of this person")
}

// CountByDay counts a person's submissions since a time, to tasks that the viewer may see, by UTC day ("2026-11-22").
func (t *Submissions) CountByDay(
	ctx context.Context, viewer accounts.User, userID int64, since time.Time,
) (map[string]int, error) {
	var rows []struct {
		Day   string
		Count int
	}
	q := t.db.Read(ctx).Table("submissions s").Select(t.db.DaySQL("s.created_at")+" as day, count(*) as count").
		Joins("join tasks t on t.id = s.task_id").Where("s.user_id = ? and s.created_at >= ?", userID, db.NormalizeTime(since))
	q = excludeFrozenEvents(catalog.RestrictToActivityOf(q, viewer, userID), viewer)
	err := t.db.Read(ctx).Table("(?) d", q.Group("day")).Select(t.db.DayTextSQL("day") + " as day, count").Scan(&rows).Error
	days := make(map[string]int, len(rows))
	for _, row := range rows {
		days[row.Day] = row.Count
	}
	return days, db.ReadError(err, "the activity of person %d", userID)
}
