package remeasure

import (
	"cmp"
	"slices"

	"warpboard/models/rejudge"
	"warpboard/views"
)

// boardsOf sorts reruns by board, with the places that they have among each other before and after.
func boardsOf(rows []rejudge.Row) (boards []views.RejudgedBoard) {
	for _, x := range rows {
		if n := len(boards); n == 0 || boards[n-1].Device != x.Device {
			boards = append(boards, views.RejudgedBoard{Device: x.Device})
		}
		b := &boards[len(boards)-1]
		b.Rows = append(b.Rows, views.RerunRow{Row: x, WasPlace: len(b.Rows) + 1})
	}
	for _, b := range boards {
		addPlaces(b.Rows)
	}
	return boards
}

// addPlaces fills in the places by the new numbers, or the old ones without new. Failed runs leave the board.
func addPlaces(rows []views.RerunRow) {
	var order []*views.RerunRow
	for i := range rows {
		if rows[i].Failed == "" {
			order = append(order, &rows[i])
		}
	}
	score := func(r *views.RerunRow) float64 { return *cmp.Or(r.NowNS, &r.WasNS) }
	slices.SortStableFunc(order, func(a, b *views.RerunRow) int { return cmp.Compare(score(a), score(b)) })
	for i, r := range order {
		r.NowPlace = i + 1
	}
}
