package boards

import (
	"fmt"
	"testing"
)

func TestPointsFollowThePlaceAndWhomItBeats(t *testing.T) {
	for _, c := range []struct {
		what                string
		ahead, tied, behind int
		want                int
	}{
		{"the first of many", 0, 1, 500, 100},
		{"the second", 1, 1, 499, 80},
		{"two who share the first place", 0, 2, 499, 90},
		{"the last place with points", 19, 1, 100, 1},
		{"a place behind those with points", 20, 1, 100, 0},
		{"a tie across the last place with points", 19, 2, 100, 1},
		{"the last of all", 5, 1, 0, 0},
		{"the only one on a board", 0, 1, 0, 0},
		{"the first of two", 0, 1, 1, 10},
		{"the first of eleven", 0, 1, 10, 100},
		{"all tie", 0, 40, 0, 0},
		{"fifty tie for the first place", 0, 50, 10, 10},
		{"more than fifty tie", 0, 51, 1000, 0},
	} {
		if got := pointsForRank(c.ahead, c.tied, c.behind); got != c.want {
			t.Errorf("%s: %d points, want %d", c.what, got, c.want)
		}
	}
}

// TestTheFirstEntriesDecideABoardsPoints checks that entries after the first maxEntriesForPoints do not affect the
// points of a board.
func TestTheFirstEntriesDecideABoardsPoints(t *testing.T) {
	for tied := range 60 {
		for _, ahead := range []int{0, 7, 19} {
			var all []Entry
			for i := range 300 {
				score := 1000 * float64(i+1)
				if i >= ahead && i < ahead+tied {
					score = 1000*float64(ahead+1) + float64(i)/1000
				}
				all = append(all, Entry{VersionID: 1, UserID: int64(i), RunID: int64(i), ScoreNS: score})
			}
			if part, whole := fmt.Sprint(boardAwards(all[:maxEntriesForPoints+1])), fmt.Sprint(boardAwards(all)); part != whole {
				t.Errorf("%d tied behind %d:\n%s\nof all:\n%s", tied, ahead, part, whole)
			}
		}
	}
}

func TestANewTaskTakesNoPoints(t *testing.T) {
	var few, many personTotalBuilder
	for task := range int64(30) {
		a := boardAward{points: int(10 + task), rank: 4}
		if task < 12 {
			few.add(task, a)
		}
		many.add(task, a)
		many.add(task, boardAward{points: 5, rank: 9}) // another device of the task
	}
	if got := few.total(); got.Points != 12+13+14+15+16+17+18+19+20+21 || got.TaskCount != 12 {
		t.Errorf("the best ten of twelve: %+v", got)
	}
	if got := many.total(); got.Points != 30+31+32+33+34+35+36+37+38+39 || got.TaskCount != 30 {
		t.Errorf("the best ten of thirty: %+v", got)
	}
}
