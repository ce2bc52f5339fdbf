package events

import (
	"cmp"
	"math"
	"slices"
)

// Suite compares the entrants on several boards of one device with the baselines of these boards.
type Suite struct {
	Device         string
	Devices        []string // devices of the tasks, from which the viewer chooses
	BaselineName   string   // name of the baselines; empty if no board has one
	BaselineNames  []string // names from which the viewer chooses
	Boards         []BoardWithBaseline
	ComparedBoards int        `gorm:"column:compared"` // number of boards with a baseline
	Rows           []SuiteRow // the best first: by FastP(1), solved boards, Geomean, and name
}

// BoardWithBaseline is a board with the time of its baseline; 0 if there is none.
type BoardWithBaseline struct {
	EventBoard
	BaselineNS float64
}

// SuiteRow is an entrant of a suite.
type SuiteRow struct {
	Entrant
	Results        []EntrantBoardResult // results by board
	Speedups       []float64            // baseline's time divided by the entrant's, by board; 0 if one is missing
	SolvedCount    int                  `gorm:"column:solved"` // number of boards with a result
	Geomean        float64              // geometric mean of the speedups; 0 without any
	comparedBoards int                  // copied from Suite
	fasterShare    float64              // result of FastP(1)
}

// FastP returns the share of boards with a baseline on which the entrant's kernel is correct and at least p times as
// fast as the baseline. FastP(0) is the share of solved boards.
func (r SuiteRow) FastP(p float64) float64 {
	n := 0
	for _, speedup := range r.Speedups {
		if speedup > 0 && speedup >= p {
			n++
		}
	}
	return shareOfTotal(n, r.comparedBoards)
}

// SolvedShare returns the share of boards that the entrant has solved.
func (r SuiteRow) SolvedShare() float64 { return shareOfTotal(r.SolvedCount, len(r.Results)) }

func shareOfTotal(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return float64(n) / float64(of)
}

// maxResultsPerPage limits the results (entrants times boards) on a page.
const maxResultsPerPage = 20_000

// PageRows returns the entrants on a page (from 1), and whether another page follows. It has at most as many entrants
// as a page of standings, and fewer if the suite has more than a hundred boards.
func (s Suite) PageRows(page int) (rows []SuiteRow, more bool) {
	each, total := max(min(rowsPerPage, maxResultsPerPage/max(len(s.Boards), 1)), 1), len(s.Rows)
	return s.Rows[min((page-1)*each, total):min(page*each, total)], page*each < total
}

// NewSuite returns a suite from standings on one device and the times of the baselines, by board.
func NewSuite(st Standings, baselines []float64) Suite {
	s := Suite{Rows: make([]SuiteRow, len(st.Rows))}
	for i, b := range st.Boards {
		s.Boards = append(s.Boards, BoardWithBaseline{b, baselines[i]})
		if baselines[i] > 0 {
			s.ComparedBoards++
		}
	}
	for i, row := range st.Rows {
		s.Rows[i] = newSuiteRow(row, baselines, s.ComparedBoards)
	}
	slices.SortStableFunc(s.Rows, func(a, b SuiteRow) int {
		return cmp.Or(cmp.Compare(b.fasterShare, a.fasterShare), cmp.Compare(b.SolvedCount, a.SolvedCount), cmp.Compare(b.Geomean, a.Geomean), cmp.Compare(a.Name, b.Name))
	})
	return s
}

func newSuiteRow(row StandingsRow, baselines []float64, compared int) SuiteRow {
	out := SuiteRow{
		Entrant:        row.Entrant,
		Results:        row.Results,
		Speedups:       make([]float64, len(row.Results)),
		comparedBoards: compared,
	}
	logs, n := 0.0, 0
	for i, r := range row.Results {
		if r.Rank == 0 {
			continue
		}
		out.SolvedCount++
		if baselines[i] > 0 && r.ScoreNS > 0 {
			out.Speedups[i] = baselines[i] / r.ScoreNS
			logs, n = logs+math.Log(out.Speedups[i]), n+1
		}
	}
	if n > 0 {
		out.Geomean = math.Exp(logs / float64(n))
	}
	out.fasterShare = out.FastP(1)
	return out
}
