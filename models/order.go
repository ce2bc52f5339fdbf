package models

import (
	"slices"
	"time"

	"gorm.io/gorm"

	"warpboard/evaluator/job"
	"warpboard/models/boards"
	"warpboard/models/db"
	"warpboard/models/samples"
	"warpboard/models/work"
)

// RerunOrder is an order to measure runs again. Each of its runs (work.Run.OrderID) is a ranked run that follows an
// earlier run. It has a lower priority than people's work, does not count for limits, and is not an entry. It produces
// a sample (package samples), which counts when the order decides so:
//
// PurposeConfirm: when the confirmation ends with scores (confirmation.go)
//
// PurposeRerun with EpochID: at once, because the software of Device changed
//
// PurposeRerun with VersionID: when a person applies the order
type RerunOrder struct {
	ID      int64
	Purpose work.Purpose // PurposeConfirm or PurposeRerun
	// version of the measured runs; 0 for new software, which concerns all tasks
	VersionID        int64  `gorm:"default:null"`
	Device           string // empty for all devices of the version
	EpochID          int64  // epoch of the new software
	ChallengerID     int64  `gorm:"default:null"`    // for PurposeConfirm: run of the new 1st place
	HolderID         int64  `gorm:"default:null"`    // for PurposeConfirm: run of the next person
	CountedOnOneSlot bool   `gorm:"column:one_unit"` // for PurposeConfirm: all counted runs ran on one slot
	CreatedBy        int64  // 0 for the site
	// Reason is the reason for the order. If a confirmation ended without scores, it is the reason for that.
	Reason                string
	MayRepeatConfirmation bool `gorm:"column:again"` // for PurposeConfirm: the confirmation may start again
	CreatedAt             time.Time
	EndedAt               *time.Time // time since which none of its runs waits
	AppliedAt             *time.Time // time at which a person made its scores count
	Cancelled             bool
}

// TableName returns the table of orders.
func (RerunOrder) TableName() string { return "orders" }

// queueRun queues a run of the order. It belongs to the person whose run it measures, who cannot cancel it (CancelRun).
func (o RerunOrder) queueRun(tx *gorm.DB, of boards.Entry, out *work.Effect) error {
	run := work.Run{SubmissionID: of.SubmissionID, VersionID: of.VersionID, UserID: of.UserID, Mode: job.ModeRanked,
		Purpose: o.Purpose, ProfileOf: &of.RunID, OrderID: &o.ID, Work: work.Work{
			Device:   of.Device,
			QueuedAt: db.Now(),
		}}
	return work.Enqueue(tx, &run, out)
}

// queueReruns queues reruns of the entries that q selects, in order. It skips those that the order has measured
// already, that failed, or that wait.
func (o RerunOrder) queueReruns(tx, q *gorm.DB, out *work.Effect) (queued int, err error) {
	var entries []boards.Entry
	var known []work.Run
	err = q.Order("age, score_ns, run_id").Find(&entries).Error
	if err == nil {
		err = tx.Where("order_id = ?", o.ID).Find(&known).Error
	}
	if err != nil {
		return 0, db.ReadError(err, "entries to be measured again")
	}
	for _, e := range entries {
		if slices.ContainsFunc(known, func(again work.Run) bool {
			return *again.ProfileOf == e.RunID && Rerun{Run: again}.NotMeasuredReason() == ""
		}) {
			continue
		}
		if err := o.queueRun(tx, e, out); err != nil {
			return 0, err
		}
		queued++
	}
	return queued, nil
}

// unfinishedRuns selects the runs of the order that have not ended.
func (o RerunOrder) unfinishedRuns(tx *gorm.DB) *gorm.DB {
	return tx.Model(&work.Run{}).Where("order_id = ? and "+work.NotEndedSQL, o.ID)
}

// readOrderOfRun reads the order that a run belongs to.
func readOrderOfRun(tx *gorm.DB, run work.Run) (o RerunOrder, err error) {
	err = tx.Limit(1).Find(&o, *run.OrderID).Error
	return o, db.ReadError(err, "order of run %d", run.ID)
}

// acceptSamples makes the samples of the order's runs count, and allows another confirmation of the measured runs if
// they become first.
func (o RerunOrder) acceptSamples(tx *gorm.DB, list ...work.Run) error {
	by, of := make([]int64, len(list)), make([]int64, len(list))
	for i, run := range list {
		by[i], of[i] = run.ID, *run.ProfileOf
	}
	if err := samples.AcceptSamples(tx, by...); err != nil || o.Purpose == work.PurposeConfirm {
		return err
	}
	return allowNextConfirmation(tx, of)
}
