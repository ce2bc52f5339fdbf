package pools

import (
	"cmp"
	"math"
	"slices"
	"time"

	"gorm.io/gorm"

	"warpboard/evaluator/harness"
	"warpboard/models/boards"
	"warpboard/models/db"
	"warpboard/tasks"
)

// Leg is one leg's measurement of a source in a confirmation. All legs of a source on a board and epoch count together, in
// all confirmations and for every sender: a source that is challenged repeatedly has the median of all, and so have equal
// sources of two people.
//
// Unlike a run it has no owner: its row names the source and outlives the runs, and a copied kernel has the same legs. Rows
// are only added (AddLegs), and all of a source and epoch dropped together (ForgetLegs).
type Leg struct {
	ID        int64
	VersionID int64
	Device    string
	EpochID   int64
	SourceKey string
	RunID     int64
	ScoreNS   float64 `gorm:"column:score_ns"`
	StdNS     float64 `gorm:"column:std_ns"`
	ErrNS     float64 `gorm:"column:err_ns"`
	boards.Interval
	Disturbed string
	Cases     [][]float64 `gorm:"serializer:json"` // as a Measurement's; none: they were not kept
	CreatedAt time.Time   // when the confirmation began
}

// AddLegs keeps the legs of one side of a confirmation: of a run's source.
// Nothing keeps it from adding the same legs twice: the one caller ends the confirmation in the same transaction.
func AddLegs(tx *gorm.DB, runID int64, legs []Leg) error {
	if len(legs) == 0 {
		return nil
	}
	var key string
	err := tx.Table("submissions s").Joins("join runs r on r.submission_id = s.id").Where("r.id = ?", runID).Limit(1).Pluck("s.source_key", &key).Error
	if err != nil || key == "" {
		// Without a key (a source from before keys) no legs are kept, and nothing fails: the caller gives the numbers to
		// the run alone.
		return db.ReadError(err, "source of run %d", runID)
	}
	for i := range legs {
		legs[i].SourceKey = key
	}
	return db.WriteError(tx.Create(&legs).Error, "legs of run %d", runID)
}

// legsOf reads the legs of a board's sources that a person sent, by source.
func legsOf(tx *gorm.DB, versionID int64, device string, userID int64) (map[source][]Leg, error) {
	var list []Leg
	err := tx.Where("version_id = ? and device = ? and exists (select 1 from submissions s where s.version_id = legs.version_id and s.source_key = legs.source_key and s.user_id = ?)",
		versionID, device, userID).Order("id").Find(&list).Error
	of := map[source][]Leg{}
	for _, l := range list {
		k := source{l.SourceKey, l.EpochID}
		of[k] = append(of[k], l)
	}
	return of, db.ReadError(err, "legs of a board")
}

// LegsOf reads the legs of a run's source, with the run's epoch; none: it was never confirmed.
func LegsOf(tx *gorm.DB, runID int64) (list []Leg, err error) {
	err = tx.Table("legs l").Select("l.*").Joins("join runs r on r.version_id = l.version_id and r.device = l.device and r.epoch_id = l.epoch_id").
		Joins("join submissions s on s.id = r.submission_id and s.source_key = l.source_key").Where("r.id = ?", runID).Order("l.id").Find(&list).Error
	return list, db.ReadError(err, "legs of run %d", runID)
}

// Senders lists the people who have ranked runs of a run's source on its board, the run's own person first.
func Senders(tx *gorm.DB, runID int64) (users []int64, err error) {
	err = tx.Table("runs").Where("id = ?", runID).Pluck("user_id", &users).Error
	var others []int64
	if err == nil {
		err = tx.Table("runs o").Joins("join submissions s on s.id = o.submission_id").Joins("join submissions e on e.version_id = s.version_id and e.source_key = s.source_key and e.source_key <> ''").
			Joins("join runs r on r.submission_id = e.id and r.device = o.device and r.score_ns is not null and r.profile_of is null and r.user_id <> o.user_id").
			Where("o.id = ?", runID).Distinct().Pluck("r.user_id", &others).Error
	}
	return append(users, others...), db.ReadError(err, "people with the source of run %d", runID)
}

