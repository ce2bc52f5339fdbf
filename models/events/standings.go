package events

import (
	"cmp"
	"slices"
)

// EventBoard is a board of an event.
type EventBoard struct {
	TaskID       int64
	Slug         string
	Title        string
	VersionID    int64
	Device       string
	BestNS       float64 // 0 if it has no entries
	EntrantCount int     `gorm:"column:entries"` // number of entrants
}

// RankedPersonEntry is a person's entry on a board.
type RankedPersonEntry struct {
	Entrant Entrant
	UserID  int64
	RunID   int64
	Rank    int // rank among the board's people
	ScoreNS float64
}

// Entrant is a person, or a team whose members count together.
type Entrant struct {
	UserID int64 // 0 for a team
	TeamID int64 // 0 for a person
	Name   string
}

// EntrantBoardResult is an entrant's result on a board.
type EntrantBoardResult struct {
	Rank    int  // rank among the entrants; 0 if not on the board
	Tied    bool // others have this rank, too
	UserID  int64
	RunID   int64
	ScoreNS float64
	Points  float64
}

// StandingsRow is one row of the standings: an entrant with results on all boards.
type StandingsRow struct {
	Entrant
	Rank    int  // shared by equal points; 0 without points
	Tied    bool // others have this rank, too
	Results []EntrantBoardResult
	Points  float64 // points of all boards
}

// Standings lists all entrants of an event, best first. Entrants without points follow, sorted by name and without a
// rank.
type Standings struct {
	Boards []EventBoard
	Rows   []StandingsRow
}

// NewStandings computes standings from boards and the entries of each board in order.
//
// A team has the rank of its best member. Ranks count entrants, not entries: if one team has the first two entries, the
// third entry has rank 2.
func NewStandings(boards []EventBoard, places [][]RankedPersonEntry, rule PointsRule) Standings {
	s := Standings{Boards: boards}
	rows, order := map[Entrant]*StandingsRow{}, []*StandingsRow{}
	for i := range s.Boards {
		board, on, rank, last, before := &s.Boards[i], 0, 0, 0, (*EntrantBoardResult)(nil)
		for _, p := range places[i] {
			row := rows[p.Entrant]
			if row == nil {
				row = &StandingsRow{Entrant: p.Entrant, Results: make([]EntrantBoardResult, len(boards))}
				rows[p.Entrant], order = row, append(order, row)
			}
			if row.Results[i].Rank > 0 {
				continue // a better member of the same team came before
			}
			if on++; on == 1 {
				board.BestNS = p.ScoreNS
			}
			tied := p.Rank == last
			if tied {
				before.Tied = true
			} else {
				rank, last = on, p.Rank
			}
			before = &row.Results[i]
			*before = EntrantBoardResult{
				Rank: rank, Tied: tied, UserID: p.UserID, RunID: p.RunID, ScoreNS: p.ScoreNS,
				Points: rule(rank, p.ScoreNS, board.BestNS),
			}
			row.Points = roundPoints(row.Points + row.Results[i].Points)
		}
		board.EntrantCount = on
	}
	slices.SortStableFunc(order, func(a, b *StandingsRow) int {
		return cmp.Or(cmp.Compare(b.Points, a.Points), cmp.Compare(a.Name, b.Name))
	})
	for i, row := range order {
		switch {
		case row.Points == 0:
		case i > 0 && row.Points == order[i-1].Points:
			row.Rank, row.Tied, order[i-1].Tied = order[i-1].Rank, true, true
		default:
			row.Rank = i + 1
		}
	}
	for _, row := range order {
		s.Rows = append(s.Rows, *row)
	}
	return s
}

// rowsPerPage is the number of entrants on one page of the standings for programs.
const rowsPerPage = 200

// PageRows returns the entrants on a page (from 1), and the total number of entrants.
func (s Standings) PageRows(page int) (rows []StandingsRow, total int) {
	total = len(s.Rows)
	return s.Rows[min((page-1)*rowsPerPage, total):min(page*rowsPerPage, total)], total
}

// Entrants maps people to their teams. People without a team are entrants themselves.
type Entrants map[int64]Entrant

// EntrantOf returns the entrant that a person belongs to.
func (e Entrants) EntrantOf(userID int64, name string) Entrant {
	if team, ok := e[userID]; ok {
		return team
	}
	return Entrant{UserID: userID, Name: name}
}
