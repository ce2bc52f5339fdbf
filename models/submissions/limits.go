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

// Limits limit one person's submissions; 0 is no limit. Admins have none. A submission that failed because of an
// infrastructure error does not count. Neither do up to SubmissionsPerHour submissions with a noisy score or bad
// conditions.
type Limits struct {
	SubmissionsPerHour int
	MaxUnfinishedRuns  int `gorm:"column:waiting"` // runs that are queued or running at the same time
}

// check runs inside the transaction that stores the submission. Transactions take turns (db.Write), so two simultaneous
// requests cannot both be the last one that fits. A repetition of an accepted one with its key does not get here.
func (l Limits) check(tx *gorm.DB, user accounts.User) error {
	if user.IsAdmin() {
		return nil
	}
	if err := l.checkRate(tx, user); err != nil {
		return err
	}
	if err := l.checkBytes(tx, user); err != nil {
		return err
	}
	return l.checkWaiting(tx, user)
}

// checkRate counts submissions of the last hour, of which a noisy one is free: up to as many again, since a kernel can
// be noisy on purpose. A submission to several devices is free as soon as one of its runs failed because of
// infrastructure.
func (l Limits) checkRate(tx *gorm.DB, user accounts.User) error {
	const runs = "not exists (select 1 from runs where runs.submission_id = submissions.id and "
	rate := quota.RateLimit{
		Max:     l.SubmissionsPerHour,
		Window:  time.Hour,
		Refusal: fmt.Sprintf("At most %d submissions an hour are accepted; try again in {wait}.", l.SubmissionsPerHour),
	}
	sent := tx.Model(&Submission{}).Where("user_id = ? and added_why = ''", user.ID).Where(runs + "runs.ours)").Session(&gorm.Session{})
	if err := rate.Check(sent.Where(runs+"(runs.noisy or runs.disturbed <> ''))"), "created_at"); err != nil {
		return err
	}
	rate.Max *= 2
	return rate.Check(sent, "created_at")
}

// checkBytes limits the bytes of a person's submissions of a day, with any outcome, to those of SubmissionsPerHour of
// the largest. A submission that is cancelled at once costs no time of a device, and stays.
func (l Limits) checkBytes(tx *gorm.DB, user accounts.User) error {
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

// checkWaiting counts unfinished runs, but not profiles, turns, and reruns, which follow other runs: their person did
// not ask for them, and cannot end them. Neither did the person ask for what an admin added.
func (l Limits) checkWaiting(tx *gorm.DB, user accounts.User) error {
	return quota.CheckUnfinished(tx.Model(&work.Run{}).Where("user_id = ? and "+work.AskedCondition+" and "+work.LiveCondition, user.ID).
		Where("not exists (select 1 from submissions s where s.id = runs.submission_id and s.added_why <> '')"), l.MaxUnfinishedRuns, 10*time.Second)
}
