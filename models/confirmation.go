package models

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"gorm.io/gorm"

	"warpboard/evaluator/job"
	"warpboard/models/boards"
	"warpboard/models/db"
	"warpboard/models/pools"
)

// Confirmation measures the run that came first on a board, the challenger, in turns with the next person's, the
// holder: holder, challenger, holder, challenger. Whoever is the best of many tries was also lucky; the numbers of a
// confirmation were not selected by anything, and replace those of both runs.
//
// Each leg is a ranked run that follows one of the two, and is queued when the one before it has ended: it gives way to
// people's work, counts for no limit and stands on no board. Four legs are enough if they ran on one unit of one
// machine; else more follow, up to mostLegs. A confirmation that a leg fails ends without numbers and is flagged, for
// somebody to look: it is no verdict. Each run is confirmed once, so that this comes to an end.
type Confirmation struct {
	ID            int64
	VersionID     int64
	Device        string
	ChallengerID  int64    // its run, and its score before …
	ChallengerWas float64  `gorm:"column:challenger_was"`
	ChallengerNS  *float64 `gorm:"column:challenger_ns"` // … and after
	HolderID      int64
	HolderWas     float64  `gorm:"column:holder_was"`
	HolderNS      *float64 `gorm:"column:holder_ns"`
	OneUnit       bool     // the legs that count ran on one unit of one machine
	Outcome       string   // why it ended without numbers
	CreatedAt     time.Time
	EndedAt       *time.Time
}

const (
	enoughLegs = 2 // of each side, on one unit
	mostLegs   = 8
)

// FlagUnconfirmed is raised by a confirmation that ended without numbers.
const FlagUnconfirmed FlagKind = "unconfirmed"

// ConfirmationOf returns the last confirmation that a run is a side of. NotFound: there is none.
func (s *Store) ConfirmationOf(ctx context.Context, runID int64) (Confirmation, error) {
	var c Confirmation
	err := s.db.Read(ctx).Where("challenger_id = ? or holder_id = ?", runID, runID).Order("id desc").Take(&c).Error
	return c, db.ReadError(err, "confirmation of run %d", runID)
}

// startConfirmation begins one if the board's first was never confirmed and somebody else is behind it.
func startConfirmation(tx *gorm.DB, versionID int64, device string, out *Recorded) error {
	var top []Entry
	err := tx.Where("version_id = ? and device = ?", versionID, device).Order("age, score_ns, run_id").Limit(2).Find(&top).Error
	if err != nil || len(top) < 2 || top[0].Age != top[1].Age {
		return db.ReadError(err, "the first of a board")
	}
	var known int64
	err = tx.Model(&Confirmation{}).Where("(version_id = ? and device = ? and ended_at is null) or challenger_id = ? or holder_id = ?",
		versionID, device, top[0].RunID, top[0].RunID).Count(&known).Error
	if err != nil || known > 0 {
		return db.ReadError(err, "confirmations")
	}
	c := Confirmation{VersionID: versionID, Device: device, ChallengerID: top[0].RunID, ChallengerWas: top[0].ScoreNS,
		HolderID: top[1].RunID, HolderWas: top[1].ScoreNS, CreatedAt: db.Now()}
	if err := tx.Create(&c).Error; err != nil {
		return fmt.Errorf("starting a confirmation: %w", err)
	}
	if err := c.queueLeg(tx, c.HolderID, out); err != nil {
		return err
	}
	return c.show(tx, c.ChallengerID, out)
}

// show tells the board which run waits for its confirmation.
func (c Confirmation) show(tx *gorm.DB, runID int64, out *Recorded) error {
	err := tx.Model(&Board{}).Where("version_id = ? and device = ?", c.VersionID, c.Device).Update("confirming", runID).Error
	if err != nil {
		return fmt.Errorf("changing the board: %w", err)
	}
	out.Board, err = boards.IncrementChange(tx, c.VersionID, c.Device)
	return err
}

func (c Confirmation) queueLeg(tx *gorm.DB, of int64, out *Recorded) error {
	var run Run
	if err := tx.Take(&run, of).Error; err != nil {
		return db.ReadError(err, "run %d", of)
	}
	leg := Run{SubmissionID: run.SubmissionID, VersionID: run.VersionID, UserID: run.UserID, Mode: job.ModeRanked,
		ProfileOf: &run.ID, ConfirmationID: &c.ID, State: StateQueued, Work: Work{Device: run.Device, QueuedAt: db.Now()}}
	if err := tx.Create(&leg).Error; err != nil {
		return fmt.Errorf("queuing a leg of confirmation %d: %w", c.ID, err)
	}
	return leg.announce(tx, out)
}

// advanceConfirmation goes on when a leg has ended: with the next one, or to the end.
func advanceConfirmation(tx *gorm.DB, id int64, out *Recorded) error {
	var c Confirmation
	err := tx.Take(&c, id).Error
	if errors.Is(err, gorm.ErrRecordNotFound) || err == nil && c.EndedAt != nil {
		return nil // the submission of one side was deleted
	}
	var legs []Run
	if err == nil {
		err = tx.Where("confirmation_id = ?", id).Order("id").Find(&legs).Error
	}
	if err != nil {
		return db.ReadError(err, "confirmation %d", id)
	}
	for _, leg := range legs {
		switch {
		case !leg.State.Final():
			return nil
		case leg.State != StateDone || leg.ScoreNS == nil:
			return c.breakOff(tx, leg, out)
		}
	}
	counted, enough := c.counted(legs)
	if !enough && len(legs) < mostLegs {
		return c.queueLeg(tx, []int64{c.HolderID, c.ChallengerID}[len(legs)%2], out)
	}
	c.OneUnit = enough
	return c.conclude(tx, counted, out)
}

