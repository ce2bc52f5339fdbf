package views

import (
	"testing"

	"warpboard/models/events"
)

func TestAnEntrantBehindTheShownRowsSeesTheirOwn(t *testing.T) {
	p := EventPage{Page: Page{Viewer: &Viewer{Person: Person{ID: maxShownRows + 7}}}}
	for i := range 3 * maxShownRows {
		p.Standings.Rows = append(p.Standings.Rows,
			events.StandingsRow{Entrant: events.Entrant{UserID: int64(i + 1)}, Rank: i + 1})
	}
	if rows := p.shownRows(); len(rows) != maxShownRows+1 || rows[maxShownRows].Rank != maxShownRows+7 {
		t.Errorf("%d rows, the last %+v", len(rows), rows[len(rows)-1])
	}
	p.Viewer = nil
	if rows := p.shownRows(); len(rows) != maxShownRows {
		t.Errorf("a visitor sees %d rows", len(rows))
	}
}
