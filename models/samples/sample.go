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

// Sample is one ranked measurement of a source on a board. Rows are only added, and remain when runs are deleted; only
// SetAsideAt changes. ScoreOf computes the scores of runs, entries, and records from samples.
type Sample struct {
	ID        int64
	VersionID int64
	Device    string
	EpochID   int64
	SourceKey string
	UserID    int64
	RunID     int64 // the person's run that was measured; it may be gone
	// MeasuredByRun is the run that made the measurement: the person's run, or a rerun of it by the site.
	MeasuredByRun int64 `gorm:"column:by_run"`
	Purpose       work.Purpose
	// IsUnfinished means that one process of the measurement did not finish. A person who notices that a slot is slow
	// could have ended it.
	IsUnfinished   bool       `gorm:"column:unfinished"`
	SetAsideAt     *time.Time `gorm:"column:aside_at"` // time since which the sample does not count; nil if it counts
	Reason         string     `gorm:"column:why"`      // how its run ended, or why the sample does not count
	MeasuredValues `gorm:"embedded"`
	// CaseTimes has the median times of the finished processes, by case. For a task's own program, which reports no
	// processes, it has one time per case.
	CaseTimes [][]float64 `gorm:"column:cases;serializer:json"`
	EndedAt   time.Time
}

// Reasons why a sample does not count.
const (
	// the order is unfinished, or ended without counting the sample
	ReasonUndecidedOrder   = "its confirmation or remeasurement goes on"
	ReasonMeasuredAgain    = "measured again"
	ReasonDeletedUncounted = "deleted while it did not count"
	ReasonDeletedByAdmin   = "deleted by an admin"
)

// MeasuredValues has the values of one sample, or of several combined.
type MeasuredValues struct {
	ScoreNS         float64 `gorm:"column:score_ns"` // 0 if the run ended without a score
	DeviationNS     float64 `gorm:"column:std_ns"`
	StandardErrorNS float64 `gorm:"column:err_ns"`
	ClockName       string  `gorm:"column:clock"`
	boards.Interval
	RooflineShare   *float64 `gorm:"column:roof"`
	DisturbedReason string   `gorm:"column:disturbed"` // reason for bad conditions; empty if there were none
}

// Score is a score that was computed from samples.
type Score struct {
	MeasuredValues `gorm:"embedded"`
	// SampleCount is the number of samples; 0 means one, or that the samples are turns of confirmations.
	SampleCount int `gorm:"column:pooled"`
	// BeforeConfirmationNS is the score before the first confirmation; it points to 0 if there was no score before. It
	// is nil if the score does not come from confirmations.
	BeforeConfirmationNS *float64 `gorm:"column:was_ns"`
}

// AddSample stores the sample of a run that has ended. A rerun's sample has the source of the run that it measured.
func AddSample(tx *gorm.DB, s Sample) error {
	// Times below a nanosecond are impossible, and a 0 would make the geometric mean of a score 0.
	if caseCount(s) == 0 || slices.ContainsFunc(slices.Concat(s.CaseTimes...), func(ns float64) bool { return ns < 1 }) {
		s.CaseTimes = [][]float64{} // only a modified worker sends such times
	}
	err := tx.Table("submissions").Where("id = (select submission_id from runs where id = ?)", s.RunID).Pluck("source_key", &s.SourceKey).Error
	if err == nil {
		// the unique key is the measuring run and the purpose
		err = tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&s).Error
	}
	return db.WriteError(err, "what run %d measured", s.MeasuredByRun)
}

// ProcessTimesByCase returns the median times of the processes of a passed ranked stage, by case. For a task's own
// program it returns one time per case.
func ProcessTimesByCase(stages []job.StageResult) [][]float64 {
	cases := [][]float64{}
	for _, stage := range stages {
		if stage.Stage != job.StageRanked || stage.Status != job.StatusPass {
			continue
		}
		// If a result has several ranked stages, the last one counts. Workers send one.
		cases = cases[:0]
		for _, c := range stage.Cases {
			if len(c.ProcessMedians) > 0 {
				cases = append(cases, c.ProcessMedians)
			} else {
				cases = append(cases, []float64{c.Time()})
			}
		}
	}
	return cases
}