// ForgetLegs lets the numbers of a rejudge count instead of those of a source's confirmations.
func ForgetLegs(tx *gorm.DB, runID, epochID int64) error {
	err := tx.Where("epoch_id = ? and (version_id, device, source_key) in (select r.version_id, r.device, s.source_key from runs r join submissions s on s.id = r.submission_id where r.id = ?)",
		epochID, runID).Delete(&Leg{}).Error
	return db.WriteError(err, "legs of run %d", runID)
}

// Together is the score of legs of one source: their median, which one leg beside an unseen neighbour moves by little. Its
// interval is that of all their processes, as in a pool; if a leg lacks processes, the one that contains the intervals of
// all legs.
func Together(ranking tasks.Ranking, legs []Leg) Measurement {
	all := Measurement{Fixed: true, Cases: [][]float64{}}
	logs, cases, measured := make([]float64, len(legs)), make([][][]float64, len(legs)), true
	n := float64(len(legs))
	for i, leg := range legs {
		// Logarithms: the middle of two scores is their geometric mean, which is the same whether time or speed is
		// compared.
		logs[i], cases[i] = math.Log(leg.ScoreNS), leg.Cases
		// One leg whose cases are missing, or do not fit its count of processes, makes the hull of all intervals the
		// answer.
		measured = measured && leg.Processes > 0 && Measurement{Cases: leg.Cases}.shape() > 0 && len(leg.Cases[0]) == leg.Processes
		all.StdNS += leg.StdNS / n
		all.ErrNS += leg.ErrNS / n
		all.Disturbed = cmp.Or(all.Disturbed, leg.Disturbed)
	}
	slices.Sort(logs)
	all.ScoreNS = math.Exp((logs[len(logs)/2] + logs[(len(logs)-1)/2]) / 2)
	all.Interval = hull(legs)
	if measured {
		if _, i, err := harness.CombineRuns(ranking, cases); err == nil { // else a worker sent another number of cases
			// The score is a median of legs, the interval one of all processes: the first may lie outside the second by a
			// little.
			low, high := min(i.Low, all.ScoreNS), max(i.High, all.ScoreNS)
			all.Interval = boards.Interval{LowNS: &low, HighNS: &high, Processes: i.Processes, Noisy: i.Noisy}
		}
	}
	return all
}

// Make reports whether a score is the one that legs make together.
func Make(ranking tasks.Ranking, legs []Leg, ns float64) bool {
	return len(legs) > 0 && math.Abs(Together(ranking, legs).ScoreNS-ns) <= rounding*ns
}

// CaseTogether is one case of legs, made as their score is: the median of the legs with the interval of all their processes. each has
// its time in every leg; nil: a leg lacks the case.
func CaseTogether(legs []Leg, at int) (all Measurement, each []float64) {
	alone := make([]Leg, len(legs))
	for i, leg := range legs {
		if at >= len(leg.Cases) {
			return all, nil
		}
		alone[i] = Leg{Cases: leg.Cases[at : at+1], Interval: boards.Interval{Processes: leg.Processes}}
		ns, _, err := harness.CombineRuns(tasks.RankGeom, [][][]float64{alone[i].Cases})
		if err != nil {
			return all, nil
		}
		alone[i].ScoreNS = ns
		each = append(each, ns)
	}
	return Together(tasks.RankGeom, alone), each
}

// hull is the interval that holds those of all legs.
func hull(legs []Leg) (all boards.Interval) {
	for _, leg := range legs {
		all.Processes += leg.Processes
		all.Noisy = all.Noisy || leg.Noisy
		low, high := leg.ScoreNS, leg.ScoreNS
		if leg.LowNS != nil && leg.HighNS != nil {
			low, high = min(low, *leg.LowNS), max(high, *leg.HighNS)
		}
		if all.LowNS == nil || low < *all.LowNS {
			all.LowNS = &low
		}
		if all.HighNS == nil || high > *all.HighNS {
			all.HighNS = &high
		}
	}
	return all
}
