package models

import (
	"gorm.io/gorm"

	"warpboard/evaluator/job"
	"warpboard/models/boards"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/fleet"
	"warpboard/models/work"
)

// A profile is a separate run of the same submission that follows a ranked run which is an entry of a board. So boards
// do not wait for Nsight Compute, and no score is measured under it.

// queueProfile queues the profile of a ranked run that has just succeeded, if its task allows profiles and a live
// worker can make them.
func queueProfile(tx *gorm.DB, r *work.Run, out *work.Effect) error {
	if !r.Valid() {
		return nil
	}
	// The profile is queued even if the worker leaves before it starts; it then waits in the queue.
	wanted, err := isProfilable(tx, *r)
	if err != nil || !wanted {
		return err
	}
	profile := work.Run{
		SubmissionID: r.SubmissionID, VersionID: r.VersionID, UserID: r.UserID,
		Mode: job.ModeProfile, Purpose: work.PurposeProfile, ProfileOf: &r.ID, Work: work.Work{
			Device:   r.Device,
			QueuedAt: db.Now(),
		},
	}
	return work.Enqueue(tx, &profile, out)
}

func isProfilable(tx *gorm.DB, run work.Run) (bool, error) {
	var version catalog.TaskVersion
	if err := tx.Take(&version, run.VersionID).Error; err != nil {
		return false, db.ReadError(err, "version %d", run.VersionID)
	}
	if version.Definition.DisableProfile {
		return false, nil
	}
	return fleet.CanProfile(tx, run.Device)
}

// announceProfile raises the change number of the board on which an entry now has a profile.
func announceProfile(tx *gorm.DB, profile work.Run) (*boards.ChangedBoard, error) {
	var entries int64
	// Boards show profiles only for entries. If the run is no longer an entry, the change number stays.
	err := tx.Model(&boards.Entry{}).Where("run_id = ?", *profile.ProfileOf).Count(&entries).Error
	if err != nil || entries == 0 || profile.State != work.StateDone {
		return nil, db.ReadError(err, "the entry of run %d", *profile.ProfileOf)
	}
	return boards.IncrementChangeNumber(tx, profile.VersionID, profile.Device)
}
