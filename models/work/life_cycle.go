package work

import (
	"fmt"

	"gorm.io/gorm"

	"warpboard/evaluator/job"
	"warpboard/models/boards"
	"warpboard/models/db"
	"warpboard/models/files"
	"warpboard/models/fleet"
)

// LifeCycle is the work of one database, and all that happens to it.
type LifeCycle struct {
	db    *db.DB
	files files.Files
	fleet *fleet.Fleet
	rules Rules
}

// New returns the work of a database. Artifacts of runs lie among files.
func New(database *db.DB, artifacts files.Files, workers *fleet.Fleet, rules Rules) *LifeCycle {
	return &LifeCycle{db: database, files: artifacts, fleet: workers, rules: rules}
}

// Rules say what follows from the end of a run: boards, statements, what is measured again. Package models has them, above
// this one, which knows none of it. They are asked inside the transaction that ends the run, so that an end without what
// follows from it is never seen; an error takes the end back.
type Rules interface {
	// Keep keeps what a result that ended a run has brought, before anyone is told of the end. The run is saved already: what
	// changes it writes it, too.
	Keep(tx *gorm.DB, run *Run, r job.Result, out *Recorded) error
	// Ended follows from any end: by a result, by too many losses, or because it was cancelled.
	Ended(tx *gorm.DB, run *Run, out *Recorded) error
	// Place brings a run that a result ended onto its board, after the end was told.
	Place(tx *gorm.DB, run *Run, r job.Result, out *Recorded) error
	// Stopped takes what a cancelled run had measured until its worker stopped it.
	Stopped(tx *gorm.DB, run *Run, r job.Result) (*boards.Change, error)
	// Settled comes after all of these when a result came, whatever it did.
	Settled(tx *gorm.DB, run *Run, out *Recorded) error
}

// Enqueue stores a run that is to wait, and adds what watchers are to be told of it.
func Enqueue(tx *gorm.DB, run *Run, out *Recorded) error {
	run.State = StateQueued
	if err := tx.Create(run).Error; err != nil {
		return fmt.Errorf("queuing a run of submission %d on %s: %w", run.SubmissionID, run.Device, err)
	}
	event, err := noteState(tx, *run)
	out.Events = append(out.Events, event)
	return err
}
