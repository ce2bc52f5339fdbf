package models

import (
	"fmt"
	"slices"

	"gorm.io/gorm"

	"warpboard/models/boards"
	"warpboard/models/db"
	"warpboard/models/samples"
	"warpboard/models/work"
)

// confirmation is an order that measures the new first run of a board, the challenger, in turns with the next person's,
// the holder: holder, challenger, holder, challenger. The best of many tries was also lucky; a confirmation's numbers
// are not selected, and replace those of both runs.
//
// Each turn is queued when the one before it has ended. Four are enough if they ran undisturbed on one slot; otherwise
// more follow, up to MaxTurnsPerSide. If half of a side's were disturbed then, it keeps a score that was not. If a turn
// of the challenger fails, the confirmation ends without numbers, and its source is held back until a review, because a
// kernel could fail on purpose where it is slow. If a turn of the holder fails, its source is held back, too, and the
// challenger is measured alone: so an accomplice cannot block a confirmation. All turns of a source count together, in
// all its confirmations (package samples): repeating a challenge selects nothing. A source in 1st place is confirmed
// once, so that confirmations come to an end.
//
// At most one is open per board, by a unique index as well. Only advanceConfirmation moves it, in the transaction that
// ends a turn. No loop watches open ones: a turn that never ends keeps its confirmation open. Deleting either side's
// submission removes the order with its runs (on delete cascade).
type confirmation struct {
	Order
	challenger, holder work.Run
	turns              []work.Run // the oldest first
	aloneReason        string     // why the challenger is measured alone; empty: it is not
}

const (
	// MinQuietTurns do if they are quiet. Two of each side are the fewest that can disagree: fewer would make one lucky
	// turn the score.
	MinQuietTurns = 2 // of each side, on one slot
	// MaxTurnsPerSide bounds what a 1st place costs the device: four ranked runs of each side, when machines are noisy
	// or differ.
	MaxTurnsPerSide = 8
	// maxSpoiltConfirmations is the number of times that a challenger is measured again in all if bad conditions spoil
	// it. A device that is never quiet would otherwise spend eight ranked runs on each change of the board.
	maxSpoiltConfirmations = 3
)

// advanceConfirmation goes on when a turn has ended: with the next one, or to the end.
func advanceConfirmation(tx *gorm.DB, turn work.Run, out *work.Effect) error {
	o, err := orderOf(tx, turn)
	if err != nil || o.ID == 0 || o.EndedAt != nil { // the submission of one side was deleted
		return err
	}
	c, runs := confirmation{Order: o}, []work.Run{}
	if err := tx.Where("order_id = ? or id in ?", o.ID, []int64{o.ChallengerID, o.HolderID}).Order("id").Find(&runs).Error; err != nil {
		return db.ReadError(err, "confirmation %d", o.ID)
	}
	for _, run := range runs {
		switch {
		case run.ID == o.ChallengerID:
			c.challenger = run
		case run.ID == o.HolderID:
			c.holder = run
		case !run.State.Final(): // turns are queued one by one; if two are live all the same, the last to end goes on
			return nil
		default:
			c.turns = append(c.turns, run)
		}
	}
	for i, turn := range c.turns {
		// A turn of the challenger without a score decides at once. One of the holder is only noted, since the
		// challenger's other turns still count.
		switch {
		case turn.ScoreNS != nil:
		case *turn.ProfileOf == o.ChallengerID:
			return c.endWithoutScore(tx, turn, out)
		default:
			c.aloneReason = noScoreReason(turn) + " The other run was measured alone."
			// Of an older turn this was done when it ended, and staff may have released the source since.
			if i < len(c.turns)-1 || !failedByKernel(turn) {
				continue
			}
			changes, err := holdSource(tx, o.HolderID, noScoreReason(turn))
			if err != nil {
				return err
			}
			out.Board = &changes[0]
		}
	}
	return c.continueOrEnd(tx, out)
}

// continueOrEnd queues the next turn, or ends the confirmation with the numbers of those that count.
func (c confirmation) continueOrEnd(tx *gorm.DB, out *work.Effect) error {
	counted, enough := c.countedTurns()
	if sides := c.sides(); !enough && len(c.turns) < MaxTurnsPerSide {
		return c.queueRun(tx, sides[len(c.turns)%len(sides)].Entry(), out)
	}
	if !enough {
		// No more turns: take the existing ones, of the newest software that measured both sides, on any slots.
		counted = c.turnsOfBothSides(counted, 1, func(turn work.Run) string { return fmt.Sprintf("%020d", turn.EpochID) })
	}
	if len(counted) == 0 {
		return c.end(tx, "No machine with the board's software was available to measure both runs again. "+
			"They are measured again when something changes on the board.", true, out)
	}
	if why := spoiltReason(counted, c.challenger); why != "" {
		var before int64
		if err := tx.Model(&Order{}).Where("challenger_id = ? and again and reason <> ''", c.ChallengerID).Count(&before).Error; err != nil {
			return db.ReadError(err, "confirmations of run %d", c.ChallengerID)
		}
		if before < maxSpoiltConfirmations-1 {
			return c.end(tx, why+" It is measured again when something changes on the board.", true, out)
		}
		return c.end(tx, why, false, out)
	}
	if c.aloneReason == "" {
		c.aloneReason = spoiltReason(counted, c.holder)
	}
	return c.conclude(tx, counted, out)
}

