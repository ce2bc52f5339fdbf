package boards

import (
	"context"

	"warpboard/models/db"
)

// Baseline is a submission that is part of a task and that the site runs for comparison. It has no rank.
type Baseline struct {
	VersionID  int64  `gorm:"primaryKey;autoIncrement:false"`
	Device     string `gorm:"primaryKey"`
	Name       string `gorm:"primaryKey"`
	RunID      int64
	SourceHash string
}

// MeasuredBaseline is a baseline whose run was successful.
type MeasuredBaseline struct {
	Baseline
	SubmissionID int64
	ScoreNS      float64 `gorm:"column:score_ns"`
}

// Baselines lists the baselines of versions on a device that have a score, fastest first. It omits those of another
// epoch than the board's 1st place, unless one of the epochs is unknown, and those whose run was disturbed: compared
// with a slowed baseline, each kernel looks fast.
func (s *Boards) Baselines(ctx context.Context, versionIDs []int64, device string) ([]MeasuredBaseline, error) {
	var list []MeasuredBaseline
	err := s.db.Read(ctx).Table("baselines b").Select("b.*, r.submission_id, r.score_ns").Joins("join runs r on r.id = b.run_id").
		Where("b.version_id in ? and b.device = ? and r.score_ns is not null and r.disturbed = ''", versionIDs, device).
		Where("(r.epoch_id = 0 or r.epoch_id = coalesce((select nullif(h.epoch_id, 0) from boards h where h.version_id = b.version_id and h.device = b.device), r.epoch_id))").
		Order("r.score_ns, b.name").Scan(&list).Error
	return list, db.ReadError(err, "the baselines of a board")
}
