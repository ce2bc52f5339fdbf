package models

import (
	"gorm.io/gorm"

	"warpboard/evaluator/job"
)

// Names of the counters of runs; those that end in a dot are followed by what they count apart.
const (
	CounterRunEnded  = "runs.ended." // by state; seconds from submission to end
	CounterRunWaited = "runs.waited" // seconds from submission until a worker took the run that has now ended
	CounterRunStage  = "runs.stage." // by stage and status, as "build.pass"; seconds
)

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
