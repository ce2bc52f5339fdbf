package pools

import (
	"slices"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"warpboard/models/boards"
	"warpboard/models/db"
)

// Retained is the measurement of a ranked run that is on no board: it was cancelled after a worker had it, failed after its
// program had begun, or its person deleted it. It counts in the pool of its source like a valid run, and outlives the run.
//
// Made when a run is cancelled, fails or is deleted; removed by an applied rejudge (Replace), by a review (Release) and
// with its task or person. RunID has no foreign key: the run may be gone. Its worker states the
// cases; only their shape, and that no time is below a nanosecond, is checked.
type Retained struct {
	ID        int64
	VersionID int64
	Device    string
	UserID    int64
	EpochID   int64
	SourceKey string
	RunID     int64
	Why       Why
	Cases     [][]float64 `gorm:"serializer:json"` // medians of the processes that came to their end, by case; none: no process did
	// Unfinished are processes that did not finish, or never began: a person who sees that the device is slow could end
	// them. Each counts as unfinishedCosts times the slowest of the pool. It is 0 or 1 for each row today, and a number
	// because a result could have several.
	Unfinished int
	EndedAt    time.Time
}

// TableName is the table's.
func (Retained) TableName() string { return "retained" }

// Why is the end of a run whose measurement is retained.
type Why string

// The reasons.
const (
	Cancelled   Why = "cancelled"
	Failed      Why = "failed"
	Deleted     Why = "deleted"
	Unconfirmed Why = "unconfirmed" // a leg of a confirmation failed: nothing is measured, and runs of that source are held back
)

// Withhold has runs of a run's source held back until someone has looked: its confirmation failed.
func Withhold(tx *gorm.DB, runID int64, at time.Time) error {
	r := Retained{Why: Unconfirmed, EndedAt: at, RunID: runID}
	err := tx.Table("runs").Select("version_id, device, user_id, epoch_id").Where("id = ?", runID).Take(&r).Error
	if err != nil {
		return db.ReadError(err, "run %d", runID)
	}
	return Retain(tx, r)
}

// ofSource chooses what is said of a run's source being withheld, whatever software it was measured with.
func ofSource(tx *gorm.DB, runID int64) *gorm.DB {
	return tx.Model(&Retained{}).Where("why = ? and (user_id, version_id, device, source_key) in (select r.user_id, r.version_id, r.device, s.source_key from runs r join submissions s on s.id = r.submission_id where r.id = ?)",
		Unconfirmed, runID)
}

// Withheld reports whether runs of a run's source are held back.
func Withheld(tx *gorm.DB, runID int64) (bool, error) {
	var n int64
	err := ofSource(tx, runID).Limit(1).Count(&n).Error
	return n > 0, db.ReadError(err, "whether run %d is held back", runID)
}

// Release ends that.
func Release(tx *gorm.DB, runID int64) error {
	return db.WriteError(ofSource(tx, runID).Delete(&Retained{}).Error, "source of run %d", runID)
}

// source is what a pool belongs to, apart from person and board.
type source struct {
	key   string
	epoch int64
}

// Retain keeps r, whose source key is that of its run.
func Retain(tx *gorm.DB, r Retained) error {
	// Less than a nanosecond cannot have been measured, and 0 would make the geometric mean of a pool 0.
	if r.shape() == 0 || slices.ContainsFunc(slices.Concat(r.Cases...), func(ns float64) bool { return ns < 1 }) {
		r.Cases = [][]float64{} // no worker of ours says that
	}
	err := tx.Table("submissions s").Joins("join runs r on r.submission_id = s.id").Where("r.id = ?", r.RunID).Limit(1).Pluck("s.source_key", &r.SourceKey).Error
	if err != nil || r.SourceKey == "" { // from before sources were compared
		return db.ReadError(err, "source of run %d", r.RunID)
	}
	// Unique by (run, reason): a submission that is deleted after one of its runs failed leaves two rows, of different
	// runs.
	err = tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&r).Error
	return db.WriteError(err, "what run %d measured", r.RunID)
}

// RetainSubmission keeps what the valid runs of a submission measured that its person is about to delete.
// Fixed numbers need no row: they came from a confirmation, whose legs stay. Numbers that runs of other submissions share
// (ByRun) stay with these.
func RetainSubmission(tx *gorm.DB, submissionID int64) error {
	var runs []Retained
	err := tx.Table("runs").Select("id as run_id, version_id, device, user_id, epoch_id, ended_at").Where("submission_id = ? and "+boards.ValidRun, submissionID).Scan(&runs).Error
	if err != nil {
		return db.ReadError(err, "the valid runs of submission %d", submissionID)
	}
	for _, r := range runs {
		m, err := MeasurementOf(tx, r.RunID)
		if err != nil {
			return err
		}
		stays, err := m.others(tx, submissionID)
		if err != nil {
			return err
		}
		if m.Fixed || m.shape() == 0 || stays {
			continue
		}
		r.Why, r.Cases = Deleted, m.Cases
		if err := Retain(tx, r); err != nil {
			return err
		}
	}
	return nil
}

// retainedOf reads what is retained of a person on a board, by source.
func retainedOf(tx *gorm.DB, versionID int64, device string, userID int64) (map[source][]Retained, error) {
	var list []Retained
	err := tx.Where("user_id = ? and version_id = ? and device = ? and why <> ?", userID, versionID, device, Unconfirmed).Order("id").Find(&list).Error
	of := map[source][]Retained{}
	for _, r := range list {
		k := source{r.SourceKey, r.EpochID}
		of[k] = append(of[k], r)
	}
	return of, db.ReadError(err, "what is retained of person %d", userID)
}

// shape is the number of cases, as for a Measurement; 0 if one lacks processes.
func (r Retained) shape() int { return Measurement{Cases: r.Cases}.shape() }

// fits reports whether it can be pooled with runs of so many cases.
func (r Retained) fits(cases int) bool { return len(r.Cases) == 0 || r.shape() == cases }

// unfinishedCosts is more than what units of one device differ by: else anyone who ends processes on a slow unit, in a pool that was
// measured on a quick one, would lose little.
// Raised, an honest crash costs its person more; lowered to 1, ending slow processes would pay again.
const unfinishedCosts = 2

// withRetained adds retained processes to those of valid runs.
func withRetained(runs [][][]float64, retained []Retained) [][][]float64 {
	unfinished := 0
	for _, r := range retained {
		unfinished += r.Unfinished
		if len(r.Cases) > 0 {
			runs = append(runs, r.Cases)
		}
	}
	if unfinished == 0 {
		return runs
	}
	// The caller has left out runs with other cases (leaveOthers), so that all runs have as many cases as the first.
	slow := make([][]float64, len(runs[0]))
	for i := range slow {
		slowest := 0.0
		for _, run := range runs {
			for _, ns := range run[i] {
				slowest = max(slowest, ns)
			}
		}
		for range unfinished {
			slow[i] = append(slow[i], unfinishedCosts*slowest)
		}
	}
	return append(runs, slow)
}
