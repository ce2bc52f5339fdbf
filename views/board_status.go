package views

import (
	"slices"

	"github.com/a-h/templ"

	"warpboard/models/boards"
	"warpboard/views/format"
)

// entryTag is something to be said of an entry beside its score.
type entryTag struct {
	text, class, title string
	url                templ.SafeURL
}

const wideHint = "No clear difference from the rank above, but only a part of a wide interval counts for a tie. Steadier runs may change that"

// wide reports whether an entry's interval reaches the first of the rank above, which has to be on the page or among the board's leaders.
func (b BoardTable) wide(e boards.Standing) bool {
	i := slices.IndexFunc(b.Bands, func(band boards.Band) bool { return band.Age == e.Age && int(band.Ahead)+1 == e.Rank })
	if i < 1 || b.Bands[i-1].Age != e.Age {
		return false
	}
	above := b.Bands[i-1].RunID
	if i := slices.IndexFunc(b.Standings, func(e boards.Standing) bool { return e.RunID == above }); i >= 0 {
		return boards.Wide(b.Standings[i].Entry, e.Entry)
	}
	for _, leader := range b.Leaders {
		if leader.RunID == above {
			return boards.Wide(leader.Entry, e.Entry)
		}
	}
	return false
}

func (b BoardTable) hasWide() bool { return slices.ContainsFunc(b.ranked(), b.wide) }

// statuses are what is to be said of an entry, the most important first.
func (b BoardTable) statuses(e boards.Standing) (list []entryTag) {
	if b.marksDisturbed(e) {
		list = append(list, entryTag{"disturbed", "tag-warn", "Measured under bad conditions: " + e.Disturbed, "/trust#conditions"})
	}
	if e.RunID == b.Confirming {
		list = append(list, entryTag{"waits for confirmation", "", "Took 1st place. It is being timed again, alternating with 2nd place", "/trust#ties"})
	}
	if b.marksNoisy(e) {
		list = append(list, entryTag{"noisy", "", noisyHint, "/trust#processes"})
	}
	if boards.Rescored(e.WasNS, e.ScoreNS) {
		list = append(list, entryTag{"confirmed, was " + format.Nanoseconds(*e.WasNS).String(), "", "A confirmation timed this run again, which changed its score", SubmissionURL(e.SubmissionID)})
	}
	if e.AddedWhy != "" {
		list = append(list, entryTag{"added", "", "Added by an admin: " + e.AddedWhy, SubmissionURL(e.SubmissionID)})
	}
	return list
}

// marksDisturbed reports whether a row has the mark "disturbed": not where most ranked rows would have it, which one line says.
func (b BoardTable) marksDisturbed(e boards.Standing) bool {
	return e.Disturbed != "" && (e.Older(b.Board) || !b.mostDisturbed())
}

func (b BoardTable) marksNoisy(e boards.Standing) bool {
	return e.Interval.Noisy && (e.Older(b.Board) || !b.mostNoisy())
}

func (b BoardTable) mostDisturbed() bool {
	return b.most(func(e *boards.Standing) bool { return e.Disturbed != "" })
}

func (b BoardTable) mostNoisy() bool {
	return b.most(func(e *boards.Standing) bool { return e.Interval.Noisy })
}

// most reports whether something holds for more than half of the page's ranked entries, and for at least four.
func (b BoardTable) most(holds func(*boards.Standing) bool) bool {
	rows, n := b.ranked(), 0
	for i := range rows {
		if holds(&rows[i]) {
			n++
		}
	}
	return n >= 4 && 2*n > len(rows)
}

// mostSays is that line; empty: there is nothing to say.
func (b BoardTable) mostSays() string {
	switch disturbed, noisy := b.mostDisturbed(), b.mostNoisy(); {
	case disturbed && noisy:
		return "Most scores here were measured under bad conditions, such as heat or a busy machine, and are noisy; small differences mean little."
	case disturbed:
		return "Most scores here were measured under bad conditions, such as heat or a busy machine; small differences mean little."
	case noisy:
		return "Most scores here are noisy: their fresh processes differ too much for an interval of ± 0.5 %. Small differences mean little."
	}
	return ""
}