// AcceptSamples makes the samples that the given runs measured count.
func AcceptSamples(tx *gorm.DB, runs ...int64) error {
	err := tx.Model(&Sample{}).Where("by_run in ? and purpose <> ?", runs, work.PurposeSubmitted).
		Updates(map[string]any{"aside_at": nil, "why": ""}).Error
	return db.WriteError(err, "what runs %v measured", runs)
}

// SetAsideReplacedSamples sets aside the samples that a rerun replaces: the samples of the person with the same source
// and software (including those that do not count at present, because they could count again later), and all
// confirmations of that source.
func SetAsideReplacedSamples(tx *gorm.DB, run int64) error {
	var s Sample
	if err := tx.Where("by_run = ? and purpose = ?", run, work.PurposeRerun).Take(&s).Error; err != nil {
		return db.ReadError(err, "what run %d measured", run)
	}
	err := tx.Model(&Sample{}).Where("version_id = ? and device = ? and source_key = ? and aside_at is null", s.VersionID, s.Device, s.SourceKey).
		Where("run_id = ? and purpose = ? or epoch_id = ? and (purpose = ? or user_id = ? and ended_at <= ?)", s.RunID, work.PurposeSubmitted,
			s.EpochID, work.PurposeConfirm, s.UserID, db.NormalizeTime(s.EndedAt)).
		Updates(map[string]any{"aside_at": db.Now(), "why": ReasonMeasuredAgain}).Error
	return db.WriteError(err, "what was measured of the source of run %d", s.RunID)
}

// SetAsideDeletedSamples sets aside the samples of a submission that will be deleted. If its owner deletes it, only
// samples of disqualified and held runs are set aside; otherwise people could choose which of their measurements count.
func SetAsideDeletedSamples(tx *gorm.DB, submissionID int64, byOwner bool) error {
	runs, why := tx.Table("runs").Select("id").Where("submission_id = ?", submissionID), ReasonDeletedByAdmin
	if byOwner {
		runs, why = runs.Where("disqualified_at is not null or held_why <> ''"), ReasonDeletedUncounted
	}
	err := tx.Model(&Sample{}).Where("purpose = ? and aside_at is null and score_ns > 0 and by_run in (?)", work.PurposeSubmitted, runs).
		Updates(map[string]any{"aside_at": db.Now(), "why": why}).Error
	return db.WriteError(err, "what submission %d measured", submissionID)
}

// IsScoreConfirmed reports whether the score of a run's source, with the software of an epoch, comes from
// confirmations.
func IsScoreConfirmed(tx *gorm.DB, runID, epochID int64) (bool, error) {
	var turns int64
	err := tx.Table("runs o").Joins("join "+joinSamplesSQL).Limit(1).
		Where("o.id = ? and s.epoch_id = ? and s.purpose = ? and s.aside_at is null", runID, epochID, work.PurposeConfirm).Count(&turns).Error
	return turns > 0, db.ReadError(err, "confirmations of the source of run %d", runID)
}

// joinSamplesSQL joins the samples s that count or counted for a run o: those of the same source, of its person and of
// the site.
const joinSamplesSQL = `submissions b on b.id = o.submission_id join samples s on s.version_id = o.version_id and s.device = o.device
	and s.source_key = b.source_key and (s.user_id = o.user_id or s.purpose = 'confirm')`

// SampleHistory returns the samples that count or counted for runs, by run ID, oldest first.
func SampleHistory(tx *gorm.DB, runs ...int64) (map[int64][]Sample, error) {
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

// EntriesWithSource lists, as entries, the people and boards that have ranked runs with the same source as one of the
// given runs.
func EntriesWithSource(tx *gorm.DB, runs []int64) (list []boards.Entry, err error) {
	err = tx.Table("runs o").Joins("join submissions s on s.id = o.submission_id").
		Joins("join submissions e on e.version_id = s.version_id and e.source_key = s.source_key").
		Joins("join runs r on r.submission_id = e.id and r.device = o.device and r.score_ns is not null and r.purpose = 'submitted'").
		Where("o.id in ?", runs).Distinct("r.version_id, r.device, r.user_id").Order("r.version_id, r.device, r.user_id").Scan(&list).Error
	return list, db.ReadError(err, "people with the sources of runs %v", runs)
}
