package views

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/models/boards"
)

// TestABoardsLegendSaysWhatItsMarksMean checks that the legend explains exactly the marks that the board's rows have.
func TestABoardsLegendSaysWhatItsMarksMean(t *testing.T) {
	var plain, noisy, older boards.Standing
	low := 0.9
	plain.RunID, plain.ScoreNS, plain.LowNS, plain.HighNS, plain.EpochSortKey = 7, 1, &low, &low, -2
	noisy.RunID, noisy.ScoreNS, noisy.Interval.Noisy, noisy.EpochSortKey = 8, 2, true, -2
	older.RunID, older.ScoreNS, older.DisturbedReason, older.EpochSortKey = 9, 1, "the GPU was hot", -1
	b := BoardTable{BoardHead: boards.BoardHead{Board: boards.Board{PeopleCount: 3, EpochID: 2}}}
	b.Standings, b.Bands = []boards.Standing{plain, noisy, older}, []boards.Band{{EpochSortKey: -2, EntryCount: 2}, {EpochSortKey: -1, EntryCount: 1}}
	legend := show(t, Ranking(b)).Find("[data-legend]")
	var marks []string
	for _, mark := range legend.Find("[data-mark]").EachIter() {
		marks = append(marks, mark.AttrOr("data-mark", ""))
	}
	if diff := cmp.Diff([]string{"disturbed", "noisy"}, marks); diff != "" {
		t.Errorf("marks (-want +got):\n%s", diff)
	}
	for _, says := range []string{"How much slower than 1st place, in percent; from 2× on, as a factor.",
		"contains the kernel's true time in 95 of 100 cases", "The line shows the same range as speed"} {
		if !strings.Contains(legend.Text(), says) {
			t.Errorf("the legend lacks %q: %s", says, legend.Text())
		}
	}
	if legend.Find("a[href='/docs/measuring']").Length() != 1 {
		t.Error("the legend does not lead to the page about measuring")
	}
}

// TestAPersonsOwnEntryStandsWhereItBelongs checks that an entry on another page is shown again below the ranked entries
// or, if older software measured it, among the older entries.
func TestAPersonsOwnEntryStandsWhereItBelongs(t *testing.T) {
	entry := func(user, age int64) (e boards.Standing) {
		e.RunID, e.UserID, e.ScoreNS, e.EpochSortKey = user, user, 1000, age
		return e
	}
	b := BoardTable{
		BoardHead: boards.BoardHead{Board: boards.Board{PeopleCount: 60, EpochID: 2}},
		ViewerID:  9,
		PageNo:    1,
		LastPage:  2,
	}
	b.Bands = []boards.Band{{EpochSortKey: -2, EntryCount: 55}, {EpochSortKey: -1, EntryCount: 5}}
	b.Standings = []boards.Standing{entry(7, -2)}
	for age, want := range map[int64][2]int{-2: {1, 0}, -1: {0, 1}} {
		own := entry(9, age)
		b.Own = &own
		doc := show(t, Ranking(b))
		if got := [2]int{doc.Find("tfoot #entry-9").Length(),
			doc.Find("[data-older] tbody #entry-9").Length()}; got != want {
			t.Errorf("age %d: it stands below the ranked ones and among the others %v times, want %v", age, got, want)
		}
		text, mine := doc.Find("[data-older] summary").Text(), "5 others, including yours, wait"
		if !strings.HasPrefix(text, "55 entries measured with the newest software. 5 others") ||
			strings.Contains(text, mine) != (age == -1) {
			t.Errorf("age %d: the line says %q", age, text)
		}
	}
}

// TestAllMarksOfAnEntryAreShown checks that each mark is a link with its reason, because touch screens show no
// tooltips.
func TestAllMarksOfAnEntryAreShown(t *testing.T) {
	b := BoardTable{BoardHead: boards.BoardHead{Board: boards.Board{RunBeingConfirmed: 7}}}
	e := boards.Standing{AdminAddedReason: "The site was down."}
	e.RunID, e.Interval.Noisy, e.DisturbedReason, e.ContradictedByProfile = 7, true, "the GPU was hot", true
	var marks []string
	for _, mark := range show(t, entryStatus(b.entryMarks(e))).Find("a[href][data-status]").EachIter() {
		marks = append(marks, mark.Text()+": "+mark.AttrOr("title", ""))
	}
	want := []string{"disturbed: Measured under bad conditions: the GPU was hot",
		"waits for confirmation: Took 1st place, and is being timed again in turns with 2nd place.",
		"faster than its profile: A case took less time than its kernels take under Nsight Compute. A reviewer will look at it.",
		"noisy: " + noisyHint + ".", "added: Added by an admin: The site was down."}
	if diff := cmp.Diff(want, marks); diff != "" {
		t.Errorf("marks (-want +got):\n%s", diff)
	}
}

