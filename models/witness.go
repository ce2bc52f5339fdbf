package models

import (
	"gorm.io/gorm"

	"warpboard/evaluator/job"
	"warpboard/models/db"
	"warpboard/models/review"
	"warpboard/models/work"
)

// flagContradictingProfile marks a ranked run whose times are shorter than those in its profile, and requests a review.
// The run still counts.
func flagContradictingProfile(tx *gorm.DB, profile *work.Run, stages []job.StageResult) error {
	if profile.Purpose != work.PurposeProfile {
		return nil
	}
	ranked, err := work.RankedStage(tx, *profile.ProfileOf)
	if err != nil {
		return err
	}
	for _, stage := range stages {
		if stage.Stage != job.StageProfile {
			continue
		}
		if why := job.ProfileContradiction(ranked.Cases, stage.Cases); why != "" {
			err := tx.Model(&work.Run{}).Where("id = ?", *profile.ProfileOf).Update("contradicted", true).Error
			if err != nil {
				return db.WriteError(err, "run %d", *profile.ProfileOf)
			}
			return review.RaiseFlag(tx, *profile.ProfileOf, review.KindContradicted, why)
		}
	}
	return nil
}
