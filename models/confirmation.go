package models

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"gorm.io/gorm"

	"warpboard/evaluator/job"
	"warpboard/models/boards"
	"warpboard/models/db"
	"warpboard/models/pools"
	"warpboard/models/webhooks"
	"warpboard/models/work"
)

// Confirmation measures the new first run of a board, the challenger, in turns with the next person's, the holder: holder,
// challenger, holder, challenger. The best of many tries was also lucky; a confirmation's numbers are not selected, and
// replace those of both runs.
//
// Each leg is a ranked run that follows one of the two, and is queued when the one before it has ended: it gives way to
// people's work, counts against no limit and is on no board. It leaves a sample (package pools), which counts if the confirmation
// ends with it. Four legs are enough if they ran undisturbed on one slot of one
// machine; otherwise more follow, up to MostLegs. If half of a side's were disturbed then, it keeps a score that was not. If
// a leg of the challenger fails, the confirmation ends without numbers and is flagged for a review. That is not a verdict, but
// the source is held back until then, because a kernel could fail on purpose where it is slow. If a leg of the holder fails,
// its source is held back, too, and the challenger is measured alone: so an accomplice cannot block a confirmation. All legs
// of a source count together, in all its confirmations (package pools): repeating a challenge selects nothing. A source in
// 1st place is confirmed once, so that confirmations come to an end.
//
// States: open (EndedAt is nil), ended with numbers (samples of its legs count, or did), ended without (unmeasured). At most one is open per board, by
// a unique index as well. Only advanceConfirmation moves it, in the transaction that ends a leg. No loop watches open ones: a leg that never ends keeps its confirmation
// open. Deleting either side's submission removes the row with its runs (on delete cascade).
type Confirmation struct {
	ID           int64
	VersionID    int64
	Device       string
	ChallengerID int64 // its run
	HolderID     int64
	OneUnit      bool   // the legs that count ran on one unit of one machine
	Outcome      string // why it ended without numbers, of the holder or of both
	Again        bool   // it may begin again, for it ended by no fault of the challenger's
	CreatedAt    time.Time
	EndedAt      *time.Time

	alone string // why the challenger counts alone; empty: it does not
}

// unmeasured chooses confirmations without numbers of their challenger.
const unmeasured = `not exists (select 1 from runs x join samples s on s.by_run = x.id and s.purpose = 'confirm'
	where x.confirmation_id = confirmations.id and s.run_id = confirmations.challenger_id and s.why <> '` + pools.Undecided + `')`

const (
	// EnoughLegs do if they are quiet. Two of each side are the fewest that can disagree: fewer would make one lucky leg the
	// score.
	EnoughLegs = 2 // of each side, on one unit
	// MostLegs bounds what a first place costs the device: four ranked runs of each side, when machines are noisy or differ. Each
	// is queued only after the one before it has ended, so that raising it lengthens the wait more than the load.
	MostLegs = 8
	// How often a challenger is measured again in all if bad conditions spoil it. A device that is never quiet would else
	// spend eight ranked runs on each change of the board.
	mostSpoilt = 3
)

// show marks the run on the board that waits for its confirmation.
func (c Confirmation) show(tx *gorm.DB, runID int64, out *work.Recorded) error {
	err := tx.Model(&boards.Board{}).Where("version_id = ? and device = ?", c.VersionID, c.Device).Update("confirming", runID).Error
	if err != nil {
		return fmt.Errorf("changing the board: %w", err)
	}
	out.Board, err = boards.IncrementChange(tx, c.VersionID, c.Device)
	return err
}

// queueLeg queues one leg of the run `of`. It is in that run's name, but no one asked for it: its person cannot cancel it
// (CancelRun), and it counts for no limit.
func (c Confirmation) queueLeg(tx *gorm.DB, of int64, out *work.Recorded) error {
	var run work.Run
	if err := tx.Take(&run, of).Error; err != nil {
		return db.ReadError(err, "run %d", of)
	}
	leg := work.Run{SubmissionID: run.SubmissionID, VersionID: run.VersionID, UserID: run.UserID, Mode: job.ModeRanked,
		Purpose: work.Confirm, ProfileOf: &run.ID, ConfirmationID: &c.ID, Work: work.Work{Device: run.Device, QueuedAt: db.Now()}}
	return work.Enqueue(tx, &leg, out)
}