// counted chooses the legs of the unit that has enough of both sides; without such a unit, all.
func (c Confirmation) counted(legs []Run) (chosen []Run, enough bool) {
	units := map[string][]Run{}
	for _, leg := range legs {
		if leg.Machine == nil {
			continue
		}
		unit := fmt.Sprint(leg.Machine.Worker, " ", leg.Machine.UUIDHash, " ", leg.EpochID)
		units[unit] = append(units[unit], leg)
		if len(c.side(units[unit], c.HolderID)) >= enoughLegs && len(c.side(units[unit], c.ChallengerID)) >= enoughLegs {
			return units[unit], true
		}
	}
	return legs, false
}

// side is the legs that follow a run.
func (c Confirmation) side(legs []Run, of int64) (list []Run) {
	for _, leg := range legs {
		if *leg.ProfileOf == of {
			list = append(list, leg)
		}
	}
	return list
}

// breakOff ends the confirmation without numbers: a side did not pass once more, or was cancelled.
func (c Confirmation) breakOff(tx *gorm.DB, leg Run, out *Recorded) error {
	c.Outcome = fmt.Sprintf("Run %d did not pass when it was measured again.", *leg.ProfileOf)
	switch {
	case leg.Infrastructure:
		c.Outcome = fmt.Sprintf("Run %d could not be measured again because of infrastructure errors.", *leg.ProfileOf)
	case leg.State == StateFailed:
		if leg.Failure != nil {
			c.Outcome += " " + leg.Failure.Reason
		}
		if err := addFlag(tx, *leg.ProfileOf, FlagUnconfirmed, c.Outcome); err != nil {
			return err
		}
	}
	return c.end(tx, out)
}

func (c Confirmation) end(tx *gorm.DB, out *Recorded) error {
	at := db.Now()
	c.EndedAt = &at
	if err := tx.Save(&c).Error; err != nil {
		return fmt.Errorf("ending confirmation %d: %w", c.ID, err)
	}
	if err := c.show(tx, 0, out); err != nil {
		return err
	}
	return startConfirmation(tx, c.VersionID, c.Device, out)
}

// conclude gives both runs their new numbers, as far as they still count.
func (c Confirmation) conclude(tx *gorm.DB, legs []Run, out *Recorded) error {
	var changed []Entry
	for _, side := range []struct {
		runID int64
		ns    **float64
	}{{c.HolderID, &c.HolderNS}, {c.ChallengerID, &c.ChallengerNS}} {
		found := poolLegs(c.side(legs, side.runID))
		*side.ns = &found.ScoreNS
		var run Run
		if err := tx.Take(&run, side.runID).Error; err != nil {
			return db.ReadError(err, "run %d", side.runID)
		}
		found.RunID, found.Clock = run.ID, run.Clock
		if run.Roof != nil && run.ScoreNS != nil {
			roof := *run.Roof * *run.ScoreNS / found.ScoreNS
			found.Roof = &roof
		}
		if err := found.Set(tx, map[string]any{"epoch_id": legs[0].EpochID}); err != nil {
			return fmt.Errorf("confirming run %d: %w", run.ID, err)
		}
		changed = append(changed, Entry{VersionID: run.VersionID, Device: run.Device, UserID: run.UserID})
	}
	if _, err := recompute(tx, changed); err != nil {
		return err
	}
	return c.end(tx, out)
}

// poolLegs makes one score of the legs of one side: the geometric mean, with an interval that holds theirs. Runs of equal
// source do not change it (package pools).
func poolLegs(legs []Run) pools.Measurement {
	pooled := pools.Measurement{Fixed: true, Cases: [][]float64{}}
	var logs float64
	n := float64(len(legs))
	for _, leg := range legs {
		logs += math.Log(*leg.ScoreNS) / n
		pooled.StdNS += leg.StdNS / n
		pooled.ErrNS += leg.ErrNS / n
		pooled.Processes += leg.Processes
		pooled.Noisy = pooled.Noisy || leg.Noisy
		pooled.Disturbed = cmp.Or(pooled.Disturbed, leg.Disturbed)
		low, high := *leg.ScoreNS, *leg.ScoreNS
		if leg.LowNS != nil && leg.HighNS != nil {
			low, high = min(low, *leg.LowNS), max(high, *leg.HighNS)
		}
		if pooled.LowNS == nil || low < *pooled.LowNS {
			pooled.LowNS = &low
		}
		if pooled.HighNS == nil || high > *pooled.HighNS {
			pooled.HighNS = &high
		}
	}
	pooled.ScoreNS = math.Exp(logs)
	return pooled
}

// forgetConfirmations clears the marks of boards whose open confirmation is gone with a deleted submission.
func forgetConfirmations(tx *gorm.DB) error {
	err := tx.Model(&Board{}).Where("confirming <> 0 and not exists (select 1 from confirmations c where c.challenger_id = confirming and c.ended_at is null)").
		Update("confirming", 0).Error
	return db.WriteError(err, "marks of confirmations")
}
