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

// confirmation is an order that measures the new 1st place of a board (the challenger) alternately with the run of the
// next person (the holder): holder, challenger, holder, challenger. The best of many submissions was also lucky. The
// scores of a confirmation are free of that selection, and replace those of both runs.
//
// Each turn is queued when the previous turn has ended. Four turns suffice if they ran undisturbed on one slot;
// otherwise more follow, up to MaxTurnsPerSide. If half of a side's turns were disturbed even then, the side keeps its
// score, unless that was disturbed too. If a turn of the challenger fails, the confirmation ends without scores and the
// challenger's source is held until a review, because a kernel could fail on purpose on a slow slot. If a turn of the
// holder fails, the holder's source is held too, and the challenger is measured alone, so that an accomplice cannot
// block a confirmation. All turns of a source count together, in all its confirmations (package samples), so repeating
// a challenge selects nothing. A source in 1st place is confirmed once, so that confirmations come to an end.
//
// At most one confirmation is open per board, which a unique index ensures. Only advanceConfirmation changes it, in the
// transaction that ends a turn. Nothing polls open confirmations: a turn that does not end keeps its confirmation open.
// Deleting the submission of either side deletes the order and its runs (on delete cascade).
type confirmation struct {
	RerunOrder
	challengerRun, recordHolderRun work.Run
	turns                          []work.Run // the oldest first
	challengerAloneReason          string     // why the challenger is measured alone; empty: it is not
}

const (
	// MinUndisturbedTurns is the number of undisturbed turns on one slot that suffice per side. Two is the smallest
	// number that can disagree; with one, a single lucky turn would be the score.
	MinUndisturbedTurns = 2
	// MaxTurnsPerSide limits the turns per side, and so the cost of a 1st place, if machines are noisy or differ.
	MaxTurnsPerSide = 8
	// maxInvalidConfirmations limits how often a challenger is measured if bad conditions spoil its confirmations. A
	// device that is never quiet would otherwise run eight ranked runs after each change of the board.
	maxInvalidConfirmations = 3
)

// advanceConfirmation handles the end of a turn: it queues the next turn, or ends the confirmation.
func advanceConfirmation(tx *gorm.DB, turn work.Run, out *work.Effect) error {
	o, err := readOrderOfRun(tx, turn)
	if err != nil || o.ID == 0 || o.EndedAt != nil { // the submission of one side was deleted
		return err
	}
	c, runs := confirmation{RerunOrder: o}, []work.Run{}
	if err := tx.Where("order_id = ? or id in ?", o.ID, []int64{o.ChallengerID, o.HolderID}).Order("id").Find(&runs).Error; err != nil {
		return db.ReadError(err, "confirmation %d", o.ID)
	}
	for _, run := range runs {
		switch {
		case run.ID == o.ChallengerID:
			c.challengerRun = run
		case run.ID == o.HolderID:
			c.recordHolderRun = run
		// Turns are queued one at a time. If there are two, the one that ends last continues the confirmation.
		case !run.State.IsFinal():
			return nil
		default:
			c.turns = append(c.turns, run)
		}
	}
	for i, turn := range c.turns {
		// If a turn of the challenger has no score, the confirmation ends. A turn of the holder without a score is only
		// recorded, because the other turns of the challenger still count.
		switch {
		case turn.ScoreNS != nil:
		case *turn.ProfileOf == o.ChallengerID:
			return c.endWithoutScore(tx, turn, out)
		default:
			c.challengerAloneReason = noScoreReason(turn) + " The other run was measured alone."
			// An earlier turn was handled when it ended. Since then a reviewer may have released the source.
			if i < len(c.turns)-1 || !failedByKernel(turn) {
				continue
			}
			changes, err := holdSource(tx, o.HolderID, noScoreReason(turn))
			if err != nil {
				return err
			}
			out.ChangedBoard = &changes[0]
		}
	}
	return c.continueOrEnd(tx, out)
}

// continueOrEnd queues the next turn, or ends the confirmation with the scores of the turns that count.
func (c confirmation) continueOrEnd(tx *gorm.DB, out *work.Effect) error {
	counted, enough := c.countedTurns()
	if sides := c.measuredRuns(); !enough && len(c.turns) < MaxTurnsPerSide {
		return c.queueRun(tx, sides[len(c.turns)%len(sides)].BoardEntry(), out)
	}
	if !enough {
		// No more turns are possible: use the existing ones on any slots, with the newest software that measured both
		// sides.
		counted = c.turnsOfBothSides(counted, 1, func(turn work.Run) string { return fmt.Sprintf("%020d", turn.EpochID) })
	}
	if len(counted) == 0 {
		return c.end(tx, "No machine with the board's software was available to measure both runs again. "+
			"They are measured again when something changes on the board.", true, out)
	}
	if why := invalidTurnReason(counted, c.challengerRun); why != "" {
		var before int64
		if err := tx.Model(&RerunOrder{}).Where("challenger_id = ? and again and reason <> ''", c.ChallengerID).Count(&before).Error; err != nil {
			return db.ReadError(err, "confirmations of run %d", c.ChallengerID)
		}
		if before < maxInvalidConfirmations-1 {
			return c.end(tx, why+" It is measured again when something changes on the board.", true, out)
		}
		return c.end(tx, why, false, out)
	}
	if c.challengerAloneReason == "" {
		c.challengerAloneReason = invalidTurnReason(counted, c.recordHolderRun)
	}
	return c.conclude(tx, counted, out)
}

