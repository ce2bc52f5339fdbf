package models

import (
	"gorm.io/gorm"

	"warpboard/evaluator/job"
	"warpboard/models/boards"
	"warpboard/models/db"
	"warpboard/models/pools"
)

// Runs of equal sources count together (package pools). What a run measured alone is kept beside it: the row of the run
// that stands for others has the numbers of all of them.

// keepMeasurement stores what a ranked run has measured.
func (r *Run) keepMeasurement(tx *gorm.DB, result job.Result) error {
	if r.Mode != job.ModeRanked || r.State != StateDone || r.ScoreNS == nil {
		return nil
	}
	return pools.Keep(tx, pools.Measurement{RunID: r.ID, ScoreNS: *r.ScoreNS, StdNS: r.StdNS, ErrNS: r.ErrNS, Clock: r.Clock,
		Interval: r.Interval, Roof: r.Roof, Disturbed: r.Disturbed, Cases: pools.CasesOf(result.Stages)})
}

// enter pools a valid run that has just ended with those of equal source, and returns what it brings to its board: the run that
// stands for them.
func (r *Run) enter(tx *gorm.DB) (entry Entry, err error) {
	if err := pools.Update(tx, r.VersionID, r.Device, r.UserID, r.ID); err != nil {
		return entry, err
	}
	stands := Run{}
	err = tx.Where("id = (select coalesce(pool_id, id) from runs where id = ?)", r.ID).Take(&stands).Error
	if err != nil {
		return entry, db.ReadError(err, "run that stands for run %d", r.ID)
	}
	entry = boards.Entry{
		VersionID: r.VersionID, Device: r.Device, UserID: r.UserID, RunID: stands.ID, SubmissionID: stands.SubmissionID, Age: -stands.EpochID,
		ScoreNS: *stands.ScoreNS, StdNS: stands.StdNS, ErrNS: stands.ErrNS, Clock: stands.Clock, Interval: stands.Interval, Roof: stands.Roof, EnergyJ: stands.EnergyJ,
		Pooled: stands.Pooled, Disturbed: stands.Disturbed, AchievedAt: *stands.EndedAt,
	}
	return entry, nil
}

// recompute brings boards up to date after runs of some people changed or went: first their pools, then their entries.
func recompute(tx *gorm.DB, runs []Entry) ([]BoardChange, error) {
	for _, e := range runs {
		if err := pools.Update(tx, e.VersionID, e.Device, e.UserID, 0); err != nil {
			return nil, err
		}
	}
	return boards.Recompute(tx, runs)
}

// takeOver gives a run the numbers that another measured in its place, and returns whose board that changes.
func takeOver(tx *gorm.DB, rerun Run) (Entry, error) {
	entry := Entry{VersionID: rerun.VersionID, Device: rerun.Device, UserID: rerun.UserID}
	m, err := pools.Of(tx, rerun.ID)
	if err != nil {
		return entry, err
	}
	m.RunID, m.Fixed = *rerun.ProfileOf, false
	return entry, m.Set(tx, map[string]any{"epoch_id": rerun.EpochID})
}
