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
	HeldNS       int64 `gorm:"column:held_ns"` // for how long it held GPUs, times their number
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

// mostUses limits the uses that are read of a person's day: as many as a limit may have.
const mostUses = 10_000

// countedUse is a Use with its runs that have not ended.
type countedUse struct {
	Use
	Live int
}

// usesOf reads the uses that count, the newest first. A submission that an infrastructure error ended does not count.
func usesOf(tx *gorm.DB, userID, taskID int64) (list []countedUse, err error) {
	err = tx.Table("uses u").Select(`u.*, (select count(*) from runs r where r.submission_id = u.submission_id and r.ended_at is null
			and r.profile_of is null and r.device <> ?) as live`, gpuname.CPU).
		Where("u.user_id = ? and u.task_id = ? and u.created_at > ?", userID, taskID, db.Now().Add(-PerDay.Length())).
		Where("not exists (select 1 from runs r where r.submission_id = u.submission_id and r.ours)").
		Order("u.created_at desc, u.submission_id desc").Limit(mostUses).Scan(&list).Error
	return list, db.ReadError(err, "uses of task %d", taskID)
}

// Spent is a limit of a task with a person's uses of it.
type Spent struct {
	TaskLimit
	Count int           // submissions
	Used  time.Duration // GPU time; live runs count by the average of those that ended
	Free  time.Time     // when something is left again; zero: something is left
}

// Left returns the submissions and GPU-seconds that remain; 0 for a quantity without a limit.
func (s Spent) Left() (submissions, seconds int) {
	return max(0, s.Submissions-s.Count), max(0, s.GPUSeconds-int(s.Used.Seconds()))
}

// OfTask returns a person's use of a task's limits. It reads nothing if there are none, or for admins, who have none.
func (q *Quotas) OfTask(ctx context.Context, user accounts.User, taskID int64, limits []TaskLimit) ([]Spent, error) {
	return spentOf(q.db.Read(ctx), user, taskID, limits)
}

func spentOf(tx *gorm.DB, user accounts.User, taskID int64, limits []TaskLimit) (list []Spent, err error) {
	if len(limits) == 0 || !user.SignedIn() || user.IsAdmin() {
		return nil, nil
	}
	uses, err := usesOf(tx, user.ID, taskID)
	for _, limit := range limits {
		list = append(list, spend(limit, uses, db.Now()))
	}
	return list, err
}

// spend counts uses, which are sorted newest first, against a limit. A bound has room again once the use with which it
// was reached leaves the span.
func spend(limit TaskLimit, uses []countedUse, now time.Time) Spent {
	s := Spent{TaskLimit: limit}
	since, usual := now.Add(-limit.Per.Length()), averageHold(limit.Mode, uses)
	for _, u := range uses {
		if limit.Mode != "" && string(u.Mode) != limit.Mode || !u.CreatedAt.After(since) {
			continue
		}
		before := s.Used
		s.Count++
		s.Used += time.Duration(u.HeldNS) + time.Duration(u.Live)*usual
		most := time.Duration(limit.GPUSeconds) * time.Second
		if s.Count == limit.Submissions || most > 0 && before < most && s.Used >= most {
			if free := u.CreatedAt.Add(limit.Per.Length()); free.After(s.Free) {
				s.Free = free
			}
		}
	}
	return s
}

// unknownHold is the assumed GPU time of a live run if none has ended yet: with 0, a limit would miss a burst.
const unknownHold = 30 * time.Second

// averageHold is the average of what held GPUs.
func averageHold(mode string, uses []countedUse) time.Duration {
	var sum, n int64
	for _, u := range uses {
		if u.HeldNS > 0 && u.Live == 0 && (mode == "" || string(u.Mode) == mode) {
			sum, n = sum+u.HeldNS, n+1
		}
	}
	if n == 0 {
		return unknownHold
	}
	return time.Duration(sum / n)
}

// CheckTask refuses a submission in a mode for which the person has used up a limit of the task.
func CheckTask(tx *gorm.DB, user accounts.User, taskID int64, limits []TaskLimit, mode job.Mode) error {
	spent, err := spentOf(tx, user, taskID, limits)
	if err != nil {
		return err
	}
	for _, s := range spent {
		if !s.Free.IsZero() && (s.Mode == "" || s.Mode == string(mode)) {
			return Until(s.Free, fmt.Sprintf("This task takes at most %s from each person; try again in {wait}.", s.TaskLimit))
		}
	}
	return nil
}
