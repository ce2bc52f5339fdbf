package pools

import (
	"encoding/json"
	"fmt"
	"math"

	"gorm.io/gorm"

	"warpboard/evaluator/harness"
	"warpboard/models/boards"
	"warpboard/models/db"
	"warpboard/tasks"
)

// together is the score of several measurements of one source, and of what is retained of it: that of all their processes, by the rule and with the
// interval of one run's. How near it is to the roof follows from the first.
func together(ranking tasks.Ranking, list []Measurement, retained []Retained) (Measurement, error) {
	all, n := list[0], float64(len(list))
	runs := make([][][]float64, len(list))
	// Averages of what the runs state, for people to look at. Ranks and bands use score and interval alone.
	measured, std, stderr := true, 0.0, 0.0
	for i, m := range list {
		runs[i] = m.Cases
		measured = measured && m.Processes > 0
		std, stderr = std+m.StdNS/n, stderr+m.ErrNS/n
		all.Clock = clocks(all.Clock, m.Clock)
	}
	all.Disturbed = disturbed(list)
	ns, interval, err := harness.CombineRuns(ranking, withRetained(runs, retained))
	if err != nil {
		return all, err
	}
	// The roof is a share of the best possible time: it falls as the score rises.
	if all.Roof != nil {
		roof := *all.Roof * all.ScoreNS / ns
		all.Roof = &roof
	}
	all.ScoreNS, all.StdNS, all.ErrNS, all.Interval = ns, std, stderr/math.Sqrt(n), boards.Interval{}
	// Runs of a task's own program have no processes, and their pool has no interval: bands compare such scores as numbers.
	if measured {
		all.Processes, all.Noisy = interval.Processes, interval.Noisy
		all.LowNS, all.HighNS = interval.Ends()
	}
	return all, nil
}

// distinct are the members' measurements, beginning with that of the run that stands for them. A measurement that replaced
// several is there once.
func distinct(first member, members []member, measured map[int64]Measurement) []Measurement {
	list, by := []Measurement{measured[first.ID]}, map[int64]bool{}
	for _, m := range append([]member{first}, members...) {
		again := measured[m.ID].ByRun
		if m.ID != first.ID && (again == nil || !by[*again]) {
			list = append(list, measured[m.ID])
		}
		if again != nil {
			by[*again] = true
		}
	}
	return list
}

// disturbed says how many of several runs were measured under bad conditions, and why one of them.
func disturbed(list []Measurement) string {
	n, why := 0, ""
	for _, m := range list {
		if m.Disturbed != "" {
			n, why = n+1, m.Disturbed
		}
	}
	if n == 0 || len(list) == 1 {
		return why
	}
	return fmt.Sprintf("%d of %d runs: %s", n, len(list), why)
}

// RankingOf is the rule that the task of a run makes scores by.
func RankingOf(tx *gorm.DB, runID int64) (tasks.Ranking, error) {
	var text string
	err := tx.Table("task_versions").Where("id = (select version_id from runs where id = ?)", runID).Limit(1).Pluck("definition", &text).Error
	var definition tasks.Definition
	if err == nil {
		err = json.Unmarshal([]byte(text), &definition)
	}
	return definition.RankingBy, db.ReadError(err, "the task of run %d", runID)
}