// TestABoardSaysWhyAnEntryRanksBehindOneThatItsIntervalReaches checks that only the row of such an entry, and the
// legend, explain its rank.
func TestABoardSaysWhyAnEntryRanksBehindOneThatItsIntervalReaches(t *testing.T) {
	entry := func(run int64, rank int, ns, low, high float64) (e boards.Standing) {
		e.RunID, e.UserID, e.Rank, e.ScoreNS, e.LowNS, e.HighNS, e.EpochSortKey = run, run, rank, ns, &low, &high, -1
		return e
	}
	first, steady, uneven := entry(1, 1, 1000, 990, 1010), entry(2, 2, 1100, 1090, 1110), entry(3, 2, 1110, 500, 2000)
	b := BoardTable{BoardHead: boards.BoardHead{Board: boards.Board{PeopleCount: 3, EpochID: 1}}}
	b.Bands = []boards.Band{{RunID: 1, EpochSortKey: -1, EntryCount: 1}, {RunID: 2, EpochSortKey: -1, EntriesBefore: 1, EntryCount: 2}}
	b.Standings = []boards.Standing{first, steady, uneven}
	doc := show(t, Ranking(b))
	if doc.Find("[data-wide]").Length() != 1 || doc.Find("#entry-3 [data-wide]").Length() != 1 ||
		doc.Find("[data-legend] [data-wides]").Length() != 1 {
		t.Errorf("the reason stands at %d ranks, on the uneven entry's %d times, in the legend %d times",
			doc.Find("[data-wide]").Length(), doc.Find("#entry-3 [data-wide]").Length(),
			doc.Find("[data-wides]").Length())
	}
	b.Standings, b.Leaders = []boards.Standing{uneven}, []boards.RankedEntry{first.RankedEntry} // page 2
	if show(t, Ranking(b)).Find("#entry-3 [data-wide]").Length() != 1 {
		t.Error("on another page than the first of the rank above it has no reason")
	}
	b.Standings = []boards.Standing{first, steady}
	if doc := show(t, Ranking(b)); doc.Find("[data-wide], [data-wides]").Length() != 0 {
		t.Error("a board of steady entries has the reason")
	}
}

// TestAMarkOfMostRowsIsShownOnce checks that a mark that most rows and at least four have is shown once above the
// table, and not in those rows or in the legend.
func TestAMarkOfMostRowsIsShownOnce(t *testing.T) {
	b := BoardTable{BoardHead: boards.BoardHead{Board: boards.Board{EpochID: 2}}}
	add := func(age int64, noisy bool, disturbed string) {
		var e boards.Standing
		e.RunID = int64(len(b.Standings) + 1)
		e.UserID, e.ScoreNS, e.EpochSortKey, e.Interval.Noisy, e.DisturbedReason = e.RunID, 1e6, age, noisy, disturbed
		b.Standings = append(b.Standings, e)
	}
	for i := range 7 {
		add(-2, i < 4, "the GPU was hot"[:5*(i%2)])
	}
	doc := show(t, Ranking(b))
	if text := doc.Find("[data-most]").Text(); !strings.Contains(text, "Most scores here are noisy") ||
		strings.Contains(text, "conditions") {
		t.Errorf("above the table it says %q", text)
	}
	if n := doc.Find("tbody [data-status]:contains('disturbed')").Length(); n != 3 ||
		doc.Find("tbody [data-status]:contains('noisy'), [data-mark=noisy]").Length() != 0 {
		t.Errorf("%d rows are marked as disturbed, or one as noisy: %s", n, doc.Find("tbody, [data-legend]").Text())
	}
	add(-1, true, "") // measured with older software, so in a separate table
	b.Bands = []boards.Band{{EpochSortKey: -2, EntryCount: 7}, {EpochSortKey: -1, EntryCount: 1}}
	if doc = show(t, Ranking(b)); doc.Find("[data-older] [data-status], [data-mark=noisy]").Length() != 2 {
		t.Error("an entry of older software lacks its mark")
	}
	b.Standings = b.Standings[1:7]
	if doc = show(t, Ranking(b)); doc.Find("[data-most]").Length() != 0 ||
		doc.Find("tbody [data-status]:contains('noisy')").Length() != 3 {
		t.Error("three noisy rows are not marked one by one")
	}
}
