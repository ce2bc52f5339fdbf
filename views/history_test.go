package views

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/models/boards"
	"warpboard/views/charts/boardchart"
)

// TestTiedEntriesAreDrawnAtTheirOwnScores: they share a rank, not a score.
func TestTiedEntriesAreDrawnAtTheirOwnScores(t *testing.T) {
	entry := func(run int64, rank int, score float64, tied bool) boards.Standing {
		return boards.Standing{RankedEntry: boards.RankedEntry{Entry: boards.Entry{RunID: run, UserID: run,
			ScoreNS: score},
			Rank: rank, Tied: tied}, UserName: "Ada"}
	}
	var b BoardTable
	b.ViewerID = 8
	b.Bands = []boards.Band{{RunID: 7, ScoreNS: 1000, EntryCount: 3}, {RunID: 10, ScoreNS: 2000, EntriesBefore: 3, EntryCount: 1}}
	b.Standings = []boards.Standing{entry(7, 1, 1000, true), entry(8, 1, 1004, true), entry(10, 4, 2000, false)}
	want := []boardchart.Dot{
		{ScoreNS: 1000, EntryCount: 1, URL: "/runs/7", Title: "1=, 1.000\u00a0µs, Ada, 3 people share this rank"},
		{ScoreNS: 1004, EntryCount: 1, URL: "/runs/8", Title: "1=, 1.004\u00a0µs, Ada, 3 people share this rank",
			IsOwn: true},
		{ScoreNS: 1004, EntryCount: 1}, // entry on another page of the board
		{ScoreNS: 2000, EntryCount: 1, URL: "/runs/10", Title: "4, 2.000\u00a0µs, Ada"},
	}
	if diff := cmp.Diff(want, b.drawing().Dots); diff != "" {
		t.Errorf("dots (-want +got):\n%s", diff)
	}
}
