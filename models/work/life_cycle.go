package work

import (
	"cmp"
	"fmt"

	"gorm.io/gorm"

	"warpboard/evaluator/job"
	"warpboard/models/boards"
	"warpboard/models/db"
	"warpboard/models/files"
	"warpboard/models/fleet"
)

// LifeCycle reads and changes runs and evaluations in one database.
type LifeCycle struct {
	db           *db.DB
	files        files.Files
	disk         files.SpaceMonitor
	fleet        *fleet.Fleet
	consequences Consequences
}

// New returns the work in a database. files stores artifacts, and disk reports whether there is space for events.
func New(database *db.DB, artifacts files.Files, disk files.SpaceMonitor, workers *fleet.Fleet, rules Consequences) *LifeCycle {
	return &LifeCycle{db: database, files: artifacts, disk: disk, fleet: workers, consequences: rules}
}

// Consequences has the functions that apply the consequences of a run's end: boards, statements, reruns. Package
// models, which imports this package, implements it. They are called in the transaction that ends the run, so that an
// end is never visible without its consequences. An error rolls the end back.
type Consequences interface {
	// StoreResultData stores data from a result that ended a run, before the end is announced. The run is already
	// written; a consequence that changes it must write it again.
	StoreResultData(tx *gorm.DB, run *Run, r job.Result, out *Effect) error
	// ApplyEnd applies the consequences of every end: by a result, by too many losses, or by a cancellation.
	ApplyEnd(tx *gorm.DB, run *Run, out *Effect) error
	// UpdateBoard updates the board of a run that a result ended, after the end was announced.
	UpdateBoard(tx *gorm.DB, run *Run, r job.Result, out *Effect) error
	// StoreCancelledMeasurements stores the measurements that a cancelled run made before its worker stopped it.
	StoreCancelledMeasurements(tx *gorm.DB, run *Run, r job.Result) (*boards.ChangedBoard, error)
	// ConfirmFirstPlace is called after all others for every result.
	ConfirmFirstPlace(tx *gorm.DB, run *Run, out *Effect) error
}

// Enqueue stores a waiting run, and adds its event to out.
func Enqueue(tx *gorm.DB, run *Run, out *Effect) error {
	run.State, run.Purpose = StateQueued, cmp.Or(run.Purpose, requestedPurpose(run.Mode))
	if run.ProfileOf != nil { // a run that follows another one requires the same packages
		if err := tx.Model(&Run{}).Where("id = ?", *run.ProfileOf).Select("requires").Scan(&run.Requires).Error; err != nil {
			return db.ReadError(err, "run %d", *run.ProfileOf)
		}
	}
	if err := tx.Create(run).Error; err != nil {
		return fmt.Errorf("queuing a run of submission %d on %s: %w", run.SubmissionID, run.Device, err)
	}
	event, err := storeState(tx, *run)
	out.Events = append(out.Events, event)
	return err
}
