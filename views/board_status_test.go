package views

import (
	"strings"
	"testing"

	"warpboard/models/boards"
)

// TestAnEntryHasOneTag: the most important; the others are in its title and read out.
func TestAnEntryHasOneTag(t *testing.T) {
	b := BoardTable{Head: boards.Head{Board: boards.Board{Confirming: 7}}}
	e := boards.Standing{AddedWhy: "The site was down."}
	e.RunID, e.Interval.Noisy, e.Disturbed = 7, true, "the GPU was hot"
	tag := show(t, entryStatus(b.statuses(e))).Find("[data-status]")
	if tag.Length() != 1 || strings.Join(strings.Fields(tag.Text()), " ") != "disturbed +3 and waits for confirmation, noisy, added" {
		t.Errorf("%d tags, %q", tag.Length(), tag.Text())
	}
	title := strings.Split(tag.AttrOr("title", ""), "\n")
	if len(title) != 4 || title[0] != "disturbed: Measured under bad conditions: the GPU was hot" || !strings.HasPrefix(title[2], "noisy: ") {
		t.Errorf("the title is %q", title)
	}
	e = boards.Standing{AddedWhy: "The site was down."}
	if tag := show(t, entryStatus(b.statuses(e))).Find("[data-status]"); strings.TrimSpace(tag.Text()) != "added" || tag.AttrOr("title", "") != "Added by an admin: The site was down." {
		t.Errorf("the only tag is %q", tag.Text())
	}
}
