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

// LifeCycle is the work of one database, with all its changes.
type LifeCycle struct {
	db           *db.DB
	files        files.Files
	disk         files.Disk
	fleet        *fleet.Fleet
	consequences Consequences
}

// New returns the work of a database. Artifacts of runs lie among files; events are kept while the disk has room.
func New(database *db.DB, artifacts files.Files, disk files.Disk, workers *fleet.Fleet, rules Consequences) *LifeCycle {
	return &LifeCycle{db: database, files: artifacts, disk: disk, fleet: workers, consequences: rules}
}

// Consequences are the consequences of a run's end: boards, statements, reruns. Package models has them, which imports
// this one. They are called inside the transaction that ends the run, so that an end is never visible without its
// consequences; an error undoes the end.
type Consequences interface {
	// Keep stores the content of a result that ended a run, before the end is announced. The run is saved already: a
	// rule that changes it has to write it, too.
	Keep(tx *gorm.DB, run *Run, r job.Result, out *Effect) error
	// Ended applies the consequences of any end: by a result, by too many losses, or by a cancellation.
	Ended(tx *gorm.DB, run *Run, out *Effect) error
	// Place enters a run that a result ended on its board, after the end was announced.
	Place(tx *gorm.DB, run *Run, r job.Result, out *Effect) error
	// Stopped stores the measurements of a cancelled run until its worker stopped it.
	Stopped(tx *gorm.DB, run *Run, r job.Result) (*boards.Change, error)
	// Settled comes after all of these when a result came, whatever it did.
	Settled(tx *gorm.DB, run *Run, out *Effect) error
}

// Enqueue stores a waiting run, and adds the news for watchers.
func Enqueue(tx *gorm.DB, run *Run, out *Effect) error {
	run.State, run.Purpose = StateQueued, cmp.Or(run.Purpose, purposeOf(run.Mode))
	if run.ProfileOf != nil { // it needs what that one needed
		if err := tx.Model(&Run{}).Where("id = ?", *run.ProfileOf).Select("requires").Scan(&run.Requires).Error; err != nil {
			return db.ReadError(err, "run %d", *run.ProfileOf)
		}
	}
	if err := tx.Create(run).Error; err != nil {
		return fmt.Errorf("queuing a run of submission %d on %s: %w", run.SubmissionID, run.Device, err)
	}
	event, err := noteState(tx, *run)
	out.Events = append(out.Events, event)
	return err
}