// conclude replaces the scores of both sides, and of other people's runs with equal source, by those of the counted
// turns. It rebuilds the entries once, after both sides are updated; in between, the board would mix old and new
// scores.
func (c confirmation) conclude(tx *gorm.DB, counted []work.Run, out *work.Effect) error {
	var accepted []work.Run
	var sides []int64
	var changed []boards.Entry
	for _, run := range c.measuredRuns() {
		sides, accepted = append(sides, run.ID), append(accepted, turnsOfRun(counted, run)...)
	}
	c.CountedOnOneSlot = !slices.ContainsFunc(counted, func(turn work.Run) bool { return slotKeyOf(turn) != slotKeyOf(counted[0]) })
	err := c.acceptSamples(tx, accepted...)
	if err == nil {
		changed, err = samples.EntriesWithSource(tx, sides)
	}
	if err == nil {
		_, err = recomputeBoards(tx, changed)
	}
	if err != nil {
		return fmt.Errorf("confirming run %d: %w", c.ChallengerID, err)
	}
	return c.end(tx, c.challengerAloneReason, false, out)
}

// failedByKernel reports whether a turn has no score because of its kernel. Failures of the task and infrastructure
// errors have other causes. After MaxLosses lost workers the kernel counts as the cause, because it could otherwise
// avoid a confirmation by crashing its workers.
func failedByKernel(r work.Run) bool {
	return r.State == work.StateFailed && (!r.InfrastructureError || r.Losses >= work.MaxLosses) && (r.Failure == nil || !r.Failure.CausedByTask)
}

// noScoreReason returns a sentence with the reason why a turn has no score.
func noScoreReason(r work.Run) string {
	switch {
	case r.State != work.StateFailed:
		return fmt.Sprintf("Measuring #%d again was cancelled.", r.SubmissionID)
	case r.Failure != nil && r.Failure.CausedByTask:
		return fmt.Sprintf("The task failed when #%d was measured again.", r.SubmissionID)
	case !failedByKernel(r):
		return fmt.Sprintf("#%d could not be measured again because of infrastructure errors.", r.SubmissionID)
	case r.Failure != nil:
		// pages show the sentence to everyone
		return fmt.Sprintf("#%d did not pass when it was measured again. %s", r.SubmissionID, r.PublicFailure())
	}
	return fmt.Sprintf("#%d did not pass when it was measured again.", r.SubmissionID)
}

// endWithoutScore ends the confirmation without scores, because the challenger was cancelled or failed. After a
// failure, the runs of its source are kept off the board until a review. A confirmation that ended by infrastructure
// errors begins again when the board changes.
func (c confirmation) endWithoutScore(tx *gorm.DB, turn work.Run, out *work.Effect) error {
	why := noScoreReason(turn)
	switch {
	case failedByKernel(turn):
		// The new change number is dropped, because c.end returns a later one.
		if _, err := holdSource(tx, c.ChallengerID, why); err != nil {
			return err
		}
		return c.end(tx, fmt.Sprintf("%s Run %d is not on any board until it has been reviewed.", why, c.ChallengerID), false, out)
	case turn.State == work.StateFailed:
		return c.end(tx, why+" It is tried again when something changes on the board.", true, out)
	}
	return c.end(tx, why, false, out)
}

// end ends the confirmation and starts the next one, if the new scores, or the absence of the challenger, put another
// entry in 1st place. If again is true, the challenger may be confirmed again at the next change of the board. The
// sequence ends, because a source with counted turns, and a challenger that was confirmed, are not confirmed again
// (startConfirmation).
func (c confirmation) end(tx *gorm.DB, why string, again bool, out *work.Effect) error {
	err := tx.Model(&c.RerunOrder).Updates(map[string]any{"ended_at": db.Now(), "one_unit": c.CountedOnOneSlot, "reason": why, "again": again}).Error
	if err != nil {
		return fmt.Errorf("ending confirmation %d: %w", c.ID, err)
	}
	if err := c.markWaitingRun(tx, 0, out); err != nil {
		return err
	}
	except := int64(0)
	if again {
		except = c.ChallengerID
	}
	return startConfirmation(tx, c.VersionID, c.Device, except, out)
}

// markWaitingRun marks, on the board, the run that waits for its confirmation.
func (o RerunOrder) markWaitingRun(tx *gorm.DB, runID int64, out *work.Effect) error {
	err := tx.Model(&boards.Board{}).Where("version_id = ? and device = ?", o.VersionID, o.Device).Update("confirming", runID).Error
	if err != nil {
		return fmt.Errorf("changing the board: %w", err)
	}
	out.ChangedBoard, err = boards.IncrementChangeNumber(tx, o.VersionID, o.Device)
	return err
}

