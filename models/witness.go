package models

import (
	"gorm.io/gorm"

	"warpboard/evaluator/job"
	"warpboard/models/db"
	"warpboard/models/review"
	"warpboard/models/work"
)

// noteWitness stores whether a ranked run's times are backed by its profile, and requests a review if they are not. The
// run counts all the same.
func noteWitness(tx *gorm.DB, profile *work.Run, stages []job.StageResult) error {
	if profile.Purpose != work.Profile {
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
		backed, why := job.Witness(ranked.Cases, stage.Cases)
		if backed == nil {
			continue
		}
		if err := tx.Model(&work.Run{}).Where("id = ?", *profile.ProfileOf).Update("backed", *backed).Error; err != nil {
			return db.WriteError(err, "run %d", *profile.ProfileOf)
		}
		if !*backed {
			return review.Raise(tx, *profile.ProfileOf, review.Unbacked, why)
		}
	}
	return nil
}
