package boards

import (
	"math"
	"slices"
	"time"
)

// The rule of points ranks people over many boards. A place on a board has points; for each task a person's best board
// counts, and of those the best ten tasks. So a new task takes no points from anyone, a task on many devices counts
// once, and many easy tasks do not outweigh ten hard ones.
//
// A place has points for the people behind it: it counts in full from minPeopleForFullPoints people behind it on, in
// part with fewer, and not at all without any. An empty board, or one on which all tie, gives no points. People who
// share a rank share the points of their places in equal parts. If more than maxTiedWithPoints do, the task does not
// distinguish people, and the rank has no points.
//
// Weakness: a person with several accounts can put them behind their own entry on a board that no one else uses; ten
// accounts make it count in full. docs/leaderboards.md states the rule for readers.
const (
	pointsForFirst         = 100.0 // points of rank 1
	pointsFactorPerRank    = 0.8   // share of the points of the place before
	ranksWithPoints        = 20    // number of places with points
	minPeopleForFullPoints = 10
	maxTiedWithPoints      = 50
	maxCountedTasks        = 10
)

// maxEntriesForPoints is the number of a board's first entries that decide all of its points.
const maxEntriesForPoints = ranksWithPoints + maxTiedWithPoints + minPeopleForFullPoints

// pointsOf returns the points of an entry, from the numbers of entries ahead of its band, in its band, and behind its
// band.
func pointsOf(ahead, tied, behind int) int {
	if tied > maxTiedWithPoints {
		return 0
	}
	sum := 0.0
	for place := ahead; place < min(ahead+tied, ranksWithPoints); place++ {
		sum += pointsForFirst * math.Pow(pointsFactorPerRank, float64(place))
	}
	return int(math.Round(sum / float64(tied) * float64(min(behind, minPeopleForFullPoints)) / minPeopleForFullPoints))
}

// boardAward is a person's result on one board.
type boardAward struct {
	userID     int64
	points     int
	rank       int
	achievedAt time.Time // since when the person has held the board's record; zero if another one does
}

// Total is a person's result on all boards of a scope.
type Total struct {
	UserID  int64
	Rank    int
	Tied    bool // others have the same points and medals, and so the same rank
	Points  int
	Tasks   int    // number of tasks with points; the best ten count
	Medals  [3]int // numbers of ranks 1, 2, and 3 with points, on all boards
	Records int    // number of boards on which the person has the best score
	// since when the person has held the oldest of these records; zero if there is none
	RecordsSince time.Time `gorm:"column:since"`
}

// personTotal adds up a person's awards.
type personTotal struct {
	Total
	byTask map[int64]int // points of the best board of each task
}

func (t *personTotal) add(taskID int64, a boardAward) {
	if t.byTask == nil {
		t.byTask = map[int64]int{}
	}
	t.byTask[taskID] = max(t.byTask[taskID], a.points)
	if a.rank <= len(t.Medals) {
		t.Medals[a.rank-1]++
	}
	if !a.achievedAt.IsZero() {
		if t.Records++; t.RecordsSince.IsZero() || a.achievedAt.Before(t.RecordsSince) {
			t.RecordsSince = a.achievedAt
		}
	}
}

// total returns the sum of the best tasks.
func (t *personTotal) total() Total {
	all := make([]int, 0, len(t.byTask))
	for _, points := range t.byTask {
		all = append(all, points)
	}
	slices.SortFunc(all, func(a, b int) int { return b - a })
	t.Tasks, t.Points = len(all), 0
	for _, points := range all[:min(len(all), maxCountedTasks)] {
		t.Points += points
	}
	return t.Total
}

// boardAwards returns a board's awards, from its first entries in order: up to maxEntriesForPoints, and others with the
// last score.
func boardAwards(list []Entry) (out []boardAward) {
	var cut bandCutter
	for _, e := range list {
		cut.add(e)
	}
	for _, b := range cut.bands {
		ahead, tied := int(b.EntriesBefore), int(b.EntryCount)
		n := pointsOf(ahead, tied, len(list)-ahead-tied)
		if n == 0 {
			continue
		}
		for _, e := range list[ahead : ahead+tied] {
			out = append(out, boardAward{userID: e.UserID, points: n, rank: ahead + 1})
		}
	}
	if len(out) > 0 && out[0].rank == 1 {
		out[0].achievedAt = list[0].AchievedAt
	}
	return out
}
