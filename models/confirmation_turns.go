package models

import (
	"fmt"
	"maps"
	"slices"

	"warpboard/models/work"
)

// measuredRuns returns the runs that the confirmation measures: the holder and the challenger.
func (c confirmation) measuredRuns() []work.Run {
	if c.challengerAloneReason != "" {
		return []work.Run{c.challengerRun}
	}
	return []work.Run{c.recordHolderRun, c.challengerRun}
}

// turnsOfRun returns the turns with a score that measured a run.
func turnsOfRun(turns []work.Run, of work.Run) (list []work.Run) {
	for _, turn := range turns {
		if *turn.ProfileOf == of.ID && turn.ScoreNS != nil {
			list = append(list, turn)
		}
	}
	return list
}

// turnsOfBothSides groups turns by a key and returns the last group in which each side has at least n turns, or nil.
// Keys are sorted, so that the result does not depend on the order of a map.
func (c confirmation) turnsOfBothSides(turns []work.Run, n int, key func(work.Run) string) []work.Run {
	groups := map[string][]work.Run{}
	for _, turn := range turns {
		groups[key(turn)] = append(groups[key(turn)], turn)
	}
	for _, k := range slices.Backward(slices.Sorted(maps.Keys(groups))) {
		if !slices.ContainsFunc(c.measuredRuns(), func(of work.Run) bool {
			return len(turnsOfRun(groups[k],
				of)) < n
		}) {
			return groups[k]
		}
	}
	return nil
}

// countedTurns returns the turns of a slot that has enough quiet turns of both sides. If there is none and no more
// turns will run, it returns all turns that count.
//
// A board compares scores of its newest software. A machine of the same device may have older software than the
// challenger's run; turns on it do not count. Disturbed or noisy turns of a side do not count as long as they are the
// minority. If most turns of a side are disturbed, all of them count, but they are never enough, because a kernel can
// be noisy, or heat its device, on purpose on a slow slot.
func (c confirmation) countedTurns() (list []work.Run, enough bool) {
	calm := true
	for _, of := range c.measuredRuns() {
		all := slices.DeleteFunc(turnsOfRun(c.turns, of), func(turn work.Run) bool { return turn.EpochID < c.challengerRun.EpochID })
		quiet := slices.DeleteFunc(slices.Clone(all), func(turn work.Run) bool { return turn.DisturbedReason != "" || turn.Noisy })
		if 2*len(quiet) <= len(all) { // so with two turns of a side, one of them noisy, more turns follow
			quiet, calm = all, false
		}
		list = append(list, quiet...)
	}
	if calm {
		if chosen := c.turnsOfBothSides(list, MinUndisturbedTurns, slotKeyOf); chosen != nil {
			return chosen, true
		}
	}
	return list, false
}

// invalidTurnReason returns a sentence about the bad conditions of most of a side's turns. It returns "" if fewer than
// half were disturbed, or if the side's own score was disturbed, too.
//
// Weakness: a kernel that disturbs its device on purpose keeps a lucky score after maxInvalidConfirmations
// confirmations. Its page shows the reason why it was not confirmed.
func invalidTurnReason(turns []work.Run, of work.Run) string {
	turns = turnsOfRun(turns, of)
	disturbed := slices.DeleteFunc(slices.Clone(turns), func(turn work.Run) bool { return turn.DisturbedReason == "" })
	if len(disturbed) == 0 || 2*len(disturbed) < len(turns) || of.DisturbedReason != "" {
		return ""
	}
	return fmt.Sprintf("#%d was measured again on a disturbed device (%s), so its score from before stays.", of.SubmissionID, disturbed[0].DisturbedReason)
}

// slotKeyOf returns a key of the slot and the software of a turn. The worker reports both. A false report can only make
// turns look as if they ran on the same slot, or on different ones.
func slotKeyOf(turn work.Run) string {
	if turn.Machine == nil {
		return ""
	}
	return fmt.Sprint(turn.Machine.Worker, " ", turn.Machine.UUIDHash, " ", turn.EpochID)
}
