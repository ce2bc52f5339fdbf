package work

import (
	"crypto/subtle"
	"errors"
	"fmt"

	"gorm.io/gorm"

	"warpboard/evaluator/job"
	"warpboard/models/db"
)

// attemptWithWork is an attempt and its work, read in the transaction that changes them.
type attemptWithWork struct {
	Attempt
	workItem workItem
}

// loadAttemptWithWork reads an attempt and its work. It returns nil if there is no such attempt.
func (l *LifeCycle) loadAttemptWithWork(tx *gorm.DB, attemptID string) (*attemptWithWork, error) {
	var a attemptWithWork
	err := tx.Where("id = ?", attemptID).Take(&a.Attempt).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return nil, nil
	}
	if err == nil {
		a.workItem, err = l.loadWork(tx, a.WorkRef())
	}
	if err != nil {
		return nil, fmt.Errorf("reading attempt %s: %w", attemptID, err)
	}
	return &a, nil
}

// acceptsMessages reports whether messages of the worker about the attempt still count.
func (a *attemptWithWork) acceptsMessages() bool {
	w := a.workItem.work()
	return a.EndedAt == nil && w.AttemptID == a.ID && w.EndedAt == nil
}

func (a *attemptWithWork) hasSecret(secret string) bool {
	return subtle.ConstantTimeCompare([]byte(a.Secret), []byte(secret)) == 1
}

// recordReceipt records the worker and the time at which it received the attempt, once.
func (a *attemptWithWork) recordReceipt(worker string) {
	if a.ReceivedAt != nil {
		return
	}
	t, w := db.Now(), a.workItem.work()
	a.ReceivedAt, a.Worker = &t, db.SanitizeText(worker)
	w.StartedAt, w.Worker = &t, a.Worker
	a.workItem.setReceived()
}

// endAttempt ends the attempt. Later messages about it do not change its work.
func (a *attemptWithWork) endAttempt(outcome job.Outcome) {
	t := db.Now()
	a.EndedAt, a.Outcome = &t, outcome
}

// saveRows writes the rows of the attempt and its work.
func (a *attemptWithWork) saveRows(tx *gorm.DB) error {
	if err := tx.Save(&a.Attempt).Error; err != nil {
		return fmt.Errorf("saving attempt %s: %w", a.ID, err)
	}
	return saveWork(tx, a.workItem, a.ID)
}
