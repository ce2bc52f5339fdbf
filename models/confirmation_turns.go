package models

import (
	"fmt"
	"maps"
	"slices"

	"warpboard/models/work"
)

// sides are the runs that are measured in turns.
func (c confirmation) sides() []work.Run {
	if c.aloneReason != "" {
		return []work.Run{c.challenger}
	}
	return []work.Run{c.holder, c.challenger}
}

// turnsOfRun selects the turns with a score that measured a run.
func turnsOfRun(turns []work.Run, of work.Run) (list []work.Run) {
	for _, turn := range turns {
		if *turn.ProfileOf == of.ID && turn.ScoreNS != nil {
			list = append(list, turn)
		}
	}
	return list
}

// turnsOfBothSides returns the turns with one key, the last one of which each side has n turns; nil: there is none. The
// keys are sorted, so that the same turns always give the same answer.
func (c confirmation) turnsOfBothSides(turns []work.Run, n int, key func(work.Run) string) []work.Run {
	groups := map[string][]work.Run{}
	for _, turn := range turns {
		groups[key(turn)] = append(groups[key(turn)], turn)
	}
	for _, k := range slices.Backward(slices.Sorted(maps.Keys(groups))) {
		if !slices.ContainsFunc(c.sides(), func(of work.Run) bool { return len(turnsOfRun(groups[k], of)) < n }) {
			return groups[k]
		}
	}
	return nil
}

// countedTurns selects the turns of the slot that has enough quiet ones of both sides; without such a slot, all that
// count if no more are measured.
//
// A board is about its newest software. A machine of the same device may have older software than the challenger's run:
// its turn is left out. So are disturbed or noisy turns of a side, while they are the minority. A kernel can be noisy,
// or heat its device, on purpose where it is slow: if most turns of a side are, all of them count, and they are never
// enough.
func (c confirmation) countedTurns() (list []work.Run, enough bool) {
	calm := true
	for _, of := range c.sides() {
		all := slices.DeleteFunc(turnsOfRun(c.turns, of), func(turn work.Run) bool { return turn.EpochID < c.challenger.EpochID })
		quiet := slices.DeleteFunc(slices.Clone(all), func(turn work.Run) bool { return turn.Disturbed != "" || turn.Noisy })
		if 2*len(quiet) <= len(all) { // with two turns of a side, one noisy turn therefore brings two more of each
			quiet, calm = all, false
		}
		list = append(list, quiet...)
	}
	if calm {
		if chosen := c.turnsOfBothSides(list, MinQuietTurns, slotKeyOf); chosen != nil {
			return chosen, true
		}
	}
	return list, false
}

// spoiltReason is a sentence about the bad conditions that spoilt the turns of a side; empty if less than half of them
// were disturbed, or the side's score was disturbed, too.
//
// Weakness: a kernel that disturbs its device on purpose keeps a lucky score after maxSpoiltConfirmations. Its page
// shows why it was not confirmed.
func spoiltReason(turns []work.Run, of work.Run) string {
	turns = turnsOfRun(turns, of)
	disturbed := slices.DeleteFunc(slices.Clone(turns), func(turn work.Run) bool { return turn.Disturbed == "" })
	if len(disturbed) == 0 || 2*len(disturbed) < len(turns) || of.Disturbed != "" {
		return ""
	}
	return fmt.Sprintf("#%d was measured again on a disturbed device (%s), so its score from before stays.", of.SubmissionID, disturbed[0].Disturbed)
}

// slotKeyOf names the slot and the software of a turn. Worker and hash are the worker's claim. A lie can only make
// turns look as if they were on one slot, or not.
func slotKeyOf(turn work.Run) string {
	if turn.Machine == nil {
		return ""
	}
	return fmt.Sprint(turn.Machine.Worker, " ", turn.Machine.UUIDHash, " ", turn.EpochID)
}