// advanceConfirmation goes on when a leg has ended: with the next one, or to the end.
func advanceConfirmation(tx *gorm.DB, id int64, out *work.Recorded) error {
	var c Confirmation
	err := tx.Take(&c, id).Error
	if errors.Is(err, gorm.ErrRecordNotFound) || err == nil && c.EndedAt != nil {
		return nil // the submission of one side was deleted
	}
	var legs []work.Run
	if err == nil {
		err = tx.Where("confirmation_id = ?", id).Order("id").Find(&legs).Error
	}
	if err != nil {
		return db.ReadError(err, "confirmation %d", id)
	}
	// Legs are queued one by one. Should two be live all the same, the last to end goes on.
	if slices.ContainsFunc(legs, func(leg work.Run) bool { return !leg.State.Final() }) {
		return nil
	}
	for i, leg := range legs {
		// Any leg of the challenger without a score decides at once. One of the holder is only noted, since the challenger's
		// other legs still count. Legs are read again each time, so the state need not be stored.
		switch {
		case leg.State == work.StateDone && leg.ScoreNS != nil:
		case *leg.ProfileOf == c.ChallengerID:
			return c.breakOff(tx, leg, out)
		default:
			// Only the newest leg holds the source back: of an older one this was done when it ended, and staff may have
			// released it since.
			if c.alone = whyNoScore(leg) + " The other run was measured alone."; i == len(legs)-1 {
				err = c.loseHolder(tx, leg, out)
			}
		}
	}
	if err != nil {
		return err
	}
	return c.goOn(tx, legs, out)
}

// goOn queues the next leg, or ends the confirmation with the numbers of those that count.
func (c Confirmation) goOn(tx *gorm.DB, legs []work.Run, out *work.Recorded) error {
	usable, err := c.usable(tx, legs)
	if err != nil {
		return err
	}
	counted, enough := c.counted(usable)
	if sides := c.sides(); !enough && len(legs) < MostLegs {
		return c.queueLeg(tx, sides[len(legs)%len(sides)], out)
	}
	if !enough {
		// No more legs: take the existing ones, from the newest software that measured both sides, on any slots.
		counted = c.newest(counted)
	}
	if len(counted) == 0 {
		return c.retryLater(tx, "No machine with the board's software was available to measure both runs again. They are measured again when something changes on the board.", out)
	}
	why, err := c.spoilt(tx, c.side(counted, c.ChallengerID))
	if err == nil && why != "" {
		return c.discard(tx, why, out)
	}
	if err == nil && c.alone == "" {
		c.alone, err = c.spoilt(tx, c.side(counted, c.HolderID))
	}
	if err != nil {
		return err
	}
	c.OneUnit = !slices.ContainsFunc(counted, func(leg work.Run) bool { return unitOf(leg) != unitOf(counted[0]) })
	return c.conclude(tx, counted, out)
}

// sides are the runs that are measured in turns.
func (c Confirmation) sides() []int64 {
	if c.alone != "" {
		return []int64{c.ChallengerID}
	}
	return []int64{c.HolderID, c.ChallengerID}
}

// legFailed reports whether a leg has no score because of its kernel. A task's failure and an infrastructure error are other
// causes. Too many losses in which the run itself may have brought its worker down count as the kernel's: otherwise a kernel
// could avoid a confirmation by crashing the worker.
func legFailed(r work.Run) bool {
	infrastructure := r.Infrastructure && r.Losses < work.MaxLosses // more would be the kernel's own doing
	return r.State == work.StateFailed && !infrastructure && (r.Failure == nil || !r.Failure.Task)
}

// loseHolder goes on without the holder, one of whose legs has no score. The failing run is held back; otherwise an
// accomplice could keep the challenger from being measured.
func (c Confirmation) loseHolder(tx *gorm.DB, leg work.Run, out *work.Recorded) error {
	if !legFailed(leg) {
		return nil
	}
	changes, err := holdSource(tx, c.HolderID, whyNoScore(leg))
	if len(changes) > 0 {
		out.Board = &changes[0]
	}
	return err
}

