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

// Use is a submission as the limits of its task count it. Like a charge it outlives the submission.
type Use struct {
	SubmissionID int64 `gorm:"primaryKey;autoIncrement:false"`
	UserID       int64
	TaskID       int64
	Mode         job.Mode
	CreatedAt    time.Time
	SlotNS       int64 `gorm:"column:held_ns"` // for how long it held GPUs, times their number
}

// NoteUse counts a submission.
func NoteUse(tx *gorm.DB, u Use) error {
	return db.WriteError(tx.Create(&u).Error, "use of task %d", u.TaskID)
}

// SweepUses forgets uses that no limit counts any more.
func SweepUses(tx *gorm.DB, at time.Time) error {
	err := tx.Where("created_at < ?", db.Time(at.Add(-PerDay.Length()))).Delete(&Use{}).Error
	return db.WriteError(err, "old uses of tasks")
}

// maxUses limits the uses that are read of a person's day: as many as a limit may have.
const maxUses = 10_000

// countedUse is a Use with its runs that have not ended.
type countedUse struct {
	Use
	UnfinishedRuns int `gorm:"column:live"`
}

// usesOf reads the uses that count, the newest first. A submission that an infrastructure error ended does not count.
func usesOf(tx *gorm.DB, userID, taskID int64) (list []countedUse, err error) {
	err = tx.Table("uses u").Select(`u.*, (select count(*) from runs r where r.submission_id = u.submission_id and r.ended_at is null
			and r.profile_of is null and r.device <> ?) as live`, gpuname.CPU).
		Where("u.user_id = ? and u.task_id = ? and u.created_at > ?", userID, taskID, db.Now().Add(-PerDay.Length())).
		Where("not exists (select 1 from runs r where r.submission_id = u.submission_id and r.ours)").
		Order("u.created_at desc, u.submission_id desc").Limit(maxUses).Scan(&list).Error
	return list, db.ReadError(err, "uses of task %d", taskID)
}

// LimitUse is a limit of a task with a person's uses of it.
type LimitUse struct {
	TaskLimit
	SubmissionCount int           `gorm:"column:count"` // submissions
	Used            time.Duration // GPU time; live runs count by the average of those that ended
	FreeAt          time.Time     `gorm:"column:free"` // when something is left again; zero: something is left
}

// Remaining returns the submissions and GPU-seconds that remain; 0 for a quantity without a limit.
func (s LimitUse) Remaining() (submissions, seconds int) {
	return max(0, s.Submissions-s.SubmissionCount), max(0, s.GPUSeconds-int(s.Used.Seconds()))
}

// UsesOfTask returns a person's use of a task's limits. It reads nothing if there are none, or for admins, who have
// none.
func (q *Quotas) UsesOfTask(ctx context.Context, user accounts.User, taskID int64, limits []TaskLimit) ([]LimitUse, error) {
	return limitUses(q.db.Read(ctx), user, taskID, limits)
}

func limitUses(tx *gorm.DB, user accounts.User, taskID int64, limits []TaskLimit) (list []LimitUse, err error) {
	if len(limits) == 0 || !user.SignedIn() || user.IsAdmin() {
		return nil, nil
	}
	uses, err := usesOf(tx, user.ID, taskID)
	for _, limit := range limits {
		list = append(list, limitUseOf(limit, uses, db.Now()))
	}
	return list, err
}

// limitUseOf counts uses, which are sorted newest first, against a limit. A bound has room again once the use with
// which it was reached leaves the span.
func limitUseOf(limit TaskLimit, uses []countedUse, now time.Time) LimitUse {
	s := LimitUse{TaskLimit: limit}
	since, usual := now.Add(-limit.Period.Length()), averageSlotTime(limit.Mode, uses)
	for _, u := range uses {
		if limit.Mode != "" && string(u.Mode) != limit.Mode || !u.CreatedAt.After(since) {
			continue
		}
		before := s.Used
		s.SubmissionCount++
		s.Used += time.Duration(u.SlotNS) + time.Duration(u.UnfinishedRuns)*usual
		most := time.Duration(limit.GPUSeconds) * time.Second
		if s.SubmissionCount == limit.Submissions || most > 0 && before < most && s.Used >= most {
			if free := u.CreatedAt.Add(limit.Period.Length()); free.After(s.FreeAt) {
				s.FreeAt = free
			}
		}
	}
	return s
}

// assumedSlotTime is the assumed GPU time of a live run if none has ended yet: with 0, a limit would miss a burst.
const assumedSlotTime = 30 * time.Second

// averageSlotTime is the average of what held GPUs.
func averageSlotTime(mode string, uses []countedUse) time.Duration {
	var sum, n int64
	for _, u := range uses {
		if u.SlotNS > 0 && u.UnfinishedRuns == 0 && (mode == "" || string(u.Mode) == mode) {
			sum, n = sum+u.SlotNS, n+1
		}
	}
	if n == 0 {
		return assumedSlotTime
	}
	return time.Duration(sum / n)
}

// CheckTask refuses a submission in a mode for which the person has used up a limit of the task.
func CheckTask(tx *gorm.DB, user accounts.User, taskID int64, limits []TaskLimit, mode job.Mode) error {
	spent, err := limitUses(tx, user, taskID, limits)
	if err != nil {
		return err
	}
	for _, s := range spent {
		if !s.FreeAt.IsZero() && (s.Mode == "" || s.Mode == string(mode)) {
			return RefuseUntil(s.FreeAt, fmt.Sprintf("This task takes at most %s from each person; try again in {wait}.", s.TaskLimit))
		}
	}
	return nil
}
