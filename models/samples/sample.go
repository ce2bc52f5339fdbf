package samples

import (
	"slices"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"warpboard/evaluator/job"
	"warpboard/models/boards"
	"warpboard/models/db"
	"warpboard/models/work"
)

// Sample is one ranked measurement of a source on a board. Rows are only added, and outlive their runs; only
// SetAsideAt changes. The scores of runs, entries and records are made of samples by ScoreOf.
type Sample struct {
	ID        int64
	VersionID int64
	Device    string
	EpochID   int64
	SourceKey string
	UserID    int64
	RunID     int64 // the person's run that was measured; it may be gone
	// the run that measured it: that run itself, or one that the site queued after it
	MeasuredByRun int64 `gorm:"column:by_run"`
	Purpose       work.Purpose
	// IsUnfinished samples lack a process that did not come to its end: a person who sees that the device is slow could
	// end it.
	IsUnfinished bool       `gorm:"column:unfinished"`
	SetAsideAt   *time.Time `gorm:"column:aside_at"` // when it was set aside; nil: it counts
	Reason       string     `gorm:"column:why"`      // how its run ended, or why it is set aside
	Measure      `gorm:"embedded"`
	// Cases are the medians of the processes that came to their end, by case. Where a task's own program measured,
	// which says nothing of processes, there is one time for each case.
	Cases   [][]float64 `gorm:"serializer:json"`
	EndedAt time.Time
}

// The reasons to set a sample aside.
const (
	UndecidedOrder   = "its confirmation or remeasurement goes on" // or ended without it
	MeasuredAgain    = "measured again"
	DeletedUncounted = "deleted while it did not count"
	DeletedByAdmin   = "deleted by an admin"
)

// Measure has the numbers of one sample, or of several together.
type Measure struct {
	ScoreNS float64 `gorm:"column:score_ns"` // 0: its run ended without one
	StdNS   float64 `gorm:"column:std_ns"`
	ErrNS   float64 `gorm:"column:err_ns"`
	Clock   string
	boards.Interval
	Roof      *float64
	Disturbed string // why the conditions were bad
}

// Score is the score of some samples.
type Score struct {
	Measure `gorm:"embedded"`
	// samples that it is made of; 0: one, or those of confirmations
	SampleCount int `gorm:"column:pooled"`
	// the score before the first confirmation, 0 if there was none; nil: it comes from none
	BeforeConfirmationNS *float64 `gorm:"column:was_ns"`
}

// AddSample keeps the sample of a run that has ended. It has the source of the run that was measured.
func AddSample(tx *gorm.DB, s Sample) error {
	// Less than a nanosecond cannot have been measured, and 0 would make the geometric mean of a pool 0.
	if caseCount(s) == 0 || slices.ContainsFunc(slices.Concat(s.Cases...), func(ns float64) bool { return ns < 1 }) {
		s.Cases = [][]float64{} // no worker of ours sends that
	}
	err := tx.Table("submissions").Where("id = (select submission_id from runs where id = ?)", s.RunID).Pluck("source_key", &s.SourceKey).Error
	if err == nil {
		err = tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&s).Error // unique by run and purpose
	}
	return db.WriteError(err, "what run %d measured", s.MeasuredByRun)
}

