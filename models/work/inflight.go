package work

import (
	"crypto/subtle"
	"errors"
	"fmt"

	"gorm.io/gorm"

	"warpboard/evaluator/job"
	"warpboard/models/db"
)

// inFlight is an attempt and its work, read in the transaction that changes them.
type inFlight struct {
	Attempt
	item item
}

// loadInFlight reads an attempt and its work. It returns nil if there is no such attempt.
func (l *LifeCycle) loadInFlight(tx *gorm.DB, attemptID string) (*inFlight, error) {
	var a inFlight
	err := tx.Where("id = ?", attemptID).Take(&a.Attempt).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return nil, nil
	}
	if err == nil {
		a.item, err = l.loadItem(tx, a.Ref())
	}
	if err != nil {
		return nil, fmt.Errorf("reading attempt %s: %w", attemptID, err)
	}
	return &a, nil
}

// current reports whether messages of the worker about the attempt still count.
func (a *inFlight) current() bool {
	w := a.item.work()
	return a.EndedAt == nil && w.AttemptID == a.ID && w.EndedAt == nil
}

func (a *inFlight) hasSecret(secret string) bool {
	return subtle.ConstantTimeCompare([]byte(a.Secret), []byte(secret)) == 1
}

// take records the worker and the time at which it received the attempt, once.
func (a *inFlight) take(worker string) {
	if a.TakenAt != nil {
		return
	}
	t, w := db.Now(), a.item.work()
	a.TakenAt, a.Worker = &t, db.Sanitize(worker)
	w.StartedAt, w.Worker = &t, a.Worker
	a.item.setTaken()
}

// end ends the attempt. Later messages about it do not change its work.
func (a *inFlight) end(outcome job.Outcome) {
	t := db.Now()
	a.EndedAt, a.Outcome = &t, outcome
}

// store writes the rows of the attempt and its work.
func (a *inFlight) store(tx *gorm.DB) error {
	if err := tx.Save(&a.Attempt).Error; err != nil {
		return fmt.Errorf("saving attempt %s: %w", a.ID, err)
	}
	return saveItem(tx, a.item, a.ID)
}
