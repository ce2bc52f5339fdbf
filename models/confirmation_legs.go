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

// conclude lets the samples of legs count for the sources of both runs.
// Equal sources of other people have the same legs, so that their places change, too (Senders). The entries of all are
// rebuilt once, after both sides have their numbers: in between the board would be compared half new, half old.
func (c Confirmation) conclude(tx *gorm.DB, legs []work.Run, out *work.Recorded) error {
	var changed []boards.Entry
	c.Outcome = c.alone
	for _, runID := range c.sides() {
		var ids []int64
		for _, leg := range c.side(legs, runID) {
			ids = append(ids, leg.ID)
		}
		err := pools.Accept(tx, ids...)
		var people []int64
		if err == nil {
			people, err = pools.Senders(tx, runID)
		}
		if err != nil {
			return fmt.Errorf("confirming run %d: %w", runID, err)
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
	err := tx.Model(&Confirmation{}).Where("challenger_id = ? and again and "+unmeasured, c.ChallengerID).Count(&before).Error
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
