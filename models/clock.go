package models

import (
	"context"
	"fmt"
	"math"
	"time"

	"gorm.io/gorm"

	"warpboard/evaluator/job"
	"warpboard/models/accounts"
	"warpboard/models/db"
	"warpboard/models/review"
	"warpboard/models/submissions"
	"warpboard/models/work"
)

// ClockDifference says that the runner's clock and the judge's differed by more than the tolerance in a run, and
// keeps the case in which they differed most. It says that the two disagree, and not why.
// One row per run, written once, by the result that ends it. A worker says all of these numbers: they prove nothing, and
// raise a flag for people. Times are nanoseconds.
type ClockDifference struct {
	RunID       int64 `gorm:"primaryKey;autoIncrement:false"`
	Stage       job.Stage
	Spec        string // the case's line
	Cases       int    // of the stage, in which they differed
	Clock       job.Clock
	EventNS     float64 `gorm:"column:event_ns"`
	WallNS      float64 `gorm:"column:wall_ns"`
	SnapshotNS  float64 `gorm:"column:snapshot_ns"`
	ToleranceNS float64 `gorm:"column:tolerance_ns"`
}

// DifferingRun is a ClockDifference with what a list shows of its run.
type DifferingRun struct {
	ClockDifference
	SubmissionID int64
	Device       string
	Mode         job.Mode
	State        work.RunState
	ScoreNS      *float64 `gorm:"column:score_ns"`
	EndedAt      *time.Time
	UserID       int64
	UserName     string
	TaskSlug     string
	TaskTitle    string
	Disturbed    string // why the conditions were bad; empty: they were good, or are not known
}

// ClockFilter chooses runs whose clocks differed.
type ClockFilter struct {
	Before    int64 // only runs with a smaller id; 0: from the newest
	Limit     int
	Disturbed bool // also those that were disturbed
}

// differing are runs whose clocks differed, without those that try a task: these are on no board.
func differing(q *gorm.DB) *gorm.DB {
	return q.Table("clock_differences d").Joins("join runs r on r.id = d.run_id").
		Joins("join submissions s on s.id = r.submission_id and s.via <> ?", submissions.ViaTrial)
}

// ClockDifferences lists runs whose clocks differed, the newest first. Admins only.
func (s *Store) ClockDifferences(ctx context.Context, actor accounts.User, f ClockFilter) ([]DifferingRun, error) {
	if err := actor.Check(accounts.ReadClocks, accounts.Of{}); err != nil {
		return nil, err
	}
	q := differing(s.db.Read(ctx)).
		Select("d.*, r.submission_id, r.device, r.mode, r.state, r.score_ns, r.ended_at, r.disturbed, r.user_id, u.name as user_name, t.slug as task_slug, t.title as task_title").
		Joins("join users u on u.id = r.user_id").
		Joins("join task_versions v on v.id = r.version_id").Joins("join tasks t on t.id = v.task_id")
	if f.Before > 0 {
		q = q.Where("d.run_id < ?", f.Before)
	}
	if !f.Disturbed {
		q = q.Where("r.disturbed = ''")
	}
	var list []DifferingRun
	err := q.Order("d.run_id desc").Limit(f.Limit).Scan(&list).Error
	return list, db.ReadError(err, "the runs whose clocks differ")
}

// DisturbedDifferences counts the runs whose clocks differed and that were disturbed. Admins only.
func (s *Store) DisturbedDifferences(ctx context.Context, actor accounts.User) (n int64, err error) {
	if err := actor.Check(accounts.ReadClocks, accounts.Of{}); err != nil {
		return 0, err
	}
	err = differing(s.db.Read(ctx)).Where("r.disturbed <> ''").Count(&n).Error
	return n, db.ReadError(err, "the disturbed runs whose clocks differ")
}

// noteClocks keeps by how much the clocks of a run that has ended differ, if they do.
func noteClocks(tx *gorm.DB, runID int64, stages []job.StageResult) error {
	d, ok := differenceOf(stages)
	if !ok {
		return nil
	}
	d.RunID = runID
	if err := tx.Create(&d).Error; err != nil {
		return fmt.Errorf("saving how the clocks of run %d differ: %w", runID, err)
	}
	return review.Raise(tx, runID, review.Clocks, "")
}

// differenceOf looks at the last stage whose clocks differ: the ranked one, if it is among them.
func differenceOf(stages []job.StageResult) (d ClockDifference, ok bool) {
	for _, stage := range stages {
		widest, differ := 0.0, 0
		for _, c := range stage.Cases {
			if !c.ClocksDiffer() {
				continue
			}
			// >= and not >: a case whose clocks all read 0 is still shown if it is the only one.
			if differ++; gap(c.Clocks) >= widest {
				widest = gap(c.Clocks)
				d = ClockDifference{
					Stage: stage.Stage, Spec: db.Sanitize(c.Spec), Clock: job.Clock(db.Sanitize(string(c.Clocks.Counts))),
					EventNS: c.Clocks.Event, WallNS: c.Clocks.Wall, SnapshotNS: c.Clocks.Snapshot, ToleranceNS: c.Clocks.Tolerance,
				}
			}
		}
		if differ > 0 {
			d.Cases, ok = differ, true
		}
	}
	return d, ok
}

// Judged is the larger of the judge's own two clocks; Event is what the runner's process read, which the kernel shares.
func gap(c job.Clocks) float64 { return math.Abs(c.Judged() - c.Event) }
