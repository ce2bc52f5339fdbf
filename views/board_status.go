package views

import (
	"github.com/a-h/templ"

	"warpboard/models/boards"
)

// entryTag is something to be said of an entry beside its score.
type entryTag struct {
	text, class, title string
	url                templ.SafeURL
}

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
	if e.AddedWhy != "" {
		list = append(list, entryTag{"added", "", "Added by an admin: " + e.AddedWhy, SubmissionURL(e.SubmissionID)})
	}
	return list
}
