package models

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/review"
	"warpboard/models/submissions"
)

// FlaggedRun is a run in the review queue with its open flags.
type FlaggedRun struct {
	OldestFlagID    int64 `gorm:"column:first"` // ID of its oldest open flag: the next page begins after it
	RunID           int64
	SubmissionID    int64
	Device          string
	ScoreNS         *float64 `gorm:"column:score_ns"`
	DisturbedReason string   `gorm:"column:disturbed"` // reason for bad conditions
	UserID          int64
	UserName        string
	TaskSlug        string
	TaskTitle       string
	TaskDeadline    *time.Time         `gorm:"column:deadline"`
	Flags           []FlagWithReporter `gorm:"-"`
	MayReadSource   bool               `gorm:"-"` // the reader may read its source
}

// ReviewFilter selects runs of the review queue. The zero value selects all.
type ReviewFilter struct {
	RunIDs      []int64         // run IDs; nil for all
	Task        string          // slug
	Kind        review.FlagKind // kind of one of the run's open flags
	Priority    ReviewPriority
	AfterFlagID int64 // FlaggedRun.OldestFlagID of the last run before
	Limit       int
}

// ReviewPriority is the urgency of a review.
type ReviewPriority string

// Priorities. A run of low priority was disturbed and its only flags are about clocks, which is common on a loaded
// machine.
const (
	AnyReviewPriority  ReviewPriority = ""
	HighReviewPriority ReviewPriority = "high"
	LowReviewPriority  ReviewPriority = "low"
)

// priorityFlagsSQL counts the flags of a run that raise its priority above low.
const priorityFlagsSQL = "sum(case when f.kind = 'clocks' and r.disturbed <> '' then 0 else 1 end)"

// ReviewQueue lists runs with open flags that the actor may review, longest waiting first. Flags raised by the site are
// listed only while the run is an entry or is held.
func (s *Store) ReviewQueue(ctx context.Context, actor accounts.User, f ReviewFilter) ([]FlaggedRun, error) {
	q, err := s.reviewableFlags(ctx, actor)
	if err != nil {
		return nil, err
	}
	q = q.Select("min(f.id) as first, r.id as run_id, r.submission_id, r.device, r.score_ns, r.disturbed, r.user_id, u.name as user_name, t.slug as task_slug, t.title as task_title, t.deadline").
		Joins("join users u on u.id = r.user_id").Group("r.id, u.id, t.id").Having("min(f.id) > ?", f.AfterFlagID)
	if f.RunIDs != nil {
		q = q.Where("r.id in ?", f.RunIDs)
	}
	if f.Task != "" {
		q = q.Where("t.slug = ?", f.Task)
	}
	if f.Kind != "" {
		q = q.Having("sum(case when f.kind = ? then 1 else 0 end) > 0", f.Kind)
	}
	switch f.Priority {
	case HighReviewPriority:
		q = q.Having(priorityFlagsSQL + " > 0")
	case LowReviewPriority:
		q = q.Having(priorityFlagsSQL + " = 0")
	}
	var list []FlaggedRun
	if err := q.Order("first").Limit(f.Limit).Scan(&list).Error; err != nil {
		return nil, fmt.Errorf("listing runs to review: %w", err)
	}
	// The second query may see a later state: a run whose flag was closed in between has no flags.
	ids := make([]int64, len(list))
	for i, run := range list {
		ids[i] = run.RunID
	}
	open, err := s.queryFlags(ctx, "f.closed_at is null and f.run_id in ?", ids)
	for i := range list {
		// People who are not admins see the queue of their own tasks.
		task := catalog.Task{OwnerID: actor.ID, Deadline: list[i].TaskDeadline}
		list[i].MayReadSource = submissions.MaySeeSource(actor, submissions.Submission{UserID: list[i].UserID}, task, db.Now())
		for _, f := range open {
			if f.RunID == list[i].RunID {
				list[i].Flags = append(list[i].Flags, f)
			}
		}
	}
	return list, err
}

// ReviewCount is the number of a task's runs that wait with flags of one kind.
type ReviewCount struct {
	TaskSlug      string
	TaskTitle     string
	Kind          review.FlagKind
	IsLowPriority bool `gorm:"column:low"` // runs of low priority, without flags of another kind
	RunCount      int  `gorm:"column:runs"`
}

// ReviewCounts counts the runs in the actor's review queue by task and kind. A run with two kinds of flags counts
// twice.
func (s *Store) ReviewCounts(ctx context.Context, actor accounts.User) (list []ReviewCount, err error) {
	q, err := s.reviewableFlags(ctx, actor)
	if err != nil {
		return nil, err
	}
	const alone = "not exists (select 1 from flags o where o.run_id = r.id and o.closed_at is null and o.kind <> 'clocks')"
	each := q.Select("r.id, f.kind, t.slug as task_slug, t.title as task_title, case when r.disturbed <> '' and " + alone + " then 1 else 0 end as low").
		Group("r.id, f.kind, t.id")
	err = s.db.Read(ctx).Table("(?) waiting", each).Select("task_slug, task_title, kind, low, count(*) as runs").
		Group("task_slug, task_title, kind, low").Order("task_title, task_slug, kind, low").Scan(&list).Error
	return list, db.ReadError(err, "how many runs wait for a review")
}

// reviewableFlags selects the open flags f that the actor may review, with their runs r and tasks t.
func (s *Store) reviewableFlags(ctx context.Context, actor accounts.User) (*gorm.DB, error) {
	if err := actor.CheckPermission(accounts.CreateTask, accounts.OwnerIDs{}); err != nil {
		return nil, db.Errorf(db.Forbidden, "Only authors of tasks and admins may review runs.")
	}
	q := s.db.Read(ctx).Table("flags f").Joins("join runs r on r.id = f.run_id").
		Joins("join task_versions v on v.id = r.version_id").Joins("join tasks t on t.id = v.task_id").
		Where("f.closed_at is null and (f.kind in ? or exists (select 1 from entries e where e.run_id = r.id))", []review.FlagKind{review.KindReport, review.KindHeld, review.KindUnconfirmed})
	if !actor.IsAdmin() {
		q = q.Where("t.owner_id = ?", actor.ID).Where("r.submission_id not in (select id from submissions where frozen_event <> 0)")
	}
	return q, nil
}
