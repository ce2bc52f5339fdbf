package models

import (
	"fmt"
	"math"

	"gorm.io/gorm"

	"warpboard/evaluator/job"
	"warpboard/models/db"
	"warpboard/models/review"
)

// ClockDifference records that the clocks of runner and judge differed by more than the tolerance in a run, for the
// case with the largest difference. There is at most one row per run, written when the run ends. The worker reports all
// values, so they prove nothing; they raise a flag for reviewers. Times are in nanoseconds.
type ClockDifference struct {
	RunID          int64 `gorm:"primaryKey;autoIncrement:false"`
	Stage          job.Stage
	CaseSpec       string `gorm:"column:spec"`  // the values of the case, such as "size: 1024; seed: 2"
	DifferingCases int    `gorm:"column:cases"` // number of the stage's cases in which they differed
	Clock          job.Clock
	EventNS        float64 `gorm:"column:event_ns"`
	WallNS         float64 `gorm:"column:wall_ns"`
	SnapshotNS     float64 `gorm:"column:snapshot_ns"`
	ToleranceNS    float64 `gorm:"column:tolerance_ns"`
}

// recordClocks stores the ClockDifference of an ended run, if there is one.
func recordClocks(tx *gorm.DB, runID int64, stages []job.StageResult) error {
	d, ok := clockDifferenceOf(stages)
	if !ok {
		return nil
	}
	d.RunID = runID
	if err := tx.Create(&d).Error; err != nil {
		return fmt.Errorf("saving how the clocks of run %d differ: %w", runID, err)
	}
	return review.RaiseFlag(tx, runID, review.KindClocks, "")
}

// clockDifferenceOf returns the clock difference of the last stage that has one, which is the ranked stage if that has
// one.
func clockDifferenceOf(stages []job.StageResult) (d ClockDifference, ok bool) {
	for _, stage := range stages {
		widest, differ := 0.0, 0
		for _, c := range stage.Cases {
			if !c.ClocksDiffer() {
				continue
			}
			// The comparison is >=, so that a case whose clocks are all 0 is recorded if it is the only one.
			if differ++; judgeRunnerClockGap(c.ClockTimes) >= widest {
				widest = judgeRunnerClockGap(c.ClockTimes)
				d = ClockDifference{
					Stage: stage.Stage, CaseSpec: db.SanitizeText(c.SpecLine), Clock: job.Clock(db.SanitizeText(string(c.ClockTimes.CountedClock))),
					EventNS: c.ClockTimes.EventTime, WallNS: c.ClockTimes.WallTime, SnapshotNS: c.ClockTimes.SnapshotTime, ToleranceNS: c.ClockTimes.WallTolerance,
				}
			}
		}
		if differ > 0 {
			d.DifferingCases, ok = differ, true
		}
	}
	return d, ok
}

// judgeRunnerClockGap returns the difference between the larger of the judge's two clocks and the clock of the runner's
// process (Event). The runner's process also runs the kernel, which could manipulate that clock.
func judgeRunnerClockGap(c job.ClockTimes) float64 { return math.Abs(c.JudgeTime() - c.EventTime) }
