package submissions

import (
	"slices"

	"gorm.io/gorm"

	"warpboard/evaluator/job"
	"warpboard/internal/gpuname"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/work"
)

// checkCleanSanitizerRun returns an error for a ranked submission if the task requires that compute-sanitizer has
// passed for the source on each of the GPUs, and it has not. Each version of a task requires it again.
func (in NewSubmission) checkCleanSanitizerRun(tx *gorm.DB, task catalog.Task, version catalog.TaskVersion) error {
	if !version.Definition.RequiresCleanSanitizerRun || in.Mode != job.ModeRanked || in.Via == ViaTrial {
		return nil
	}
	var clean []string
	err := tx.Table("submissions s").Joins("join runs r on r.submission_id = s.id and r.profile_of is null").
		Where("s.source_hash = ? and s.user_id = ? and s.version_id = ?", db.Hash(in.asTaskSubmission().Pack()), in.User.ID, version.ID).
		Where("r.mode = ? and r.state = ?", job.ModeSanitize, work.StateDone).Pluck("r.device", &clean).Error
	if err != nil {
		return db.ReadError(err, "clean runs of a source")
	}
	for _, device := range in.Devices {
		if device != gpuname.CPU && !slices.Contains(clean, device) {
			return db.Errorf(db.Invalid, "For %s, a source can be ranked only after a run of mode sanitize without errors, on the same device. "+
				"First submit exactly this source for %s in mode sanitize.", task.Title, device)
		}
	}
	return nil
}
