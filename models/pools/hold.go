package pools

import (
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"warpboard/models/db"
)

// Hold keeps a person's source off a board until a reviewer has looked, whatever software it is measured with: a leg of its
// confirmation failed.
type Hold struct {
	ID        int64
	VersionID int64
	Device    string
	UserID    int64
	SourceKey string
	Why       string
	CreatedAt time.Time
}

// HoldSource holds back the source of a run, for its person on its board.
func HoldSource(tx *gorm.DB, runID int64, why string) error {
	h := Hold{Why: why, CreatedAt: db.Now()}
	err := tx.Table("runs r").Select("r.version_id, r.device, r.user_id, s.source_key").Joins("join submissions s on s.id = r.submission_id").Where("r.id = ?", runID).Take(&h).Error
	if err != nil {
		return db.ReadError(err, "source of run %d", runID)
	}
	return db.WriteError(tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&h).Error, "source of run %d", runID)
}

// holdOf chooses the hold of a run's source.
func holdOf(tx *gorm.DB, runID int64) *gorm.DB {
	return tx.Model(&Hold{}).Where("(user_id, version_id, device, source_key) in (select r.user_id, r.version_id, r.device, s.source_key from runs r join submissions s on s.id = r.submission_id where r.id = ?)", runID)
}

// Held reports whether the source of a run is held back.
func Held(tx *gorm.DB, runID int64) (bool, error) {
	var n int64
	err := holdOf(tx, runID).Limit(1).Count(&n).Error
	return n > 0, db.ReadError(err, "whether run %d is held back", runID)
}

// Release ends that.
func Release(tx *gorm.DB, runID int64) error {
	return db.WriteError(holdOf(tx, runID).Delete(&Hold{}).Error, "source of run %d", runID)
}