// conclude lets the turns that count replace the numbers of both sides, also of equal sources of other people. All
// entries are rebuilt once, after both sides have their numbers: in between the board would be compared half new, half
// old.
func (c confirmation) conclude(tx *gorm.DB, counted []work.Run, out *work.Effect) error {
	var accepted []work.Run
	var sides []int64
	var changed []boards.Entry
	for _, run := range c.sides() {
		sides, accepted = append(sides, run.ID), append(accepted, turnsOfRun(counted, run)...)
	}
	c.OneSlot = !slices.ContainsFunc(counted, func(turn work.Run) bool { return slotKeyOf(turn) != slotKeyOf(counted[0]) })
	err := c.acceptSamples(tx, accepted...)
	if err == nil {
		changed, err = samples.PeopleWithSource(tx, sides)
	}
	if err == nil {
		_, err = recomputeBoards(tx, changed)
	}
	if err != nil {
		return fmt.Errorf("confirming run %d: %w", c.ChallengerID, err)
	}
	return c.end(tx, c.aloneReason, false, out)
}

// failedByKernel reports whether a turn has no score because of its kernel. A task's failure and an infrastructure
// error are other causes. Too many losses in which the run itself may have brought its worker down count as the
// kernel's: otherwise a kernel could avoid a confirmation by crashing the worker.
func failedByKernel(r work.Run) bool {
	return r.State == work.StateFailed && (!r.Infrastructure || r.Losses >= work.MaxLosses) && (r.Failure == nil || !r.Failure.CausedByTask)
}

// noScoreReason is a sentence about a turn.
func noScoreReason(r work.Run) string {
	switch {
	case r.State != work.StateFailed:
		return fmt.Sprintf("Measuring #%d again was cancelled.", r.SubmissionID)
	case r.Failure != nil && r.Failure.CausedByTask:
		return fmt.Sprintf("The task failed when #%d was measured again.", r.SubmissionID)
	case !failedByKernel(r):
		return fmt.Sprintf("#%d could not be measured again because of infrastructure errors.", r.SubmissionID)
	case r.Failure != nil:
		return fmt.Sprintf("#%d did not pass when it was measured again. %s", r.SubmissionID, r.PublicFailure()) // it is public
	}
	return fmt.Sprintf("#%d did not pass when it was measured again.", r.SubmissionID)
}

// endWithoutScore ends the confirmation without numbers: the challenger did not pass once more, and is held back, or
// was cancelled. One that infrastructure errors stopped begins again when something changes on the board.
func (c confirmation) endWithoutScore(tx *gorm.DB, turn work.Run, out *work.Effect) error {
	why := noScoreReason(turn)
	switch {
	case failedByKernel(turn):
		// The board's change is dropped here: end reports the number that the board has after both.
		if _, err := holdSource(tx, c.ChallengerID, why); err != nil {
			return err
		}
		return c.end(tx, fmt.Sprintf("%s Run %d is not on any board until it has been reviewed.", why, c.ChallengerID), false, out)
	case turn.State == work.StateFailed:
		return c.end(tx, why+" It is tried again when something changes on the board.", true, out)
	}
	return c.end(tx, why, false, out)
}

// end ends the confirmation, and begins the next one: with new numbers, or without the challenger, another entry may be
// first. One that may begin again waits until something changes on the board. This comes to an end because a source
// with turns that count, or a challenger with a confirmation behind it, is not confirmed again (startConfirmation).
func (c confirmation) end(tx *gorm.DB, why string, again bool, out *work.Effect) error {
	err := tx.Model(&c.Order).Updates(map[string]any{"ended_at": db.Now(), "one_unit": c.OneSlot, "reason": why, "again": again}).Error
	if err != nil {
		return fmt.Errorf("ending confirmation %d: %w", c.ID, err)
	}
	if err := c.showWaiting(tx, 0, out); err != nil {
		return err
	}
	except := int64(0)
	if again {
		except = c.ChallengerID
	}
	return startConfirmation(tx, c.VersionID, c.Device, except, out)
}

// showWaiting marks the run on the board that waits for its confirmation.
func (o Order) showWaiting(tx *gorm.DB, runID int64, out *work.Effect) error {
	err := tx.Model(&boards.Board{}).Where("version_id = ? and device = ?", o.VersionID, o.Device).Update("confirming", runID).Error
	if err != nil {
		return fmt.Errorf("changing the board: %w", err)
	}
	out.Board, err = boards.IncrementChange(tx, o.VersionID, o.Device)
	return err
}

