package work

import (
	"time"

	"gorm.io/gorm"

	"warpboard/evaluator/job"
	"warpboard/internal/gpuname"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/quota"
)

// maxSlots limits the slots that one attempt is charged for. It exceeds the slots of any machine.
const maxSlots = 64

// chargeBudget stores the slot time of the attempt and charges it to the person who requested the work. The worker
// reports the time; it is limited to the time since the attempt began, times the number of slots.
func (a *attemptWithWork) chargeBudget(tx *gorm.DB, r job.Result, began time.Time) error {
	w := a.workItem.work()
	if w.SlotNS = 0; r.SlotNS <= 0 {
		return nil
	}
	slots, err := a.workItem.slotCount(tx)
	if err != nil {
		return err
	}
	most := max(0, db.Now().Sub(began)) * time.Duration(min(max(1, slots), maxSlots))
	w.SlotNS = min(r.SlotNS, most.Nanoseconds())
	if w.Device == gpuname.CPU || r.Outcome != job.OutcomeCancelled && !isFinalResult(r) {
		return nil
	}
	return quota.ChargeGPUTime(tx, a.workItem.payerID(), a.workItem.submissionID(), time.Duration(w.SlotNS))
}

// isFinalResult reports whether a result ended the work normally. It is false if the work was returned, lost, or failed
// with an infrastructure error.
func isFinalResult(r job.Result) bool {
	return r.Outcome == job.OutcomePassed || r.Outcome == job.OutcomeFailed && (r.Failure == nil || !r.Failure.IsInfrastructureError)
}

// payerID returns the person who requested the run, or 0 for the site.
func (r *Run) payerID() int64 {
	if !r.Purpose.IsRequestedByPerson() {
		return 0
	}
	return r.UserID
}

func (r *Run) submissionID() int64 { return r.SubmissionID }

func (r *Run) slotCount(tx *gorm.DB) (int, error) {
	var version catalog.TaskVersion
	err := tx.Select("definition").Take(&version, r.VersionID).Error
	return version.Definition.WorldSize(), db.ReadError(err, "version of run %d", r.ID)
}

func (e *Evaluation) payerID() int64 { return e.UserID }

func (e *Evaluation) submissionID() int64 { return 0 }

func (e *Evaluation) slotCount(*gorm.DB) (int, error) { return 1, nil }
