package boards

import (
	"fmt"
	"time"

	"gorm.io/gorm"

	"warpboard/models/db"
)

// Best is a run that was its person's best on a board when it ended: a step of the person's line there. The last one of
// the newest epoch is the person's entry.
type Best struct {
	VersionID    int64  `gorm:"primaryKey;autoIncrement:false"`
	Device       string `gorm:"primaryKey"`
	UserID       int64  `gorm:"primaryKey;autoIncrement:false"`
	RunID        int64  `gorm:"primaryKey;autoIncrement:false"`
	SubmissionID int64
	EpochAge     int64   `gorm:"column:age"` // like an entry's: each epoch has its own bests
	ScoreNS      float64 `gorm:"column:score_ns"`
	TryCount     int     `gorm:"column:tries"` // number of the person's valid runs until it reached its score
	AchievedAt   time.Time
}

// insertBestsSQL inserts the valid runs that the condition selects, represent their pool, and beat all earlier ones of
// their person. The other runs of a pool are tries, too.
const insertBestsSQL = `insert into bests (version_id, device, user_id, run_id, submission_id, age, score_ns, tries, achieved_at)
	select version_id, device, user_id, id, submission_id, -epoch_id, score_ns, tries, scored_at from (
		select version_id, device, user_id, id, submission_id, epoch_id, score_ns, scored_at,
			row_number() over (partition by version_id, device, user_id order by scored_at, (pool_id is null or pool_id = id), id) as tries,
			(pool_id is null or pool_id = id) as stands,
			min(case when pool_id is null or pool_id = id then score_ns end) over (partition by version_id, device, user_id, epoch_id order by scored_at, id
				rows between unbounded preceding and 1 preceding) as prior
		from runs where %s
	) tried where stands and (prior is null or score_ns < prior)`

// rebuildBests rebuilds one person's steps on a board. It reads all valid runs of the person there.
func rebuildBests(tx *gorm.DB, versionID int64, device string, userID int64) error {
	const theirs = "version_id = ? and device = ? and user_id = ?"
	err := tx.Where(theirs, versionID, device, userID).Delete(&Best{}).Error
	if err == nil {
		err = tx.Exec(fmt.Sprintf(insertBestsSQL, ValidRunSQL+" and "+theirs), versionID, device, userID).Error
	}
	if err != nil {
		return fmt.Errorf("rebuilding the best runs of person %d: %w", userID, err)
	}
	return nil
}

// rebuildChangedBests rebuilds a person's steps after the score of a run changed that is not the entry. It reports
// whether the run was one of them, or is now.
func rebuildChangedBests(tx *gorm.DB, e Entry) (bool, error) {
	var before, after int64
	steps := tx.Model(&Best{}).Where("version_id = ? and device = ? and user_id = ? and run_id = ?", e.VersionID, e.Device,
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
