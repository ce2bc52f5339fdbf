package submissions

import (
	"gorm.io/gorm"

	"warpboard/models/db"
	"warpboard/models/work"
)

// findByRequestKey returns the submission that the person has already made with the same key, for a request that is
// repeated because its response was lost. Keys are per person. It returns Conflict if the request differs.
func findByRequestKey(tx *gorm.DB, in NewSubmission) (sub Submission, runs []work.Run, err error) {
	if in.RequestKey == "" {
		return sub, nil, nil
	}
	found := tx.Where("user_id = ? and request_key = ?", in.User.ID, in.RequestKey).Limit(1).Find(&sub)
	if found.Error != nil || found.RowsAffected == 0 {
		return sub, nil, db.ReadError(found.Error, "submission of an idempotency key")
	}
	// Modes are compared by WorkerMode, because only one of the two may be practice: the deadline may have passed since
	// the first request, or an admin may have added the submission. Devices are not compared: a repetition with other
	// devices gets the runs of the first request.
	if sub.TaskID != in.TaskID || work.WorkerMode(sub.Mode) != work.WorkerMode(in.Mode) || sub.SourceHash != db.Hash(in.asTaskSubmission().Pack()) || !sub.ProfileFilter.Equal(in.ProfileFilter) {
		return Submission{}, nil, db.Errorf(db.Conflict, "Submission %d, which is different, was sent with this idempotency key: use a new key.", sub.ID)
	}
	err = tx.Where("submission_id = ? and profile_of is null", sub.ID).Order("id").Find(&runs).Error
	return sub, runs, db.ReadError(err, "runs of submission %d", sub.ID)
}
