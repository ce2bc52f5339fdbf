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

const wideHint = "No clear difference from the rank above. But this interval is wider than that of the first entry there, so only ± 0.5 % of the score counts for a tie, or as much as that entry has. A steadier run may rank higher"

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
	if e.Disturbed != "" {
		list = append(list, entryTag{"disturbed", "tag-warn", "Measured under bad conditions: " + e.Disturbed, "/trust#conditions"})
	}
	if e.RunID == b.Confirming {
		list = append(list, entryTag{"waits for confirmation", "", "Took 1st place. It is being timed again, alternating with 2nd place", "/trust#ties"})
	}
	if e.Interval.Noisy {
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