// CasesOf returns the medians of processes of a ranked stage that passed; of a task's own program, the one time of each
// case.
func CasesOf(stages []job.StageResult) [][]float64 {
	cases := [][]float64{}
	for _, stage := range stages {
		if stage.Stage != job.StageRanked || stage.Status != job.StatusPass {
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

// AcceptSamples lets samples of the site count, by the runs that measured them.
func AcceptSamples(tx *gorm.DB, runs ...int64) error {
	err := tx.Model(&Sample{}).Where("by_run in ? and purpose <> ?", runs, work.Submitted).
		Updates(map[string]any{"aside_at": nil, "why": ""}).Error
	return db.WriteError(err, "what runs %v measured", runs)
}

// SetAsideReplaced sets aside what a run that measured another again replaces: the samples of the run that it measured,
// of its person with that source and software, also those that do not count now, since these could count again later,
// and of all confirmations of that source.
func SetAsideReplaced(tx *gorm.DB, run int64) error {
	var s Sample
	if err := tx.Where("by_run = ? and purpose = ?", run, work.Rerun).Take(&s).Error; err != nil {
		return db.ReadError(err, "what run %d measured", run)
	}
	err := tx.Model(&Sample{}).Where("version_id = ? and device = ? and source_key = ? and aside_at is null", s.VersionID, s.Device, s.SourceKey).
		Where("run_id = ? and purpose = ? or epoch_id = ? and (purpose = ? or user_id = ? and ended_at <= ?)", s.RunID, work.Submitted,
			s.EpochID, work.Confirm, s.UserID, db.Time(s.EndedAt)).
		Updates(map[string]any{"aside_at": db.Now(), "why": MeasuredAgain}).Error
	return db.WriteError(err, "what was measured of the source of run %d", s.RunID)
}

// SetAside marks the samples of a submission that is about to be deleted, so that they no longer count. If its owner
// deletes it, only samples of disqualified and held runs are marked: by deleting, a person cannot choose which of their
// measurements count.
func SetAside(tx *gorm.DB, submissionID int64, byOwner bool) error {
	runs, why := tx.Table("runs").Select("id").Where("submission_id = ?", submissionID), DeletedByAdmin
	if byOwner {
		runs, why = runs.Where("disqualified_at is not null or held_why <> ''"), DeletedUncounted
	}
	err := tx.Model(&Sample{}).Where("purpose = ? and aside_at is null and score_ns > 0 and by_run in (?)", work.Submitted, runs).
		Updates(map[string]any{"aside_at": db.Now(), "why": why}).Error
	return db.WriteError(err, "what submission %d measured", submissionID)
}

// IsConfirmed reports whether the score of a run's source, with the software of an epoch, comes from confirmations.
func IsConfirmed(tx *gorm.DB, runID, epochID int64) (bool, error) {
	var turns int64
	err := tx.Table("runs o").Joins("join "+joinSamplesSQL).Limit(1).
		Where("o.id = ? and s.epoch_id = ? and s.purpose = ? and s.aside_at is null", runID, epochID, work.Confirm).Count(&turns).Error
	return turns > 0, db.ReadError(err, "confirmations of the source of run %d", runID)
}

// joinSamplesSQL joins the samples s that counted with a run o, at one time or another: of its source, its person and
// the site.
const joinSamplesSQL = `submissions b on b.id = o.submission_id join samples s on s.version_id = o.version_id and s.device = o.device
	and s.source_key = b.source_key and (s.user_id = o.user_id or s.purpose = 'confirm')`

// History returns the samples that counted with some runs at one time or another, by run ID, the oldest first.
func History(tx *gorm.DB, runs ...int64) (map[int64][]Sample, error) {
	var list []struct {
		Sample `gorm:"embedded"`
		OfRun  int64
	}
	err := tx.Table("runs o").Joins("join "+joinSamplesSQL).Select("s.*, o.id as of_run").Where("o.id in ?", runs).
		Order("s.ended_at, s.id").Scan(&list).Error
	of := map[int64][]Sample{}
	for _, s := range list {
		of[s.OfRun] = append(of[s.OfRun], s.Sample)
	}
	return of, db.ReadError(err, "what was measured of runs %v", runs)
}

// PeopleWithSource lists the people, on their boards, who have ranked runs of equal source with one of some runs, as
// entries.
func PeopleWithSource(tx *gorm.DB, runs []int64) (list []boards.Entry, err error) {
	err = tx.Table("runs o").Joins("join submissions s on s.id = o.submission_id").
		Joins("join submissions e on e.version_id = s.version_id and e.source_key = s.source_key").
		Joins("join runs r on r.submission_id = e.id and r.device = o.device and r.score_ns is not null and r.purpose = 'submitted'").
		Where("o.id in ?", runs).Distinct("r.version_id, r.device, r.user_id").Order("r.version_id, r.device, r.user_id").Scan(&list).Error
	return list, db.ReadError(err, "people with the sources of runs %v", runs)
}
