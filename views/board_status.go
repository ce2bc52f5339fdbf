package views

import (
	"strings"

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
	if e.Older(b.Board) {
		list = append(list, entryTag{"older software", "", "Measured with older software; no rank until it is measured again", "/trust#epochs"})
	}
	if e.Disturbed != "" {
		list = append(list, entryTag{"disturbed", "tag-warn", "Measured under bad conditions: " + e.Disturbed, "/trust#conditions"})
	}
	if e.RunID == b.Confirming {
		list = append(list, entryTag{"waits for confirmation", "", "Came first, and is measured again in turns with the next", "/trust#ties"})
	}
	if e.Interval.Noisy {
		list = append(list, entryTag{"noisy", "", noisyHint, "/trust#processes"})
	}
	if e.AddedWhy != "" {
		list = append(list, entryTag{"added", "", "Added by an admin: " + e.AddedWhy, SubmissionURL(e.SubmissionID)})
	}
	return list
}

// titleOf is the reason of each tag, a line each where there are several.
func titleOf(all []entryTag) string {
	if len(all) == 1 {
		return all[0].title
	}
	var lines []string
	for _, tag := range all {
		lines = append(lines, tag.text+": "+tag.title)
	}
	return strings.Join(lines, "\n")
}

func namesOf(tags []entryTag) string {
	var names []string
	for _, tag := range tags {
		names = append(names, tag.text)
	}
	return "and " + strings.Join(names, ", ")
}
