package pools

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"warpboard/evaluator/job"
	"warpboard/models/boards"
	"warpboard/models/db"
)

// Measurement is what a run counts with alone: what it measured, or what was measured again in its place.
//
// Two rows hold a run's numbers: this one is what the run brought (or what replaced that), the columns of runs are what
// is shown now. Of a run that stands for a pool they may differ; of any other one they are equal. A run that leaves a pool gets
// these back.
type Measurement struct {
	RunID   int64   `gorm:"primaryKey;autoIncrement:false"`
	Fixed   bool    // by a confirmation: it is not pooled
	ByRun   *int64  // the run that measured it in its place; nil: itself. Several that one has measured count once
	ScoreNS float64 `gorm:"column:score_ns"`
	StdNS   float64 `gorm:"column:std_ns"`
	ErrNS   float64 `gorm:"column:err_ns"`
	Clock   string
	boards.Interval
	Roof      *float64
	Disturbed string // why the conditions were bad
	// Cases are the medians of its processes by case. Where a task's own program measured, which says nothing of
	// processes, there is one time for each case.
	Cases [][]float64 `gorm:"serializer:json"`
}

// CasesOf takes them from a result's stages.
func CasesOf(stages []job.StageResult) [][]float64 {
	cases := [][]float64{}
	for _, stage := range stages {
		if stage.Stage != job.StageRanked {
			continue
		}
		// Of several ranked stages in one result the last one counts. A worker of ours sends one.
		cases = cases[:0]
		for _, c := range stage.Cases {
			if len(c.Processes) > 0 {
				cases = append(cases, c.Processes)
			} else {
				cases = append(cases, []float64{c.Time()})
			}
		}
	}
	return cases
}

// Keep stores what a run counts with.
// The last writer wins: a confirmation, a rejudge and a new epoch all replace what is here.
func Keep(tx *gorm.DB, m Measurement) error {
	err := tx.Clauses(clause.OnConflict{UpdateAll: true}).Create(&m).Error
	return db.WriteError(err, "measurement of run %d", m.RunID)
}

// MeasurementOf reads a run's measurement. For a run of an older version it is computed from the run's stages; if these do not give the
// run's score, it was measured again since, and its numbers are fixed.
func MeasurementOf(tx *gorm.DB, runID int64) (m Measurement, err error) {
	err = tx.Where("run_id = ?", runID).Take(&m).Error
	if !errors.Is(err, gorm.ErrRecordNotFound) {
		return m, db.ReadError(err, "measurement of run %d", runID)
	}
	err = tx.Table("runs").Select("id as run_id, score_ns, std_ns, err_ns, clock, interval_low, interval_high, processes, noisy, roof, disturbed").
		Where("id = ?", runID).Take(&m).Error
	if err != nil {
		return m, db.ReadError(err, "run %d", runID)
	}
	var stage struct {
		Result job.StageResult `gorm:"serializer:json"`
	}
	// Of the current attempt: earlier ones may have left a ranked stage, too, before they were lost.
	err = tx.Table("stages").Select("result").Where("run_id = ? and stage = ? and attempt_id = (select attempt_id from runs where id = ?)",
		runID, job.StageRanked, runID).Order("id desc").Limit(1).Scan(&stage).Error
	if err != nil {
		return m, db.ReadError(err, "the ranked stage of run %d", runID)
	}
	m.Cases = CasesOf([]job.StageResult{stage.Result})
	m.Fixed = !m.own(tx)
	return m, Keep(tx, m)
}

// own reports whether the cases give the score.
// An unreadable definition, or cases that do not fit, also give false: the score then stays unchanged and unpooled.
func (m Measurement) own(tx *gorm.DB) bool {
	ranking, err := RankingOf(tx, m.RunID)
	if err != nil || len(m.Cases) == 0 {
		return false
	}
	alone, err := together(ranking, []Measurement{m}, nil)
	return err == nil && math.Abs(alone.ScoreNS-m.ScoreNS) <= rounding*m.ScoreNS
}

// rounding is how far sums of the same numbers may differ, relatively.
// Far above the error of float64 sums over some thousand times, far below what any two measurements differ by.
const rounding = 1e-9

// clocks names the clocks by which two scores count, as models does for cases.
func clocks(a, b string) string {
	if a == "" || b == "" {
		return ""
	}
	var names []string
	for _, clock := range []job.Clock{job.ClockEvent, job.ClockWall, job.ClockSnapshot} {
		if strings.Contains("+"+a+"+"+b+"+", "+"+string(clock)+"+") {
			names = append(names, string(clock))
		}
	}
	return strings.Join(names, "+")
}

// values are the columns of a run that a measurement sets.
func (m Measurement) values() map[string]any {
	return map[string]any{"score_ns": m.ScoreNS, "std_ns": m.StdNS, "err_ns": m.ErrNS, "clock": m.Clock, "interval_low": m.LowNS,
		"interval_high": m.HighNS, "processes": m.Processes, "noisy": m.Noisy, "roof": m.Roof, "disturbed": m.Disturbed}
}

// Set gives a run the numbers of a measurement and more values, and keeps it as the run's own.
func (m Measurement) Set(tx *gorm.DB, more map[string]any) error {
	values := m.values()
	for name, value := range more {
		values[name] = value
	}
	if err := tx.Table("runs").Where("id = ?", m.RunID).Updates(values).Error; err != nil {
		return fmt.Errorf("saving the score of run %d: %w", m.RunID, err)
	}
	return Keep(tx, m)
}
