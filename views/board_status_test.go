package views

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/models/boards"
)

// TestAllMarksOfAnEntryAreShown, each a link with its reason: a finger reaches no title.
func TestAllMarksOfAnEntryAreShown(t *testing.T) {
	b := BoardTable{Head: boards.Head{Board: boards.Board{Confirming: 7}}}
	e := boards.Standing{AddedWhy: "The site was down."}
	e.RunID, e.Interval.Noisy, e.Disturbed = 7, true, "the GPU was hot"
	var marks []string
	for _, mark := range show(t, entryStatus(b.statuses(e))).Find("a[href][data-status]").EachIter() {
		marks = append(marks, mark.Text()+": "+mark.AttrOr("title", ""))
	}
	want := []string{"disturbed: Measured under bad conditions: the GPU was hot", "waits for confirmation: Took 1st place. It is being timed again, alternating with 2nd place",
		"noisy: " + noisyHint, "added: Added by an admin: The site was down."}
	if diff := cmp.Diff(want, marks); diff != "" {
		t.Errorf("marks (-want +got):\n%s", diff)
	}
}
