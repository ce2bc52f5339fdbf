package submissions

import (
	"fmt"
	"time"

	"gorm.io/gorm"

	"warpboard/models/accounts"
	"warpboard/models/db"
	"warpboard/models/work"
	"warpboard/tasks"
)

// Limits bound what one person may submit; 0 is no limit. Admins have none. A submission that failed because of an
// infrastructure error does not count. Neither do up to PerHour submissions with a noisy score or bad conditions.
type Limits struct {
	PerHour int
	Waiting int // runs that are queued or running at the same time
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

func (l Limits) checkRate(tx *gorm.DB, user accounts.User) error {
	if l.PerHour <= 0 {
		return nil
	}
	// It reads at most twice the limit: a person with that many in an hour waits, even if all were noisy.
	most := 2 * l.PerHour // a kernel can be noisy on purpose
	var all []struct {
		CreatedAt time.Time
		Noisy     bool
	}
	err := tx.Model(&Submission{}).Where("user_id = ? and created_at > ? and added_why = ''", user.ID, db.Now().Add(-time.Hour)).
		Select("created_at, exists (select 1 from runs where runs.submission_id = submissions.id and (runs.noisy or runs.disturbed <> '')) as noisy").
		// A submission to several devices is free as soon as one of its runs failed because of infrastructure.
		Where("not exists (select 1 from runs where runs.submission_id = submissions.id and runs.ours)").
		Order("created_at desc").Limit(most).Scan(&all).Error
	if err != nil {
		return fmt.Errorf("counting submissions of person %d: %w", user.ID, err)
	}
	var last time.Time // that has to be older than an hour
	counted := 0
	for _, s := range all {
		if counted == l.PerHour {
			break
		}
		// Newest first: the one at which the count is reached is the first to leave the hour, and RetryAfter follows from
		// it.
		if last = s.CreatedAt; !s.Noisy {
			counted++
		}
	}
	if counted < l.PerHour && len(all) < most {
		return nil
	}
	// Rounded up to a second, since Retry-After has no fractions: a client that comes back on time must not be refused
	// again.
	wait := time.Until(last.Add(time.Hour)).Truncate(time.Second) + time.Second
	tooMany := db.Errorf(db.TooMany, "At most %d submissions an hour are accepted; try again in %s.", l.PerHour, wait)
	tooMany.RetryAfter = wait
	return tooMany
}

// checkBytes bounds what a person's submissions of a day take, whatever became of them: as much as PerHour of the largest. A
// submission that is cancelled at once costs no time of a device, and stays.
func (l Limits) checkBytes(tx *gorm.DB, user accounts.User) error {
	most := int64(l.PerHour) * tasks.MaxSubmission
	if most <= 0 {
		return nil
	}
	var stored int64
	err := tx.Raw("select coalesce(sum(size), 0) from blobs where hash in (select source_hash from submissions where user_id = ? and created_at > ?)",
		user.ID, db.Now().AddDate(0, 0, -1)).Scan(&stored).Error
	if err != nil || stored < most {
		return db.ReadError(err, "sources of person %d", user.ID)
	}
	tooMany := db.Errorf(db.TooMany, "Your submissions of the last 24 hours take %d MB, the most that is stored. Delete some, or try again later.", stored/1_000_000)
	tooMany.RetryAfter = time.Hour // a guess
	return tooMany
}

func (l Limits) checkWaiting(tx *gorm.DB, user accounts.User) error {
	if l.Waiting <= 0 {
		return nil
	}
	var waiting int64
	// Profiles, legs and reruns follow other runs and do not count: their person did not ask for them, and cannot end
	// them. Neither did the person ask for what an admin added.
	if err := tx.Model(&work.Run{}).Where("user_id = ? and profile_of is null and "+work.Live, user.ID).
		Where("not exists (select 1 from submissions s where s.id = runs.submission_id and s.added_why <> '')").Count(&waiting).Error; err != nil {
		return fmt.Errorf("counting live runs of person %d: %w", user.ID, err)
	}
	if waiting < int64(l.Waiting) {
		return nil
	}
	tooMany := db.Errorf(db.TooMany, "You already have %d waiting or running, the most at once. Wait for one to end, or cancel one.", waiting)
	// A guess, since the end of a run is unknown. It only keeps clients from asking in a loop.
	tooMany.RetryAfter = 10 * time.Second
	return tooMany
}
