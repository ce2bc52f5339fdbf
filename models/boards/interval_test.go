package boards_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/models"
	"warpboard/models/boards"
	"warpboard/models/modelstest"
)

func TestAnEntryHasItsRunsInterval(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w := modelstest.NewWorld(t, s)
		low, high := 99.5, 100.25
		exact := boards.Interval{LowNS: &low, HighNS: &high, Processes: 6}
		single := boards.Interval{Processes: 1, Noisy: true}
		run := w.Measured(t, s, w.Ann, 100, exact)
		if diff := cmp.Diff(exact, run.Interval); diff != "" {
			t.Errorf("the run (-want +got):\n%s", diff)
		}
		w.Measured(t, s, w.Ann, 120, single) // slower, so the entry stays
		w.Measured(t, s, w.Ben, 90, single)
		for _, rebuilt := range []bool{false, true} {
			if rebuilt {
				modelstest.Check(t, s.Boards.RebuildEntries(t.Context()))
			}
			board, err := s.Boards.Board(t.Context(), w.Task.VersionID, "CPU", boards.BoardPartQuery{Limit: 10})
			modelstest.Check(t, err)
			if len(board.Standings) != 2 {
				t.Fatalf("%d entries", len(board.Standings))
			}
			got := []boards.Interval{board.Standings[0].Interval, board.Standings[1].Interval}
			if diff := cmp.Diff([]boards.Interval{single, exact}, got); diff != "" {
				t.Errorf("the board, rebuilt %v (-want +got):\n%s", rebuilt, diff)
			}
		}
	})
}
