package models

import (
	"gorm.io/gorm"

	"warpboard/evaluator/job"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/review"
	"warpboard/models/work"
)

// noteLibraries requests the review of a ranked run whose profile has kernels of libraries, if its task refuses these.
// It changes nothing else: kernels are told by their names, which a program chooses, and a tensor that torch fills with
// zeros takes a kernel, too.
func noteLibraries(tx *gorm.DB, profile *work.Run, stages []job.StageResult) error {
	if profile.Purpose != work.Profile {
		return nil
	}
	found := ""
	for _, stage := range stages {
		if stage.Stage == job.StageProfile {
			found = job.LibrariesIn(job.KernelsOf(stage.Cases))
		}
	}
	if found == "" {
		return nil
	}
	var version catalog.TaskVersion
	if err := tx.Take(&version, profile.VersionID).Error; err != nil {
		return db.ReadError(err, "version %d", profile.VersionID)
	}
	if !version.Definition.RefuseLibrary {
		return nil
	}
	return review.RaiseFlag(tx, *profile.ProfileOf, review.KindLibrary, found)
}
