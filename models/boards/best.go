package boards

import (
	"fmt"
	"time"

	"gorm.io/gorm"

	"warpboard/models/db"
)

// BestRun is a run that was its person's best run on a board when it ended. A person's last BestRun of the newest epoch
// is the person's entry.
type BestRun struct {
	VersionID    int64  `gorm:"primaryKey;autoIncrement:false"`
	Device       string `gorm:"primaryKey"`
	UserID       int64  `gorm:"primaryKey;autoIncrement:false"`
	RunID        int64  `gorm:"primaryKey;autoIncrement:false"`
	SubmissionID int64
	// minus the ID of the epoch, as Entry.EpochSortKey; each epoch has its own best runs
	EpochSortKey int64   `gorm:"column:age"`
	ScoreNS      float64 `gorm:"column:score_ns"`
	TryCount     int     `gorm:"column:tries"` // number of the person's valid runs until it reached its score
	AchievedAt   time.Time
}

// TableName returns the table of best runs.
func (BestRun) TableName() string { return "bests" }

// insertBestsSQL inserts those of the valid runs selected by a condition that are faster than all earlier ones of their
// person. Of several runs with the same source (a pool) it considers only the run that represents them; the others only
// add to the number of tries.
const insertBestsSQL = `insert into bests (version_id, device, user_id, run_id, submission_id, age, score_ns, tries, achieved_at)
	select version_id, device, user_id, id, submission_id, -epoch_id, score_ns, tries, scored_at from (
		select version_id, device, user_id, id, submission_id, epoch_id, score_ns, scored_at,
			row_number() over (partition by version_id, device, user_id order by scored_at, (pool_id is null or pool_id = id), id) as tries,
			(pool_id is null or pool_id = id) as stands,
			min(case when pool_id is null or pool_id = id then score_ns end) over (partition by version_id, device, user_id, epoch_id order by scored_at, id
				rows between unbounded preceding and 1 preceding) as prior
		from runs where %s
	) tried where stands and (prior is null or score_ns < prior)`

// rebuildBests recomputes one person's best runs on a board from all of the person's valid runs there.
func rebuildBests(tx *gorm.DB, versionID int64, device string, userID int64) error {
	const theirs = "version_id = ? and device = ? and user_id = ?"
	err := tx.Where(theirs, versionID, device, userID).Delete(&BestRun{}).Error
	if err == nil {
		err = tx.Exec(fmt.Sprintf(insertBestsSQL, ValidRunSQL+" and "+theirs), versionID, device, userID).Error
	}
	if err != nil {
		return fmt.Errorf("rebuilding the best runs of person %d: %w", userID, err)
	}
	return nil
}

// rebuildChangedBests recomputes a person's best runs after the score of run e has changed, which is not the person's
// entry. It reports whether e was or is one of the best runs.
func rebuildChangedBests(tx *gorm.DB, e Entry) (bool, error) {
	var before, after int64
	steps := tx.Model(&BestRun{}).Where("version_id = ? and device = ? and user_id = ? and run_id = ?", e.VersionID, e.Device,
		e.UserID, e.RunID).Session(&gorm.Session{})
	err := steps.Count(&before).Error
	if err == nil {
		err = rebuildBests(tx, e.VersionID, e.Device, e.UserID)
	}
	if err == nil {
		err = steps.Count(&after).Error
	}
	return before+after > 0, db.ReadError(err, "the best runs of person %d", e.UserID)
}
