package submissions

import (
	"fmt"
	"time"

	"gorm.io/gorm"

	"warpboard/models/accounts"
	"warpboard/models/db"
	"warpboard/models/quota"
	"warpboard/models/work"
	"warpboard/tasks"
)

// SubmissionLimits limits each person's submissions; 0 means no limit. Admins have no limits. Submissions that failed
// with an infrastructure error do not count. Up to SubmissionsPerHour submissions with a noisy score or bad conditions
// do not count either.
type SubmissionLimits struct {
	SubmissionsPerHour int
	MaxUnfinishedRuns  int `gorm:"column:waiting"` // runs that are queued or running at the same time
}

// checkLimits returns an error if the person has reached a limit. It runs in the transaction that stores the
// submission. Transactions are serialized (db.Write), so two requests cannot both be the last allowed one. A repeated
// request with the key of an accepted one does not reach it.
func (l SubmissionLimits) checkLimits(tx *gorm.DB, user accounts.User) error {
	if user.IsAdmin() {
		return nil
	}
	if err := l.checkRate(tx, user); err != nil {
		return err
	}
	if err := l.checkBytes(tx, user); err != nil {
		return err
	}
	return l.checkUnfinishedRuns(tx, user)
}

// checkRate limits the submissions of the last hour. Noisy ones do not count, up to the same number, because a kernel
// can be noisy on purpose. A submission to several devices does not count if one of its runs failed with an
// infrastructure error.
func (l SubmissionLimits) checkRate(tx *gorm.DB, user accounts.User) error {
	const runs = "not exists (select 1 from runs where runs.submission_id = submissions.id and "
	rate := quota.RateLimit{
		Max:    l.SubmissionsPerHour,
		Window: time.Hour,
		RefusalText: fmt.Sprintf("At most %d submissions an hour are accepted; try again in {wait}.",
			l.SubmissionsPerHour),
	}
	sent := tx.Model(&Submission{}).Where("user_id = ? and added_why = ''", user.ID).Where(runs + "runs.ours)").Session(&gorm.Session{})
	if err := rate.Check(sent.Where(runs+"(runs.noisy or runs.disturbed <> ''))"), "created_at"); err != nil {
		return err
	}
	rate.Max *= 2
	return rate.Check(sent, "created_at")
}

// checkBytes limits the size of a person's submissions of the last day, whatever their outcome, to SubmissionsPerHour
// submissions of maximum size. Otherwise submissions that are cancelled at once could fill the disk.
func (l SubmissionLimits) checkBytes(tx *gorm.DB, user accounts.User) error {
	most := int64(l.SubmissionsPerHour) * tasks.MaxSubmission
	if most <= 0 {
		return nil
	}
	var stored int64
	err := tx.Raw("select coalesce(sum(size), 0) from blobs where hash in (select source_hash from submissions where user_id = ? and created_at > ?)",
		user.ID, db.Now().AddDate(0, 0, -1)).Scan(&stored).Error
	if err != nil || stored < most {
		return db.ReadError(err, "sources of person %d", user.ID)
	}
	const guess = time.Hour
	return db.TooManyf(guess, "Your submissions of the last 24 hours take %d MB, the most that is stored. Delete some, or try again later.", stored/1_000_000)
}

// checkUnfinishedRuns limits unfinished runs. Profiles, turns, and reruns do not count, because the person did not
// request them and cannot cancel them. Submissions added by an admin do not count either.
func (l SubmissionLimits) checkUnfinishedRuns(tx *gorm.DB, user accounts.User) error {
	return quota.CheckUnfinished(tx.Model(&work.Run{}).Where("user_id = ? and "+work.RequestedRunSQL+" and "+work.NotEndedSQL, user.ID).
		Where("not exists (select 1 from submissions s where s.id = runs.submission_id and s.added_why <> '')"), l.MaxUnfinishedRuns, 10*time.Second)
}
