package boards

import (
	"math"
	"slices"
	"time"
)

// The points rule ranks people over many boards. A rank on a board has points. For each task a person's best board
// counts, and of the tasks the best ten. So a new task does not reduce anyone's points, a task on many devices counts
// once, and many easy tasks do not outweigh ten hard ones.
//
// The points of a rank grow with the number of people behind it, up to minPeopleForFullPoints. An empty board, or one
// on which all people tie, has no points. People who share a rank share its points equally. If more than
// maxTiedPeopleWithPoints share a rank, the task does not distinguish them, and the rank has no points.
//
// Weakness: a person with ten accounts can give their own entry full points on a board that no one else uses.
// docs/leaderboards.md states the rule for readers.
const (
	pointsForFirst          = 100.0 // points of rank 1
	pointsFactorPerRank     = 0.8   // share of the points of the place before
	ranksWithPoints         = 20    // number of places with points
	minPeopleForFullPoints  = 10
	maxTiedPeopleWithPoints = 50
	maxTasksWithPoints      = 10
)

// maxEntriesForPoints is the number of leading entries that determine all points of a board.
const maxEntriesForPoints = ranksWithPoints + maxTiedPeopleWithPoints + minPeopleForFullPoints

// pointsForRank returns the points of an entry from the number of entries ahead of its band (ahead), in its band
// (tied), and behind its band (behind).
func pointsForRank(ahead, tied, behind int) int {
	if tied > maxTiedPeopleWithPoints {
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
	achievedAt time.Time // time since which the person has held the board's record; zero if another person holds it
}

// PersonTotal is a person's result on all boards that a PeopleTotalsQuery selects.
type PersonTotal struct {
	UserID      int64
	Rank        int
	Tied        bool // others have the same points and medals, and so the same rank
	Points      int
	TaskCount   int    // number of tasks with points; the best ten count
	Medals      [3]int // numbers of ranks 1, 2, and 3 with points, on all boards
	RecordCount int    // number of boards on which the person has the best score
	// OldestRecordSince is the time since which the person has held the oldest of their current records; zero without
	// records.
	OldestRecordSince time.Time `gorm:"column:since"`
}

// personTotalBuilder adds up a person's awards to a PersonTotal.
type personTotalBuilder struct {
	PersonTotal
	pointsByTask map[int64]int // points of the best board of each task
}

func (t *personTotalBuilder) add(taskID int64, a boardAward) {
	if t.pointsByTask == nil {
		t.pointsByTask = map[int64]int{}
	}
	t.pointsByTask[taskID] = max(t.pointsByTask[taskID], a.points)
	if a.rank <= len(t.Medals) {
		t.Medals[a.rank-1]++
	}
	if !a.achievedAt.IsZero() {
		if t.RecordCount++; t.OldestRecordSince.IsZero() || a.achievedAt.Before(t.OldestRecordSince) {
			t.OldestRecordSince = a.achievedAt
		}
	}
}

// total returns the total of the person's best tasks.
func (t *personTotalBuilder) total() PersonTotal {
	all := make([]int, 0, len(t.pointsByTask))
	for _, points := range t.pointsByTask {
		all = append(all, points)
	}
	slices.SortFunc(all, func(a, b int) int { return b - a })
	t.TaskCount, t.Points = len(all), 0
	for _, points := range all[:min(len(all), maxTasksWithPoints)] {
		t.Points += points
	}
	return t.PersonTotal
}

// boardAwards returns the awards of a board from its leading entries, in order: the first maxEntriesForPoints, and any
// that tie with the last of them.
func boardAwards(list []Entry) (out []boardAward) {
	var cut bandBuilder
	for _, e := range list {
		cut.add(e)
	}
	for _, b := range cut.bands {
		ahead, tied := int(b.EntriesBefore), int(b.EntryCount)
		n := pointsForRank(ahead, tied, len(list)-ahead-tied)
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
