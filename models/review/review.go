package review

import (
	"fmt"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"warpboard/models/db"
)

// FlagKind is the reason why a run needs a review.
type FlagKind string

// Kinds of flags.
const (
	KindReport       FlagKind = "report"
	KindClocks       FlagKind = "clocks"       // the clocks of runner and judge differ by more than the tolerance
	KindHeld         FlagKind = "held"         // the score is impossible on its slot, so the run does not count before a review
	KindSource       FlagKind = "source"       // the source has hints of cheating, or equals that of a disqualified run
	KindLibrary      FlagKind = "library"      // the profile lists kernels of libraries, which the task forbids
	KindContradicted FlagKind = "contradicted" // the kernels take longer in the profile than in the run
	KindUnconfirmed  FlagKind = "unconfirmed"  // a confirmation of the run ended without scores
)

// MaxDetailLength limits the stored detail of a flag, in bytes.
const MaxDetailLength = 2000

// Flag requests a review of a run. It does not change the run. The review closes it.
type Flag struct {
	ID         int64
	RunID      int64
	Kind       FlagKind
	ReporterID int64 `gorm:"column:user_id"` // person who reported it; 0 for the site
	Detail     string
	CreatedAt  time.Time
	ClosedAt   *time.Time
	ClosedBy   int64
	Resolution string `gorm:"column:outcome"` // outcome of the review
}

// RaiseFlag raises a flag on behalf of the site.
func RaiseFlag(tx *gorm.DB, runID int64, kind FlagKind, detail string) error {
	flag := Flag{RunID: runID, Kind: kind, Detail: db.CutText(db.SanitizeText(detail), MaxDetailLength),
		CreatedAt: db.Now()}
	err := tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&flag).Error
	return db.WriteError(err, "flag of run %d", runID)
}

// FlagRunsForSource flags the runs of a submission whose source contains hints of cheating (found), or equals that of a
// disqualified run.
func FlagRunsForSource(tx *gorm.DB, sourceHash string, runIDs []int64, found string) error {
	var same int64
	err := tx.Table("runs r").Joins("join submissions s on s.id = r.submission_id").
		Where("r.disqualified_at is not null and s.source_hash = ?", sourceHash).
		Order("r.id").Limit(1).Pluck("r.id", &same).Error
	if err != nil {
		return fmt.Errorf("looking for disqualified runs of the same source: %w", err)
	}
	if same != 0 {
		found = fmt.Sprintf("the same source as run %d, which is disqualified; ", same) + found
	}
	if found == "" {
		return nil
	}
	for _, id := range runIDs {
		if err := RaiseFlag(tx, id, KindSource, found); err != nil {
			return err
		}
	}
	return nil
}

// CloseFlags closes all open flags of a run with an outcome.
func CloseFlags(tx *gorm.DB, by, runID int64, outcome string) (closed int64, err error) {
	res := tx.Model(&Flag{}).Where("run_id = ? and closed_at is null", runID).
		Updates(map[string]any{"closed_at": db.Now(), "closed_by": by, "outcome": outcome})
	return res.RowsAffected, db.WriteError(res.Error, "flags of run %d", runID)
}
