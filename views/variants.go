package views

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"warpboard/views/format"
)

// splitTitle splits "Vector add (C++)" into problem and variant; the variant is "" without parentheses.
func splitTitle(title string) (problem, variant string) {
	at := strings.LastIndex(title, " (")
	if at <= 0 || !strings.HasSuffix(title, ")") {
		return title, ""
	}
	return title[:at], title[at+2 : len(title)-1]
}

// heading returns the title of a card: the part that the titles of its variants have in common, otherwise the title of
// the first variant.
func (c TaskCard) heading() string {
	first, _ := splitTitle(c.Title)
	for _, v := range c.Variants {
		if problem, _ := splitTitle(v.Title); problem != first {
			return c.Title
		}
	}
	return first
}

// variantLabel returns the name of a variant on the card.
func (c TaskCard) variantLabel(v TaskCard) string {
	if c.heading() == c.Title && c.Title != v.Title { // the titles have no common part
		return v.Title
	}
	_, variant := splitTitle(v.Title)
	return cmp.Or(variant, v.Lang)
}

// entryCount counts the entries on the boards of all variants.
func (c TaskCard) entryCount() (n int) {
	for _, v := range c.Variants {
		n += v.People
	}
	return n
}

// variantChip is the link to a board on a card that shows several variants of a task.
type variantChip struct {
	BoardChip
	slug         string
	variantLabel string // label of its variant
}

// boardChips returns the boards for a card, at most mostChips: first those with a worker, then those with a leader.
// rest has the boards that the card omits.
func (c TaskCard) boardChips() (shown, rest []variantChip) {
	var list []variantChip
	for _, v := range c.Variants {
		for _, b := range v.Boards {
			list = append(list, variantChip{b, v.Slug, c.variantLabel(v)})
		}
	}
	if len(c.Variants) == 0 {
		for _, b := range c.Boards {
			list = append(list, variantChip{BoardChip: b, slug: c.Slug})
		}
	}
	slices.SortStableFunc(list, func(a, b variantChip) int {
		return cmp.Compare(a.sortKey(), b.sortKey())
	})
	n := 0
	for n < min(len(list), mostChips) && list[n].sortKey() < idleBoardSortKey {
		n++
	}
	return list[:n], list[n:]
}

// idleBoardSortKey is the sort key of boards without a worker and without entries.
const idleBoardSortKey = 3

// sortKey returns the position of a board for sorting: first boards with a worker, then boards with a leader.
func (b BoardChip) sortKey() (at int) {
	if b.Offline {
		at = 2
	}
	if len(b.Leaders) == 0 {
		at++
	}
	return at
}

// omittedBoardsText returns the number of boards that a card omits: "+3", or "+3 offline boards" if all are offline.
func omittedBoardsText(rest []variantChip) string {
	for _, b := range rest {
		if !b.Offline {
			return fmt.Sprintf("+%d", len(rest))
		}
	}
	return "+" + format.Plural(len(rest), "offline board", "offline boards")
}
