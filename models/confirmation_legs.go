package models

import (
	"fmt"
	"maps"
	"slices"

	"gorm.io/gorm"

	"warpboard/models/boards"
	"warpboard/models/db"
	"warpboard/models/pools"
	"warpboard/models/work"
)

// conclude gives the sources of both runs their new numbers, as far as they still count.
// Equal sources of other people have the same legs, so that their places change, too (Senders). The entries of all are
// rebuilt once, after both sides have their numbers: in between the board would be compared half new, half old.
func (c Confirmation) conclude(tx *gorm.DB, legs []work.Run, out *work.Recorded) error {
	var changed []boards.Entry
	c.Outcome = c.alone
	scores := map[int64]**float64{c.HolderID: &c.HolderNS, c.ChallengerID: &c.ChallengerNS}
	for _, runID := range c.sides() {
		score, err := c.keepLegs(tx, runID, c.side(legs, runID))
		if err != nil {
			return fmt.Errorf("confirming run %d: %w", runID, err)
		}
		*scores[runID] = &score
		people, err := pools.Senders(tx, runID)
		if err != nil {
			return err
		}
		for _, id := range people {
			if e := (boards.Entry{VersionID: c.VersionID, Device: c.Device, UserID: id}); !slices.Contains(changed, e) {
				changed = append(changed, e)
			}
		}
	}
	if _, err := recompute(tx, changed); err != nil {
		return err
	}
	return c.end(tx, out)
}

// keepLegs adds the legs of one side to those of its source, and returns the score of all of them. A score that was fixed before legs
// were kept is one; a run that was measured with other software goes over to that of its legs.
func (c Confirmation) keepLegs(tx *gorm.DB, runID int64, legs []work.Run) (float64, error) {
	var run work.Run
	if err := tx.Take(&run, runID).Error; err != nil {
		return 0, db.ReadError(err, "run %d", runID)
	}
	known, err := pools.LegsOf(tx, runID)
	if err != nil {
		return 0, err
	}
	// All legs given here are of one epoch: counted chooses those of a unit with its software, newest those of one epoch.
	epoch := legs[0].EpochID
	list, err := c.measuredBy(tx, run, legs, len(known) == 0 && run.EpochID == epoch)
	if err != nil {
		return 0, err
	}
	if err := pools.AddLegs(tx, runID, list); err != nil {
		return 0, err
	}
	ranking, err := pools.RankingOf(tx, runID)
	if err != nil {
		return 0, err
	}
	all := list
	if run.EpochID == epoch {
		all = append(known, list...)
		kept, err := pools.LegsOf(tx, runID)
		if err != nil || len(kept) > 0 {
			return pools.Together(ranking, all).ScoreNS, err
		}
	}
	// Of other software, or from before sources were compared: the run alone has these numbers.
	found := pools.Together(ranking, all)
	found.RunID, found.Clock = runID, run.Clock
	return found.ScoreNS, found.Set(tx, map[string]any{"epoch_id": epoch})
}

// measuredBy are the legs in the stored form, preceded by the run's own score if a confirmation fixed it and it is to count.
func (c Confirmation) measuredBy(tx *gorm.DB, run work.Run, legs []work.Run, own bool) (list []pools.Leg, err error) {
	epoch := legs[0].EpochID
	for _, leg := range append([]work.Run{run}, legs...) {
		m, err := pools.MeasurementOf(tx, leg.ID)
		if err != nil {
			return nil, err
		}
		if leg.ID != run.ID || own && m.Fixed {
			list = append(list, c.legOf(m, epoch))
		}
	}
	return list, nil
}

func (c Confirmation) legOf(m pools.Measurement, epochID int64) pools.Leg {
	return pools.Leg{VersionID: c.VersionID, Device: c.Device, EpochID: epochID, RunID: m.RunID, ScoreNS: m.ScoreNS, StdNS: m.StdNS, ErrNS: m.ErrNS,
		Interval: m.Interval, Disturbed: m.Disturbed, Cases: m.Cases, CreatedAt: c.CreatedAt}
}

// usable is the legs that were measured with software no older than the challenger's: a board is about its newest.
// A machine of the same device may have older software; its leg is measured, and then left out. Two machines with
// different software can so use up all legs: then retryLater.
func (c Confirmation) usable(tx *gorm.DB, legs []work.Run) ([]work.Run, error) {
	var challenger work.Run
	if err := tx.Select("id", "epoch_id").Take(&challenger, c.ChallengerID).Error; err != nil {
		return nil, db.ReadError(err, "run %d", c.ChallengerID)
	}
	return slices.DeleteFunc(slices.Clone(legs), func(leg work.Run) bool { return leg.EpochID < challenger.EpochID }), nil
}

