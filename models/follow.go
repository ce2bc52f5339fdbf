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

// A profile follows a ranked run that has its place on the board: a separate run of the same submission, so that the
// board never waits for Nsight Compute and no time is ever measured under it.

// queueProfile queues the profile of a ranked run that has just ended well, if its task lets it be made
// and a worker is here that can.
func queueProfile(tx *gorm.DB, r *work.Run, out *work.Effect) error {
	if !r.Valid() {
		return nil
	}
	// Whether a worker can profile is checked only now: if it leaves before the profile's turn, the profile waits in
	// the queue.
	wanted, err := isProfilable(tx, *r)
	if err != nil || !wanted {
		return err
	}
	profile := work.Run{
		SubmissionID: r.SubmissionID, VersionID: r.VersionID, UserID: r.UserID,
		Mode: job.ModeProfile, Purpose: work.Profile, ProfileOf: &r.ID, Work: work.Work{
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
	if version.Definition.NoProfile {
		return false, nil
	}
	return fleet.CanProfile(tx, run.Device)
}

// announceProfile notifies the board of an entry that it has a profile now.
func announceProfile(tx *gorm.DB, profile work.Run) (*boards.Change, error) {
	var entries int64
	// A board shows profiles beside entries only, so that the profile of a run that was beaten in the meantime gives no
	// new number.
	err := tx.Model(&boards.Entry{}).Where("run_id = ?", *profile.ProfileOf).Count(&entries).Error
	if err != nil || entries == 0 || profile.State != work.StateDone {
		return nil, db.ReadError(err, "the entry of run %d", *profile.ProfileOf)
	}
	return boards.IncrementChange(tx, profile.VersionID, profile.Device)
}
