package work

import (
	"context"
	"maps"
	"slices"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"warpboard/models/db"
)

// Names of counters. A name that ends in a dot is a prefix. The database stores names, so renaming a counter loses its
// values.
const (
	CounterEvaluationsSubmitted = "evaluations.submitted"
	CounterEvaluationWaits      = "evaluations.waited" // seconds until an evaluation got its slot
	CounterEvaluationsEnded     = "evaluations.ended." // seconds from submission to end, by state of the evaluation
	// CounterEvaluationsGivenUp counts evaluations that were cancelled or lost after a worker received them, without
	// a valid report.
	CounterEvaluationsGivenUp      = "evaluations.given-up"
	CounterEvaluationsHoldingSlots = "evaluations.held" // evaluations that workers have now

	// Counters of compilations and profiles in reports of evaluations. Their totals are in seconds.
	CounterCompilationsPassed  = "compilations.ok"
	CounterCompilationsFailed  = "compilations.failed"
	CounterProfilingsPassed    = "profilings.ok"
	CounterProfilingsFailed    = "profilings.failed"
	CounterValidationsPassed   = "validations.passed"
	CounterValidationsFailed   = "validations.failed"
	CounterCacheHits           = "cache.hits"
	CounterCacheMisses         = "cache.misses"
	CounterDeviceSeconds       = "devices."   // seconds for which evaluations held a slot, by slot such as "H200:0"
	CounterDeviceTimingSeconds = "profilers." // seconds of timing on a slot, by slot such as "H200:0"

	CounterRunsEnded = "runs.ended." // seconds from submission to end, by state of the run
	CounterRunWaits  = "runs.waited" // seconds from submission until a worker took the run that has now ended
	CounterRunStages = "runs.stage." // seconds of a stage, by stage and status such as "build.pass"

	// Counters of lost attempts, by whether the work was tried again.
	CounterLossesRetried = "lost.retried"
	CounterLossesFailed  = "lost.failed"
)

// Counters reads the statistics of evaluations, runs, and lost attempts, for the metrics and the statistics of the
// evaluation API. The database counts since the site was set up; the names above list what it counts.
type Counters struct{ db *db.DB }

// NewCounters returns the counters in a database.
func NewCounters(database *db.DB) *Counters { return &Counters{db: database} }

// Counter has the number and the total, minimum, and maximum of samples since the site was set up.
type Counter struct {
	Name  string `gorm:"primaryKey"`
	Count int64
	Total float64
	Min   float64 `gorm:"column:least"`
	Max   float64 `gorm:"column:most"`
}

// CounterSample is one value that is added to a counter.
type CounterSample struct {
	Name            string
	Value           float64 // seconds per occurrence; 0 for one without duration
	OccurrenceCount int     // number of occurrences; 0 means one
}

// AddToCounters adds samples to counters, in one statement.
func AddToCounters(tx *gorm.DB, samples ...CounterSample) error {
	if len(samples) == 0 {
		return nil
	}
	sums := map[string]Counter{} // one statement must not change a row twice
	for _, s := range samples {
		times := max(s.OccurrenceCount, 1)
		sum, found := sums[s.Name]
		if !found {
			sum = Counter{Name: s.Name, Min: s.Value, Max: s.Value}
		}
		sum.Count, sum.Total = sum.Count+int64(times), sum.Total+s.Value*float64(times)
		sum.Min, sum.Max = min(sum.Min, s.Value), max(sum.Max, s.Value)
		sums[s.Name] = sum
	}
	rows := slices.Collect(maps.Values(sums))
	err := tx.Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "name"}}, DoUpdates: clause.Assignments(map[string]any{
		"count": gorm.Expr("counters.count + excluded.count"),
		"total": gorm.Expr("counters.total + excluded.total"),
		"least": gorm.Expr("case when excluded.least < counters.least then excluded.least else counters.least end"),
		"most":  gorm.Expr("case when excluded.most > counters.most then excluded.most else counters.most end"),
	})}).Create(&rows).Error
	return db.WriteError(err, "counters")
}

// AllByName returns all counters by name. The same statement also counts the evaluations that hold slots now, so that
// an evaluation that ends at the same time is counted exactly once.
func (t *Counters) AllByName(ctx context.Context) (map[string]Counter, error) {
	var list []Counter
	err := t.db.Read(ctx).Raw(`select name, count, total, least, most from counters
		union all select ?, count(*), 0, 0, 0 from evaluations where started_at is not null and ended_at is null`, CounterEvaluationsHoldingSlots).Scan(&list).Error
	if err != nil {
		return nil, db.ReadError(err, "counters")
	}
	byName := make(map[string]Counter, len(list))
	for _, c := range list {
		byName[c.Name] = c
	}
	return byName, nil
}
