package work

import (
	"context"
	"fmt"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"warpboard/evaluator/job"
	"warpboard/models/db"
)

// Stage is the result of one stage of an attempt. Before the attempt's result arrives it comes from events and lacks
// the program's output.
type Stage struct {
	ID        int64
	RunID     int64
	AttemptID string
	Position  int // order within the attempt
	Stage     job.Stage
	Status    job.Status
	Result    job.StageResult `gorm:"serializer:json"`
}

// Stages lists the stages of all attempts of a run, oldest attempt first.
func (l *LifeCycle) Stages(ctx context.Context, runID int64) ([]Stage, error) {
	of, err := l.StagesOf(ctx, runID)
	return of[runID], err
}

// StagesOf lists the stages of several runs in one query.
func (l *LifeCycle) StagesOf(ctx context.Context, runIDs ...int64) (map[int64][]Stage, error) {
	var list []Stage
	err := l.db.Read(ctx).Table("stages").Select("stages.*").Joins("join attempts a on a.id = stages.attempt_id").
		Where("stages.run_id in ?", runIDs).Order("stages.run_id, a.number, stages.position").Find(&list).Error
	of := make(map[int64][]Stage, len(runIDs))
	for _, stage := range list {
		of[stage.RunID] = append(of[stage.RunID], stage)
	}
	return of, db.ReadError(err, "stages of runs %v", runIDs)
}

// RankedStage returns the ranked stage of a run's last attempt, or a stage without cases.
func RankedStage(tx *gorm.DB, runID int64) (job.StageResult, error) {
	var last Stage
	err := tx.Table("stages").Select("stages.*").Joins("join attempts a on a.id = stages.attempt_id").
		Where("stages.run_id = ? and stages.stage = ?", runID, job.StageRanked).Order("a.number desc").Limit(1).Find(&last).Error
	return last.Result, db.ReadError(err, "the ranked stage of run %d", runID)
}

// storeStage stores a stage from an event. The attempt's result replaces it.
func storeStage(tx *gorm.DB, runID int64, attemptID string, r job.StageResult) error {
	row := newStageRow(runID, attemptID, stagePosition(r.Stage), r)
	err := tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&row).Error
	return db.WriteError(err, "stage")
}

// storeStages replaces the stages of an attempt by those of its result.
func storeStages(tx *gorm.DB, runID int64, attemptID string, results []job.StageResult) error {
	if len(results) == 0 {
		return nil
	}
	if err := tx.Where("attempt_id = ?", attemptID).Delete(&Stage{}).Error; err != nil {
		return fmt.Errorf("replacing the stages of run %d: %w", runID, err)
	}
	rows := make([]Stage, len(results))
	for i, r := range results {
		rows[i] = newStageRow(runID, attemptID, i, r)
	}
	return db.WriteError(tx.Create(&rows).Error, "stages")
}

func newStageRow(runID int64, attemptID string, position int, r job.StageResult) Stage {
	return Stage{
		RunID: runID, AttemptID: attemptID, Position: position,
		Stage: job.Stage(db.SanitizeText(string(r.Stage))), Status: job.Status(db.SanitizeText(string(r.Status))),
		Result: r,
	}
}

func stagePosition(stage job.Stage) int {
	order := map[job.Stage]int{
		job.StageBuild: 0, job.StageTest: 1, job.StageBenchmark: 2,
		job.StageRanked: 3, job.StageSecret: 4, job.StageProfile: 5, job.StageSanitize: 6, job.StageValidate: 7,
	}
	if p, ok := order[stage]; ok {
		return p
	}
	return len(order)
}

// countStages adds the stages of a result to the counters.
func countStages(tx *gorm.DB, stages []job.StageResult) error {
	samples := make([]CounterSample, 0, len(stages))
	for _, s := range stages {
		samples = append(samples, CounterSample{
			Name:  CounterRunStages + string(s.Stage) + "." + string(s.Status),
			Value: s.EndedAt.Sub(s.StartedAt).Seconds(),
		})
	}
	return AddToCounters(tx, samples...)
}
