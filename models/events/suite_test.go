package events

import (
	"fmt"
	"testing"

	"warpboard/e2e/costtest"
)

func TestASuiteOfManyPeopleAndBoardsIsCheap(t *testing.T) {
	const people, boards = 1000, 250
	st, baselines := Standings{Boards: make([]EventBoard, boards)}, make([]float64, boards)
	for i := range baselines {
		baselines[i] = 1000
	}
	for p := range people {
		row := StandingsRow{Entrant: Entrant{UserID: int64(p + 1), Name: fmt.Sprint(p)},
			Results: make([]EntrantBoardResult, boards)}
		for i := range row.Results {
			row.Results[i] = EntrantBoardResult{Rank: 1, ScoreNS: float64(100 + (p*7+i)%2000)}
		}
		st.Rows = append(st.Rows, row)
	}
	costtest.Check(t, "a suite", func() {
		if s := NewSuite(st, baselines); len(s.Rows) != people || s.Rows[0].FastP(1) < s.Rows[people-1].FastP(1) {
			t.Errorf("%d rows", len(s.Rows))
		}
	})
}

func TestAPageOfASuiteHasAtMost20000Results(t *testing.T) {
	for boards, each := range map[int]int{0: 200, 12: 200, 270: 74, 2000: 10, 50_000: 1} {
		s := Suite{Boards: make([]BoardWithBaseline, boards), Rows: make([]SuiteRow, 500)}
		read, page, more := 0, 1, true
		for ; more; page++ {
			var rows []SuiteRow
			if rows, more = s.PageRows(page); len(rows) != min(each, 500-read) {
				t.Fatalf("page %d with %d boards has %d rows", page, boards, len(rows))
			}
			read += len(rows)
		}
		if rows, more := s.PageRows(page); read != 500 || len(rows) != 0 || more {
			t.Errorf("with %d boards: %d rows on %d pages, then %d", boards, read, page-1, len(rows))
		}
	}
}