// newest is the legs of the newest software with which both sides were measured. Empty: there is none.
func (c Confirmation) newest(legs []work.Run) []work.Run {
	byEpoch := map[int64][]work.Run{}
	for _, leg := range legs {
		byEpoch[leg.EpochID] = append(byEpoch[leg.EpochID], leg)
	}
	for _, epoch := range slices.Backward(slices.Sorted(maps.Keys(byEpoch))) {
		if of := byEpoch[epoch]; c.has(of, 1) {
			return of
		}
	}
	return nil
}

// quiet leaves out the disturbed or noisy legs of each side while they are the minority. A kernel can be noisy, or heat its
// device, on purpose where it is slow: if most legs of a side are, all of them count, and calm is false.
func (c Confirmation) quiet(legs []work.Run) (list []work.Run, calm bool) {
	calm = true
	for _, of := range c.sides() {
		all := c.side(legs, of)
		quiet := slices.DeleteFunc(slices.Clone(all), func(leg work.Run) bool { return leg.Disturbed != "" || leg.Noisy })
		if 2*len(quiet) <= len(all) {
			// Strictly more than half must be quiet. With two legs a side, one noisy leg therefore brings two more of
			// each.
			quiet, calm = all, false
		}
		list = append(list, quiet...)
	}
	return list, calm
}

// counted chooses the legs of the slot that has enough quiet ones of both sides; without such a slot, all that count if no
// more are measured.
func (c Confirmation) counted(legs []work.Run) (chosen []work.Run, enough bool) {
	legs, calm := c.quiet(legs)
	units := map[string][]work.Run{}
	for _, leg := range legs {
		if calm {
			units[unitOf(leg)] = append(units[unitOf(leg)], leg)
		}
	}
	// Sorted, so that the same legs always choose the same unit: the choice must not depend on the order of a map.
	for _, unit := range slices.Sorted(maps.Keys(units)) {
		if c.has(units[unit], EnoughLegs) {
			return units[unit], true
		}
	}
	return legs, false
}

// spoilt says that bad conditions spoilt the legs of a side; empty if less than half of them were disturbed, or the side's score was
// disturbed, too.
//
// Weakness: a kernel that disturbs its device on purpose keeps a lucky score after mostSpoilt. Its page says why it was not confirmed.
func (c Confirmation) spoilt(tx *gorm.DB, side []work.Run) (why string, err error) {
	disturbed := slices.DeleteFunc(slices.Clone(side), func(leg work.Run) bool { return leg.Disturbed == "" })
	if len(disturbed) == 0 || 2*len(disturbed) < len(side) {
		return "", nil
	}
	var was []string
	err = tx.Model(&work.Run{}).Where("id = ? and disturbed = ''", *disturbed[0].ProfileOf).Pluck("disturbed", &was).Error
	if err != nil || len(was) == 0 {
		return "", db.ReadError(err, "conditions of run %d", *disturbed[0].ProfileOf)
	}
	return fmt.Sprintf("#%d was measured again on a disturbed device (%s), so its score from before stays.", disturbed[0].SubmissionID, disturbed[0].Disturbed), nil
}

// discard ends the confirmation without numbers because bad conditions spoilt the challenger's. It begins again when something
// changes on the board, up to mostSpoilt.
func (c Confirmation) discard(tx *gorm.DB, why string, out *work.Recorded) error {
	var before int64
	err := tx.Model(&Confirmation{}).Where("challenger_id = ? and again and challenger_ns is null", c.ChallengerID).Count(&before).Error
	switch {
	case err != nil:
		return db.ReadError(err, "confirmations of run %d", c.ChallengerID)
	case before < mostSpoilt-1:
		return c.retryLater(tx, why+" It is measured again when something changes on the board.", out)
	}
	c.Outcome = why
	return c.end(tx, out)
}

// unitOf names the unit and the software of a leg.
// Worker and hash are the worker's word. A lie can only make legs look as if they were on one unit, or not.
func unitOf(leg work.Run) string {
	if leg.Machine == nil {
		return ""
	}
	return fmt.Sprint(leg.Machine.Worker, " ", leg.Machine.UUIDHash, " ", leg.EpochID)
}

// has reports whether legs are enough of each side.
func (c Confirmation) has(legs []work.Run, enough int) bool {
	return !slices.ContainsFunc(c.sides(), func(of int64) bool { return len(c.side(legs, of)) < enough })
}

// side is the legs that follow a run.
func (c Confirmation) side(legs []work.Run, of int64) (list []work.Run) {
	for _, leg := range legs {
		if *leg.ProfileOf == of && leg.ScoreNS != nil {
			list = append(list, leg)
		}
	}
	return list
}
