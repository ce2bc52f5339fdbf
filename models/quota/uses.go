package quota

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"warpboard/evaluator/job"
	"warpboard/internal/gpuname"
	"warpboard/models/accounts"
	"warpboard/models/db"
)

// SubmissionUse is a submission as task limits count it. It remains when the submission is deleted.
type SubmissionUse struct {
	SubmissionID int64 `gorm:"primaryKey;autoIncrement:false"`
	UserID       int64
	TaskID       int64
	Mode         job.Mode
	CreatedAt    time.Time
	SlotNS       int64 `gorm:"column:held_ns"` // time during which GPUs were used, times their number
}

// TableName returns the table of uses.
func (SubmissionUse) TableName() string { return "uses" }

// RecordUse stores a use for task limits.
func RecordUse(tx *gorm.DB, u SubmissionUse) error {
	return db.WriteError(tx.Create(&u).Error, "use of task %d", u.TaskID)
}

// SweepUses deletes uses that are older than a day, the longest period of a limit.
func SweepUses(tx *gorm.DB, at time.Time) error {
	err := tx.Where("created_at < ?", db.NormalizeTime(at.Add(-LimitPerDay.Length()))).Delete(&SubmissionUse{}).Error
	return db.WriteError(err, "old uses of tasks")
}

// maxReadUses limits the uses of a person that are read. It equals the maximum of a limit.
const maxReadUses = 10_000

// useWithUnfinishedRuns is a SubmissionUse with the number of its unfinished runs.
type useWithUnfinishedRuns struct {
	SubmissionUse
	UnfinishedRuns int `gorm:"column:live"`
}

// readUses reads a person's uses of a task in the last day, newest first. Submissions that ended with an infrastructure
// error do not count.
func readUses(tx *gorm.DB, userID, taskID int64) (list []useWithUnfinishedRuns, err error) {
	err = tx.Table("uses u").Select(`u.*, (select count(*) from runs r where r.submission_id = u.submission_id and r.ended_at is null
			and r.profile_of is null and r.device <> ?) as live`, gpuname.CPU).
		Where("u.user_id = ? and u.task_id = ? and u.created_at > ?", userID, taskID,
			db.Now().Add(-LimitPerDay.Length())).
		Where("not exists (select 1 from runs r where r.submission_id = u.submission_id and r.ours)").
		Order("u.created_at desc, u.submission_id desc").Limit(maxReadUses).Scan(&list).Error
	return list, db.ReadError(err, "uses of task %d", taskID)
}

// LimitUse is a limit of a task with the person's use of it.
type LimitUse struct {
	TaskLimit
	SubmissionCount  int           `gorm:"column:count"` // number of submissions in the period
	UsedGPUTime      time.Duration // in the period; unfinished runs count by the average of ended ones
	AvailableAgainAt time.Time     // time from which another submission is allowed; zero if one is allowed now
}

// Remaining returns the submissions and GPU-seconds that remain; 0 for a quantity without a limit.
func (s LimitUse) Remaining() (submissions, seconds int) {
	return max(0, s.MaxSubmissions-s.SubmissionCount), max(0, s.MaxGPUSeconds-int(s.UsedGPUTime.Seconds()))
}

// UsesOfTask returns a person's use of a task's limits. Without limits, and for admins, it returns nil without a query.
func (q *Quotas) UsesOfTask(
	ctx context.Context, user accounts.User, taskID int64, limits []TaskLimit,
) ([]LimitUse, error) {
	return limitUses(q.db.Read(ctx), user, taskID, limits)
}

func limitUses(tx *gorm.DB, user accounts.User, taskID int64, limits []TaskLimit) (list []LimitUse, err error) {
	if len(limits) == 0 || !user.SignedIn() || user.IsAdmin() {
		return nil, nil
	}
	uses, err := readUses(tx, user.ID, taskID)
	for _, limit := range limits {
		list = append(list, countLimitUse(limit, uses, db.Now()))
	}
	return list, err
}

// countLimitUse counts uses (sorted newest first) against a limit. A limit that is reached allows the next submission
// when its oldest counted use leaves the period.
func countLimitUse(limit TaskLimit, uses []useWithUnfinishedRuns, now time.Time) LimitUse {
	s := LimitUse{TaskLimit: limit}
	since, usual := now.Add(-limit.Period.Length()), averageSlotTime(limit.Mode, uses)
	for _, u := range uses {
		if limit.Mode != "" && string(u.Mode) != limit.Mode || !u.CreatedAt.After(since) {
			continue
		}
		before := s.UsedGPUTime
		s.SubmissionCount++
		s.UsedGPUTime += time.Duration(u.SlotNS) + time.Duration(u.UnfinishedRuns)*usual
		most := time.Duration(limit.MaxGPUSeconds) * time.Second
		if s.SubmissionCount == limit.MaxSubmissions || most > 0 && before < most && s.UsedGPUTime >= most {
			if free := u.CreatedAt.Add(limit.Period.Length()); free.After(s.AvailableAgainAt) {
				s.AvailableAgainAt = free
			}
		}
	}
	return s
}

// assumedGPUTime is the assumed GPU time of an unfinished run if none has ended yet. With 0, a limit would not apply
// to simultaneous submissions.
const assumedGPUTime = 30 * time.Second

// averageSlotTime returns the average GPU time of ended uses in a mode.
func averageSlotTime(mode string, uses []useWithUnfinishedRuns) time.Duration {
	var sum, n int64
	for _, u := range uses {
		if u.SlotNS > 0 && u.UnfinishedRuns == 0 && (mode == "" || string(u.Mode) == mode) {
			sum, n = sum+u.SlotNS, n+1
		}
	}
	if n == 0 {
		return assumedGPUTime
	}
	return time.Duration(sum / n)
}

// CheckTaskLimits returns an error for a submission if the person has reached a limit of the task for its mode.
func CheckTaskLimits(tx *gorm.DB, user accounts.User, taskID int64, limits []TaskLimit, mode job.Mode) error {
	spent, err := limitUses(tx, user, taskID, limits)
	if err != nil {
		return err
	}
	for _, s := range spent {
		if !s.AvailableAgainAt.IsZero() && (s.Mode == "" || s.Mode == string(mode)) {
			return RetryLaterError(s.AvailableAgainAt, fmt.Sprintf("This task takes at most %s from each person; try again in {wait}.", s.TaskLimit))
		}
	}
	return nil
}
