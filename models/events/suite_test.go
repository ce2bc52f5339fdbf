package events

import (
	"fmt"
	"testing"

	"warpboard/e2e/costtest"
)

func TestASuiteOfManyPeopleAndBoardsIsCheap(t *testing.T) {
	const people, boards = 1000, 250
	st, baselines := Standings{Boards: make([]Board, boards)}, make([]float64, boards)
	for i := range baselines {
		baselines[i] = 1000
	}
	for p := range people {
		row := Row{Entrant: Entrant{UserID: int64(p + 1), Name: fmt.Sprint(p)}, Results: make([]Result, boards)}
		for i := range row.Results {
			row.Results[i] = Result{Rank: 1, ScoreNS: float64(100 + (p*7+i)%2000)}
		}
		st.Rows = append(st.Rows, row)
	}
	costtest.Check(t, "a suite", func() {
		if s := NewSuite(st, baselines); len(s.Rows) != people || s.Rows[0].FastP(1) < s.Rows[people-1].FastP(1) {
			t.Errorf("%d rows", len(s.Rows))
		}
	})
}