// startConfirmation starts a confirmation of a board's 1st place, if it was never confirmed and another person's entry
// follows. It does nothing if the 1st place has the run ID in except.
func startConfirmation(tx *gorm.DB, versionID int64, device string, except int64, out *work.Effect) error {
	// The order equals that of bands and pages (entriesOrder in package boards): of equal scores, the earlier run is
	// first. Entries of different epochs are not comparable, so a 1st place that is the only entry with the newest
	// software has no one behind it.
	var top []boards.Entry
	err := tx.Where("version_id = ? and device = ?", versionID, device).Order("age, score_ns, run_id").Limit(2).Find(&top).Error
	if err != nil || len(top) < 2 || top[0].EpochSortKey != top[1].EpochSortKey || top[0].RunID == except {
		return db.ReadError(err, "the first of a board")
	}
	// Turns belong to a source, not to a run. Submitting a confirmed source again, even from another account, starts no
	// confirmation.
	var known int64
	confirmed, err := samples.IsScoreConfirmed(tx, top[0].RunID, -top[0].EpochSortKey)
	if err == nil {
		err = tx.Model(&RerunOrder{}).Where("purpose = ? and (version_id = ? and device = ? and ended_at is null or challenger_id = ? and not again)",
			work.PurposeConfirm, versionID, device, top[0].RunID).Count(&known).Error
	}
	if err != nil || confirmed || known > 0 {
		return db.ReadError(err, "confirmations")
	}
	// The holder goes first. If its source no longer runs, this is found before the challenger's turns take time.
	o := RerunOrder{Purpose: work.PurposeConfirm, VersionID: versionID, Device: device, ChallengerID: top[0].RunID, HolderID: top[1].RunID,
		CreatedAt: db.Now()}
	if err := tx.Create(&o).Error; err != nil {
		return fmt.Errorf("starting a confirmation: %w", err)
	}
	if err := o.queueRun(tx, top[1], out); err != nil {
		return err
	}
	return o.markWaitingRun(tx, o.ChallengerID, out)
}

// recomputeAndConfirm recomputes boards after a decision about runs, and starts confirmations of new 1st places. It
// returns the boards' final change numbers.
func (s *Store) recomputeAndConfirm(tx *gorm.DB, runs []boards.Entry) ([]boards.ChangedBoard, error) {
	changes, err := recomputeBoards(tx, runs)
	if err != nil || !s.confirmationsOn {
		return changes, err
	}
	for i, c := range changes {
		var out work.Effect
		if err := startConfirmation(tx, c.VersionID, c.Device, 0, &out); err != nil {
			return nil, err
		}
		if out.ChangedBoard != nil {
			changes[i] = *out.ChangedBoard
		}
	}
	return changes, nil
}

// confirmAfterRun starts a confirmation if the end of a run has changed its board. A turn's own confirmation is not
// affected. If confirmations are disabled, open ones still end. In a new epoch, the last rerun of a board determines
// the 1st place, because until then it changes with every result.
func (s *Store) confirmAfterRun(tx *gorm.DB, run *work.Run, out *work.Effect) error {
	if !s.confirmationsOn || run.Purpose == work.PurposeConfirm || out.ChangedBoard == nil &&
		run.Purpose != work.PurposeRerun {
		return nil
	}
	if run.Purpose == work.PurposeRerun {
		var others int64
		err := RerunOrder{ID: *run.OrderID}.unfinishedRuns(tx).Where("version_id = ? and device = ?", run.VersionID, run.Device).Limit(1).Count(&others).Error
		if err != nil || others > 0 {
			return db.ReadError(err, "what is measured again of a board")
		}
	}
	return startConfirmation(tx, run.VersionID, run.Device, 0, out)
}

// allowNextConfirmation allows another confirmation of runs that become first again.
func allowNextConfirmation(tx *gorm.DB, runs any) error {
	err := tx.Model(&RerunOrder{}).Where("challenger_id in (?) and ended_at is not null", runs).Update("again", true).Error
	return db.WriteError(err, "confirmations")
}

// forgetConfirmations clears the marks of boards whose open confirmation was deleted with a submission, and cancels the
// waiting turns of the other side. The cascade has already deleted the orders. No event is sent for these turns; their
// workers stop after the next heartbeat, whose response lists the attempts as stale.
func (s *Store) forgetConfirmations(tx *gorm.DB) error {
	err := tx.Model(&boards.Board{}).Where("confirming <> 0 and not exists (select 1 from orders o where o.challenger_id = confirming and o.ended_at is null)").
		Update("confirming", 0).Error
	var turns []work.Run
	if err == nil {
		err = tx.Where("order_id is not null and not exists (select 1 from orders o where o.id = runs.order_id) and " + work.NotEndedSQL).
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
