package models

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"warpboard/evaluator/job"
	"warpboard/models/db"
)

// Names of counters: all there are. Those that end in a dot are followed by what they count apart. They are stored, so
// a change of one loses what was counted.
const (
	CounterSubmitted = "evaluations.submitted"
	CounterWaited    = "evaluations.waited"   // seconds until an evaluation had its slot
	CounterEnded     = "evaluations.ended."   // by state; seconds from submission to end
	CounterGivenUp   = "evaluations.given-up" // a worker had it and no report counts: cancelled or lost
	CounterHeld      = "evaluations.held"     // workers have them now

	// What the reports of evaluations say; seconds.
	CounterCompiled     = "compilations.ok"
	CounterNotCompiled  = "compilations.failed"
	CounterProfiled     = "profilings.ok"
	CounterNotProfiled  = "profilings.failed"
	CounterCorrect      = "validations.passed"
	CounterWrong        = "validations.failed"
	CounterCacheHit     = "cache.hits"
	CounterCacheMiss    = "cache.misses"
	CounterDevice       = "devices."   // by "H200:0"; seconds held
	CounterDeviceTiming = "profilers." // by "H200:0"; seconds of timing

	CounterRunEnded  = "runs.ended." // by state; seconds from submission to end
	CounterRunWaited = "runs.waited" // seconds from submission until a worker took the run that has now ended
	CounterRunStage  = "runs.stage." // by stage and status, as "build.pass"; seconds

	// Attempts at work of any kind that were lost, by what became of the work.
	CounterLostRetried = "lost.retried"
	CounterLostFailed  = "lost.failed"
)

// Counter sums up what happened since the site was set up.
type Counter struct {
	Name  string `gorm:"primaryKey"`
	Count int64
	Total float64
	Min   float64 `gorm:"column:least"`
	Max   float64 `gorm:"column:most"`
}

// Sample is one thing that happened.
type Sample struct {
	Name  string
	Value float64 // seconds, where it took time
}

// count adds samples to their counters.
func count(tx *gorm.DB, samples ...Sample) error {
	for _, s := range samples {
		err := tx.Exec(`insert into counters (name, count, total, least, most) values (?, 1, ?, ?, ?)
			on conflict (name) do update set count = counters.count + 1, total = counters.total + excluded.total,
			least = case when excluded.least < counters.least then excluded.least else counters.least end,
			most = case when excluded.most > counters.most then excluded.most else counters.most end`,
			s.Name, s.Value, s.Value, s.Value).Error
		if err != nil {
			return fmt.Errorf("counting %s: %w", s.Name, err)
		}
	}
	return nil
}

// Counters returns all counters by name. What is held now is counted in the same statement, so that an
// evaluation which ends meanwhile is not missed and not counted twice.
func (s *Store) Counters(ctx context.Context) (map[string]Counter, error) {
	var list []Counter
	err := s.db.Read(ctx).Raw(`select name, count, total, least, most from counters
		union all select ?, count(*), 0, 0, 0 from evaluations where started_at is not null and `+live, CounterHeld).Scan(&list).Error
	if err != nil {
		return nil, db.ReadError(err, "counters")
	}
	byName := make(map[string]Counter, len(list))
	for _, c := range list {
		byName[c.Name] = c
	}
	return byName, nil
}

// EvaluationStats counts the evaluations that are kept.
type EvaluationStats struct {
	ByState map[EvaluationState]int64
	Total   int64
	Age     time.Duration // mean, since submission
	// JustSubmitted and JustEnded count those of the last StatsWindow.
	JustSubmitted, JustEnded int64
}

// StatsWindow is how long ago the recent past begins.
const StatsWindow = 5 * time.Minute

// EvaluationStats counts the evaluations that are kept, by state.
func (s *Store) EvaluationStats(ctx context.Context) (EvaluationStats, error) {
	out, at := EvaluationStats{ByState: map[EvaluationState]int64{}}, db.Now()
	var rows []struct {
		State    EvaluationState
		QueuedAt time.Time
		EndedAt  *time.Time
	}
	if err := s.db.Read(ctx).Model(&Evaluation{}).Select("state, queued_at, ended_at").Find(&rows).Error; err != nil {
		return out, db.ReadError(err, "evaluations")
	}
	for _, row := range rows {
		out.ByState[row.State]++
		out.Total++
		out.Age += at.Sub(row.QueuedAt)
		if at.Sub(row.QueuedAt) < StatsWindow {
			out.JustSubmitted++
		}
		if row.EndedAt != nil && at.Sub(*row.EndedAt) < StatsWindow {
			out.JustEnded++
		}
	}
	if out.Total > 0 {
		out.Age /= time.Duration(out.Total)
	}
	return out, nil
}

// countRun counts a run that has just ended.
func countRun(tx *gorm.DB, run Run) error {
	if run.EndedAt == nil {
		return nil
	}
	samples := []Sample{{Name: CounterRunEnded + string(run.State), Value: run.EndedAt.Sub(run.QueuedAt).Seconds()}}
	if run.StartedAt != nil {
		samples = append(samples, Sample{Name: CounterRunWaited, Value: run.StartedAt.Sub(run.QueuedAt).Seconds()})
	}
	return count(tx, samples...)
}

// countStages counts the stages of a result that counts.
func countStages(tx *gorm.DB, stages []job.StageResult) error {
	samples := make([]Sample, 0, len(stages))
	for _, s := range stages {
		samples = append(samples, Sample{Name: CounterRunStage + string(s.Stage) + "." + string(s.Status), Value: s.Ended.Sub(s.Started).Seconds()})
	}
	return count(tx, samples...)
}
