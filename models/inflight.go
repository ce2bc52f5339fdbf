package models

import (
	"crypto/subtle"
	"errors"
	"fmt"

	"gorm.io/gorm"

	"warpboard/evaluator/job"
)

// inFlight is an attempt with its run, read inside the transaction that changes them.
type inFlight struct {
	Attempt
	run Run
}

// loadInFlight returns nil when there is no such attempt.
func loadInFlight(tx *gorm.DB, attemptID string) (*inFlight, error) {
	var a inFlight
	err := tx.Where("id = ?", attemptID).Take(&a.Attempt).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return nil, nil
	}
	if err == nil {
		err = tx.Take(&a.run, a.RunID).Error
	}
	if err != nil {
		return nil, fmt.Errorf("reading attempt %s: %w", attemptID, err)
	}
	return &a, nil
}

// current tells whether what the worker says about the attempt still counts.
func (a *inFlight) current() bool {
	return a.EndedAt == nil && a.run.AttemptID == a.ID && !a.run.State.Final()
}

func (a *inFlight) hasSecret(secret string) bool {
	return subtle.ConstantTimeCompare([]byte(a.Secret), []byte(secret)) == 1
}

func (a *inFlight) take(worker string) {
	if a.TakenAt == nil {
		a.takeOver(worker)
	}
}

// takeOver has the attempt begin on a worker, whoever had it before.
func (a *inFlight) takeOver(worker string) {
	t := now()
	a.TakenAt, a.Worker = &t, clean(worker)
	a.run.StartedAt, a.run.Worker, a.run.State = &t, a.Worker, StateBuilding
}

// end closes the attempt; nothing that comes for it later changes the run.
func (a *inFlight) end(outcome job.Outcome) {
	t := now()
	a.EndedAt, a.Outcome = &t, outcome
}

// finish brings the run into a final state.
func (a *inFlight) finish(state RunState, failure *job.Failure) {
	t := now()
	a.run.State, a.run.EndedAt, a.run.Failure = state, &t, failure
	a.run.Ours = failure != nil && failure.Ours
}

// store saves both rows; the guard makes sure that the run is still this attempt's and live.
func (a *inFlight) store(tx *gorm.DB) error {
	if err := tx.Save(&a.Attempt).Error; err != nil {
		return fmt.Errorf("saving attempt %s: %w", a.ID, err)
	}
	res := tx.Model(&Run{}).Where("id = ? and attempt_id = ? and "+liveRun, a.run.ID, a.ID).
		Select("*").Omit("id").Updates(&a.run)
	switch {
	case res.Error != nil:
		return fmt.Errorf("saving run %d: %w", a.run.ID, res.Error)
	case res.RowsAffected != 1:
		return Errorf(Conflict, "Run %d was changed meanwhile.", a.run.ID)
	}
	return nil
}