// startConfirmation begins one if the board's first was never confirmed and another person is behind it. It leaves out
// a first that is the run except.
func startConfirmation(tx *gorm.DB, versionID int64, device string, except int64, out *work.Effect) error {
	// Bands and pages have the same order (entriesFirst in package boards); equal scores: the earlier run. Entries of
	// different epochs are not comparable: a first that is alone with the newest software has no one behind it.
	var top []boards.Entry
	err := tx.Where("version_id = ? and device = ?", versionID, device).Order("age, score_ns, run_id").Limit(2).Find(&top).Error
	if err != nil || len(top) < 2 || top[0].Age != top[1].Age || top[0].RunID == except {
		return db.ReadError(err, "the first of a board")
	}
	// Turns belong to a source, not to a run: sending a confirmed source again, from another account as well, begins
	// nothing.
	var known int64
	confirmed, err := samples.IsConfirmed(tx, top[0].RunID, -top[0].Age)
	if err == nil {
		err = tx.Model(&Order{}).Where("purpose = ? and (version_id = ? and device = ? and ended_at is null or challenger_id = ? and not again)",
			work.Confirm, versionID, device, top[0].RunID).Count(&known).Error
	}
	if err != nil || confirmed || known > 0 {
		return db.ReadError(err, "confirmations")
	}
	// The holder goes first. If its source cannot run any more, that shows before the challenger's turns cost anything.
	o := Order{Purpose: work.Confirm, VersionID: versionID, Device: device, ChallengerID: top[0].RunID, HolderID: top[1].RunID,
		CreatedAt: db.Now()}
	if err := tx.Create(&o).Error; err != nil {
		return fmt.Errorf("starting a confirmation: %w", err)
	}
	if err := o.queueRun(tx, top[1], out); err != nil {
		return err
	}
	return o.showWaiting(tx, o.ChallengerID, out)
}

// recomputeAndConfirm is recompute after a decision: the run that is first of a board by it is measured again. The
// changes have the numbers that the boards have then.
func (s *Store) recomputeAndConfirm(tx *gorm.DB, runs []boards.Entry) ([]boards.Change, error) {
	changes, err := recomputeBoards(tx, runs)
	if err != nil || !s.confirm {
		return changes, err
	}
	for i, c := range changes {
		var out work.Effect
		if err := startConfirmation(tx, c.VersionID, c.Device, 0, &out); err != nil {
			return nil, err
		}
		if out.Board != nil {
			changes[i] = *out.Board
		}
	}
	return changes, nil
}

// confirmAfterRun begins a confirmation if a run's end has changed its board. A turn's confirmation goes on without it.
// Disabling confirmations leaves open ones: their turns still run. In a new epoch, the last run of a board that is
// measured again decides who is first, because the first changes with every result until then.
func (s *Store) confirmAfterRun(tx *gorm.DB, run *work.Run, out *work.Effect) error {
	if !s.confirm || run.Purpose == work.Confirm || out.Board == nil && run.Purpose != work.Rerun {
		return nil
	}
	if run.Purpose == work.Rerun {
		var others int64
		err := Order{ID: *run.OrderID}.unfinishedRuns(tx).Where("version_id = ? and device = ?", run.VersionID, run.Device).Limit(1).Count(&others).Error
		if err != nil || others > 0 {
			return db.ReadError(err, "what is measured again of a board")
		}
	}
	return startConfirmation(tx, run.VersionID, run.Device, 0, out)
}

// allowNextConfirmation lets runs be confirmed once more when they come first.
func allowNextConfirmation(tx *gorm.DB, runs any) error {
	err := tx.Model(&Order{}).Where("challenger_id in (?) and ended_at is not null", runs).Update("again", true).Error
	return db.WriteError(err, "confirmations")
}

// forgetConfirmations clears the marks of boards whose open confirmation is gone with a deleted submission, and cancels
// the other side's turn. The cascade has deleted the orders when this is called; the marks then name ids without a row.
// The turns' watchers are not notified, and their workers stop at the next heartbeat, whose answer lists the attempts
// as stale.
func (s *Store) forgetConfirmations(tx *gorm.DB) error {
	err := tx.Model(&boards.Board{}).Where("confirming <> 0 and not exists (select 1 from orders o where o.challenger_id = confirming and o.ended_at is null)").
		Update("confirming", 0).Error
	var turns []work.Run
	if err == nil {
		err = tx.Where("order_id is not null and not exists (select 1 from orders o where o.id = runs.order_id) and " + work.LiveCondition).
			Order("id").Find(&turns).Error
	}
	if err != nil {
		return db.WriteError(err, "marks of confirmations")
	}
	for i := range turns {
		if err := s.Work.StopRun(tx, &turns[i], &work.Effect{}); err != nil {
			return err
		}
	}
	return nil
}