// whyNoScore is a sentence about a leg.
func whyNoScore(r work.Run) string {
	switch {
	case r.State != work.StateFailed:
		return fmt.Sprintf("Measuring #%d again was cancelled.", r.SubmissionID)
	case r.Failure != nil && r.Failure.Task:
		return fmt.Sprintf("The task failed when #%d was measured again.", r.SubmissionID)
	case !legFailed(r):
		return fmt.Sprintf("#%d could not be measured again because of infrastructure errors.", r.SubmissionID)
	case r.Failure != nil:
		return fmt.Sprintf("#%d did not pass when it was measured again. %s", r.SubmissionID, r.PublicFailure()) // it is public
	}
	return fmt.Sprintf("#%d did not pass when it was measured again.", r.SubmissionID)
}

// breakOff ends the confirmation without numbers: the challenger did not pass once more, and is held back, or was cancelled. One that
// infrastructure errors stopped begins again when something changes on the board.
func (c Confirmation) breakOff(tx *gorm.DB, leg work.Run, out *work.Recorded) error {
	c.Outcome = whyNoScore(leg)
	switch {
	case legFailed(leg):
		// The board's change is dropped here: end writes the mark and reports the number that the board has after both.
		if _, err := holdSource(tx, c.ChallengerID, c.Outcome); err != nil {
			return err
		}
		c.Outcome += fmt.Sprintf(" Run %d is not on any board until it has been reviewed.", c.ChallengerID)
	case leg.State == work.StateFailed:
		return c.retryLater(tx, c.Outcome+" It is tried again when something changes on the board.", out)
	}
	return c.end(tx, out)
}

// retryLater ends it without numbers, so that it begins again when something changes on the board. Another run that is first by now does not
// wait for that.
func (c Confirmation) retryLater(tx *gorm.DB, why string, out *work.Recorded) error {
	c.Again, c.Outcome = true, why
	if err := c.close(tx, out); err != nil {
		return err
	}
	top, err := topOf(tx, c.VersionID, c.Device, 1)
	if err != nil || len(top) == 0 || top[0].RunID == c.ChallengerID {
		return err
	}
	return startConfirmation(tx, c.VersionID, c.Device, out)
}

// close ends the confirmation and begins no other.
func (c Confirmation) close(tx *gorm.DB, out *work.Recorded) error {
	at := db.Now()
	c.EndedAt = &at
	if err := tx.Save(&c).Error; err != nil {
		return fmt.Errorf("ending confirmation %d: %w", c.ID, err)
	}
	if err := webhooks.ReleasePlaces(tx); err != nil {
		return err
	}
	return c.show(tx, 0, out)
}

// end also begins the next one: with new numbers another entry may be first. It comes to an end because a source with
// legs, or a challenger with a confirmation behind it, is not confirmed again (startConfirmation).
func (c Confirmation) end(tx *gorm.DB, out *work.Recorded) error {
	if err := c.close(tx, out); err != nil {
		return err
	}
	return startConfirmation(tx, c.VersionID, c.Device, out)
}

// forgetConfirmations clears the marks of boards whose open confirmation is gone with a deleted submission, and cancels the
// other side's leg. The cascade has deleted the rows when this is called; the marks then name ids without a row. The legs'
// watchers are not notified, and their workers stop at the next heartbeat, whose answer lists the attempts as stale.
func (s *Store) forgetConfirmations(tx *gorm.DB) error {
	err := tx.Model(&boards.Board{}).Where("confirming <> 0 and not exists (select 1 from confirmations c where c.challenger_id = confirming and c.ended_at is null)").
		Update("confirming", 0).Error
	if err == nil {
		err = webhooks.ReleasePlaces(tx)
	}
	var legs []work.Run
	if err == nil {
		err = tx.Where("confirmation_id is not null and not exists (select 1 from confirmations c where c.id = runs.confirmation_id) and " + work.Live).Order("id").Find(&legs).Error
	}
	if err != nil {
		return db.WriteError(err, "marks of confirmations")
	}
	for i := range legs {
		if err := s.Work.StopRun(tx, &legs[i], &work.Recorded{}); err != nil {
			return err
		}
	}
	return nil
}
