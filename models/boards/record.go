package boards

import (
	"context"
	"fmt"
	"slices"
	"time"

	"gorm.io/gorm"

	"warpboard/models/db"
)

// Record is a run that was the best of its board and epoch when it reached its score. The history chart shows records.
type Record struct {
	VersionID    int64  `gorm:"primaryKey;autoIncrement:false"`
	Device       string `gorm:"primaryKey"`
	RunID        int64  `gorm:"primaryKey;autoIncrement:false"`
	UserID       int64
	SubmissionID int64
	// minus the ID of the epoch, as Entry.EpochSortKey; each epoch has its own records
	EpochSortKey int64   `gorm:"column:age"`
	ScoreNS      float64 `gorm:"column:score_ns"`
	AchievedAt   time.Time
}

// RecordWithHolder is a Record with its person's name.
type RecordWithHolder struct {
	Record
	UserName         string
	HasOlderSoftware bool `gorm:"column:older"` // the board ranks scores of newer software
	// IsUnconfirmed means that the run was disturbed or noisy, and that its score does not come from a confirmation, or
	// a confirmation is pending.
	IsUnconfirmed bool `gorm:"column:unconfirmed"`
	// BeforeConfirmationNS is the score before a confirmation changed it. Only RecordHistory sets it.
	BeforeConfirmationNS *float64 `gorm:"column:was_ns"`
	Note                 string   // the person's note on the run; set only by RecordHistory
}

// RecordHistory lists the records of a board, oldest first. Each epoch has its own records.
func (s *Boards) RecordHistory(ctx context.Context, versionID int64, device string) ([]RecordWithHolder, error) {
	var list []RecordWithHolder
	err := s.db.Read(ctx).Table("records r").Select("r.*, u.name as user_name, q.note, "+isUnconfirmedSQL+" as unconfirmed, q.was_ns, "+olderRecordSQL+" as older").Joins("join users u on u.id = r.user_id").Joins("join runs q on q.id = r.run_id").
		Where("r.version_id = ? and r.device = ?", versionID, device).
		Order("r.achieved_at, r.run_id").Scan(&list).Error
	return list, db.ReadError(err, "the history of a board")
}

// RecordScores has the scores of the last records of a board's newest epoch, in nanoseconds, oldest first.
type RecordScores []float64

const maxLastRecordScores = 16

func lastRecordScores(tx *gorm.DB, b Board) (steps RecordScores, err error) {
	err = tx.Model(&Record{}).Where("version_id = ? and device = ? and age = ?", b.VersionID, b.Device, -b.EpochID).
		Order("score_ns").Limit(maxLastRecordScores).Pluck("score_ns", &steps).Error
	slices.Reverse(steps)
	return steps, db.ReadError(err, "the last records of a board")
}

// readLastRecord returns the newest record of the board in an entry's epoch, or nil.
func readLastRecord(tx *gorm.DB, e Entry) (*Record, error) {
	var last []Record
	err := tx.Where("version_id = ? and device = ? and age = ?", e.VersionID, e.Device, e.EpochSortKey).Order("score_ns").Limit(1).Find(&last).Error
	if err != nil || len(last) == 0 {
		return nil, db.ReadError(err, "the board's record")
	}
	return &last[0], nil
}

// storeRecord stores a run that has just ended as the board's newest record.
func storeRecord(tx *gorm.DB, e Entry) error {
	return db.WriteError(tx.Create(&Record{
		VersionID: e.VersionID, Device: e.Device, RunID: e.RunID, UserID: e.UserID,
		SubmissionID: e.SubmissionID, EpochSortKey: e.EpochSortKey, ScoreNS: e.ScoreNS, AchievedAt: e.AchievedAt,
	}).Error, "record")
}

// rebuildChangedRecords rebuilds the records of a board if a run whose score changed was or becomes one of them. It
// reports whether it did so.
func rebuildChangedRecords(tx *gorm.DB, e Entry) (bool, error) {
	const epoch = "version_id = ? and device = ? and age = ? and "
	var concerned int64
	err := tx.Model(&Record{}).Where(epoch+"run_id = ?", e.VersionID, e.Device, e.EpochSortKey,
		e.RunID).Count(&concerned).Error
	if err == nil && concerned == 0 {
		var before []float64
		err = tx.Model(&Record{}).Where(epoch+"achieved_at <= ? and score_ns <= ?", e.VersionID, e.Device, e.EpochSortKey, db.NormalizeTime(e.AchievedAt), e.ScoreNS).
			Limit(1).Pluck("score_ns", &before).Error
		if len(before) == 0 {
			concerned = 1
		}
	}
	if err != nil || concerned == 0 {
		return false, db.ReadError(err, "the board's records")
	}
	return true, rebuildRecords(tx, e.VersionID, e.Device)
}

// insertRecordsSQL inserts, of the runs that a condition selects and that may be entries, those that are faster than
// all earlier ones.
const insertRecordsSQL = `insert into records (version_id, device, run_id, user_id, submission_id, age, score_ns, achieved_at)
	select version_id, device, id, user_id, submission_id, -epoch_id, score_ns, scored_at from (
		select version_id, device, id, user_id, submission_id, epoch_id, score_ns, scored_at,
			min(score_ns) over (partition by version_id, device, epoch_id order by scored_at, id
				rows between unbounded preceding and 1 preceding) as prior
		from runs where %s
	) ranked where prior is null or score_ns < prior`

func rebuildRecords(tx *gorm.DB, versionID int64, device string) error {
	const board = "version_id = ? and device = ?"
	err := tx.Where(board, versionID, device).Delete(&Record{}).Error
	if err == nil {
		err = tx.Exec(fmt.Sprintf(insertRecordsSQL, MayBeEntrySQL+" and "+board), versionID, device).Error
	}
	if err != nil {
		return fmt.Errorf("rebuilding the board's records: %w", err)
	}
	return nil
}
