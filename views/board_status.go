package views

import (
	"slices"

	"github.com/a-h/templ"

	"warpboard/models/boards"
	"warpboard/views/format"
)

// entryTag is a mark next to the score of an entry.
type entryTag struct {
	text, cssClass, title string
	url                   templ.SafeURL
}

// boardMark is a mark with its explanation in the legend.
type boardMark struct {
	entryTag
	appliesTo func(BoardTable, boards.Standing) bool
	adaptTag  func(*entryTag, boards.Standing) // changes the mark for an entry; nil if it is not shown next to scores
}

func leaveTagUnchanged(*entryTag, boards.Standing) {}

// allBoardMarks returns all marks, most important first.
func allBoardMarks() []boardMark {
	return []boardMark{
		{entryTag{"disturbed", "tag-warn", "Measured under bad conditions, such as heat, a low clock, or another program on the device. Running it again is free.", "/trust#conditions"},
			BoardTable.showsDisturbedMark,
			func(tag *entryTag, e boards.Standing) {
				tag.title = "Measured under bad conditions: " + e.DisturbedReason
			}},
		{entryTag{"waits for confirmation", "", "Took 1st place, and is being timed again in turns with 2nd place.", "/trust#confirmations"},
			func(b BoardTable, e boards.Standing) bool { return e.RunID == b.RunBeingConfirmed }, leaveTagUnchanged},
		{entryTag{"faster than its profile", "tag-warn", "A case took less time than its kernels take under Nsight Compute. A reviewer will look at it.", "/trust#witness"},
			func(_ BoardTable, e boards.Standing) bool { return e.ContradictedByProfile }, leaveTagUnchanged},
		{entryTag{"noisy", "", noisyHint + ".", "/trust#processes"},
			BoardTable.showsNoisyMark, leaveTagUnchanged},
		{entryTag{"confirmed, was …", "", "A confirmation timed the run again and changed its score.", "/trust#confirmations"},
			func(_ BoardTable, e boards.Standing) bool {
				return boards.ChangedByConfirmation(e.BeforeConfirmationNS, e.ScoreNS)
			},
			func(tag *entryTag, e boards.Standing) {
				tag.text, tag.url = "confirmed, was "+format.Nanoseconds(*e.BeforeConfirmationNS).String(), SubmissionURL(e.SubmissionID)
			}},
		{entryTag{"n runs", "", "All runs of that source count: the score combines their processes.", "/trust#pools"},
			func(_ BoardTable, e boards.Standing) bool { return e.PooledRunCount > 0 }, nil},
		{entryTag{"added", "", "Added by an admin, who says why on its page.", ""},
			func(_ BoardTable, e boards.Standing) bool { return e.AdminAddedReason != "" },
			func(tag *entryTag, e boards.Standing) {
				tag.title, tag.url = "Added by an admin: "+e.AdminAddedReason, SubmissionURL(e.SubmissionID)
			}},
		{entryTag{"applies, does not apply, not validated", "", "Result of the task's validation script. It changes no rank.", "/docs/validation"},
			func(_ BoardTable, e boards.Standing) bool { return e.Answer != "" }, nil},
	}
}

const wideIntervalHint = "May be tied with the rank above, but the measurement is too noisy to say. Running the same source again narrows it"

// hasWideInterval reports whether the interval of an entry overlaps that of the first entry with a better rank. That
// entry must be on the page or among the leaders of the board.
func (b BoardTable) hasWideInterval(e boards.Standing) bool {
	i := slices.IndexFunc(b.Bands, func(band boards.Band) bool {
		return band.EpochSortKey == e.EpochSortKey && int(band.EntriesBefore)+1 == e.Rank
	})
	if i < 1 || b.Bands[i-1].EpochSortKey != e.EpochSortKey {
		return false
	}
	above := b.Bands[i-1].RunID
	if i := slices.IndexFunc(b.Standings, func(e boards.Standing) bool { return e.RunID == above }); i >= 0 {
		return boards.RanksBehindByWidth(b.Standings[i].Entry, e.Entry)
	}
	for _, leader := range b.Leaders {
		if leader.RunID == above {
			return boards.RanksBehindByWidth(leader.Entry, e.Entry)
		}
	}
	return false
}

func (b BoardTable) hasWideIntervals() bool {
	return slices.ContainsFunc(b.ranked(), b.hasWideInterval)
}

// entryMarks returns the marks next to the score of an entry, most important first.
func (b BoardTable) entryMarks(e boards.Standing) (list []entryTag) {
	for _, m := range allBoardMarks() {
		if m.adaptTag == nil || !m.appliesTo(b, e) {
			continue
		}
		tag := m.entryTag
		m.adaptTag(&tag, e)
		list = append(list, tag)
	}
	return list
}

// showsDisturbedMark reports whether a row has the mark "disturbed". It returns false if most ranked rows are
// disturbed, because sharedMarksNote then mentions that once for all.
func (b BoardTable) showsDisturbedMark(e boards.Standing) bool {
	return e.DisturbedReason != "" && (e.HasOlderEpoch(b.Board) || !b.once.mostDisturbed)
}

func (b BoardTable) showsNoisyMark(e boards.Standing) bool {
	return e.Interval.Noisy && (e.HasOlderEpoch(b.Board) || !b.once.mostNoisy)
}

// sharedMarks has the marks that most rows would have. One line above the table mentions them instead.
type sharedMarks struct{ mostDisturbed, mostNoisy bool }

// withSharedMarks returns the table with sharedMarks computed from its rows.
func (b BoardTable) withSharedMarks() BoardTable {
	b.once = sharedMarks{
		mostDisturbed: b.isTrueForMostRows(func(e *boards.Standing) bool { return e.DisturbedReason != "" }),
		mostNoisy:     b.isTrueForMostRows(func(e *boards.Standing) bool { return e.Interval.Noisy }),
	}
	return b
}

// isTrueForMostRows reports whether a condition is true for more than half of the ranked entries of the page, and for
// at least four.
func (b BoardTable) isTrueForMostRows(holds func(*boards.Standing) bool) bool {
	rows, n := b.ranked(), 0
	for i := range rows {
		if holds(&rows[i]) {
			n++
		}
	}
	return n >= 4 && 2*n > len(rows)
}

// sharedMarksNote returns the line about marks that most rows would have; "" if there are none.
func (b BoardTable) sharedMarksNote() string {
	switch disturbed, noisy := b.once.mostDisturbed, b.once.mostNoisy; {
	case disturbed && noisy:
		return "Most scores here were measured under bad conditions, such as heat or a busy machine, and are noisy; small differences mean little."
	case disturbed:
		return "Most scores here were measured under bad conditions, such as heat or a busy machine; small differences mean little."
	case noisy:
		return "Most scores here are noisy: their fresh processes differ too much for an interval of ± 0.5 %. Small differences mean little."
	}
	return ""
}
