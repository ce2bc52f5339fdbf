package models

import (
	"gorm.io/gorm"

	"warpboard/evaluator/job"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/review"
	"warpboard/models/work"
)

// flagLibraryKernels requests a review of a ranked run whose profile has kernels of libraries, if its task forbids
// these. It has no other effect: kernels are recognized by their names, which a program chooses, and even filling a
// tensor in torch launches a kernel.
func flagLibraryKernels(tx *gorm.DB, profile *work.Run, stages []job.StageResult) error {
	if profile.Purpose != work.PurposeProfile {
		return nil
	}
	found := ""
	for _, stage := range stages {
		if stage.Stage == job.StageProfile {
			found = job.LibrariesText(job.MergeKernels(stage.Cases))
		}
	}
	if found == "" {
		return nil
	}
	var version catalog.TaskVersion
	if err := tx.Take(&version, profile.VersionID).Error; err != nil {
		return db.ReadError(err, "version %d", profile.VersionID)
	}
	if !version.Definition.RefuseLibraryKernels {
		return nil
	}
	return review.RaiseFlag(tx, *profile.ProfileOf, review.KindLibrary, found)
}
