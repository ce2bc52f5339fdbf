package samples

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"

	"warpboard/models/boards"
	"warpboard/models/db"
	"warpboard/models/work"
	"warpboard/tasks"
)

// sampleSetKey identifies samples of a board that count together. Samples of different epochs do not, because new software
// may change the speed of a kernel.
type sampleSetKey struct {
	userID    int64 // 0: samples of confirmations, which count for every person
	sourceKey string
	epochID   int64
}

// scoreColumns has the columns of a run that are computed from samples.
type scoreColumns struct {
	Score               `gorm:"embedded"`
	EpochID             int64
	RepresentativeRunID *int64 `gorm:"column:pool_id"` // run that is on the board for this one and others of its source
	ScoredAt            time.Time
}

// scoreColumnNames lists the database columns of scoreColumns.
const scoreColumnNames = "score_ns, std_ns, err_ns, clock, interval_low, interval_high, processes, noisy, roof, disturbed, " +
	"pooled, was_ns, epoch_id, pool_id, scored_at"

// scoredRun is a person's run on a board with its scoreColumns.
type scoredRun struct {
	ID           int64
	UserID       int64
	SourceKey    string
	EndedAt      time.Time
	IsValid      bool         `gorm:"column:valid"`
	ScoreColumns scoreColumns `gorm:"embedded"`
	ownSample    *Sample      // sample of the run's own measurement; nil if it is not stored
}

func (m scoredRun) isOnBoard() bool {
	return m.ScoreColumns.RepresentativeRunID != nil && *m.ScoreColumns.RepresentativeRunID == m.ID
}

// ownScoreColumns returns the columns of a run that counts alone, or not at all.
func (m scoredRun) ownScoreColumns() scoreColumns {
	if m.ownSample != nil {
		return scoreColumns{
			Score:    Score{MeasuredValues: m.ownSample.MeasuredValues},
			EpochID:  m.ownSample.EpochID,
			ScoredAt: m.EndedAt,
		}
	}
	now := m.ScoreColumns
	now.RepresentativeRunID, now.SampleCount, now.BeforeConfirmationNS = nil, 0, nil
	return now
}

// UpdateScores computes the scores of a person's runs on a board from samples: for the source of one run, or for all
// sources if runID is 0.
//
// It must run in the transaction of the change, and before entries are updated. It writes only runs that change, so it
// can be repeated. With runID 0 it reads all valid runs of the person on the board, which may be thousands; therefore
// the end of a run passes its ID.
func UpdateScores(tx *gorm.DB, versionID int64, device string, userID, runID int64) error {
	changed, err := runsWithChangedScores(tx, versionID, device, []int64{userID}, runID)
	for _, m := range changed {
		if err == nil {
			err = tx.Table("runs").Where("id = ?", m.ID).Select(strings.Split(scoreColumnNames, ", ")).Updates(&m.ScoreColumns).Error
			err = db.WriteError(err, "score of run %d", m.ID)
		}
	}
	return err
}

// runsWithChangedScores returns the runs of people on a board whose scores differ from those of their samples, with the
// new columns.
func runsWithChangedScores(
	tx *gorm.DB, versionID int64, device string, users []int64, runID int64,
) (changed []scoredRun, err error) {
	members, err := readScoredRuns(tx, versionID, device, users, runID)
	if err != nil || len(members) == 0 {
		return nil, err
	}
	samples, err := samplesOf(tx, versionID, device, users, runID)
	if err != nil {
		return nil, err
	}
	counting, own, newest := map[sampleSetKey][]Sample{}, map[int64]*Sample{}, map[int64]int64{}
	for i, s := range samples {
		k := sampleSetKey{s.UserID, s.SourceKey, s.EpochID}
		switch {
		case s.Purpose == work.PurposeConfirm:
			k.userID = 0
		case s.Purpose == work.PurposeSubmitted:
			own[s.RunID] = &samples[i].Sample
		}
		if s.CountsNow {
			counting[k], newest[s.RunID] = append(counting[k], s.Sample), max(newest[s.RunID], s.EpochID)
		}
	}
	groups := map[sampleSetKey][]scoredRun{}
	for _, m := range members {
		m.ownSample = own[m.ID]
		if !m.IsValid {
			changed = m.appendIfChanged(changed, m.ownScoreColumns())
			continue
		}
		// A run counts in the newest epoch in which it was measured, originally or by a rerun.
		k := sampleSetKey{m.UserID, m.SourceKey, cmp.Or(newest[m.ID], m.ownScoreColumns().EpochID)}
		groups[k] = append(groups[k], m)
	}
	var rankings map[int64]tasks.Ranking
	for k, group := range groups {
		samples := append(counting[k], counting[sampleSetKey{0, k.sourceKey, k.epochID}]...)
		if len(group) == 1 && len(samples) == 1 && samples[0].MeasuredByRun == group[0].ID {
			changed = group[0].appendIfChanged(changed, group[0].ownScoreColumns())
			continue
		}
		if rankings == nil {
			if rankings, err = RankingRulesOf(tx, versionID); err != nil {
				return nil, err
			}
		}
		changed = scoreEqualSources(changed, group, k.epochID, samples, rankings[versionID])
	}
	return changed, nil
}

// scoreEqualSources computes the common score of valid runs with the same source, and appends the runs that change. One
// run represents them on the board: the one that already did, so that links, profiles, and notes stay with one run, or
// else the first.
func scoreEqualSources(changed, group []scoredRun, epochID int64, samples []Sample, ranking tasks.Ranking) []scoredRun {
	stands := group[0]
	if at := slices.IndexFunc(group, scoredRun.isOnBoard); at >= 0 {
		stands = group[at]
	}
	score := ScoreOf(samples, ranking)
	for _, m := range group {
		now := m.ownScoreColumns()
		now.RepresentativeRunID, now.EpochID = &stands.ID, epochID
		if m.ID == stands.ID && score.ScoreNS > 0 {
			// Without an earlier score in this epoch, the score before the confirmation is the run's own.
			if score.BeforeConfirmationNS != nil && *score.BeforeConfirmationNS == 0 {
				was := now.ScoreNS
				score.BeforeConfirmationNS = &was
			}
			now.Score, now.ScoredAt = score, scoreAchievedAt(samples, ranking, group[0].EndedAt)
		}
		changed = m.appendIfChanged(changed, now)
	}
	return changed
}

// appendIfChanged appends the run with the new columns if they differ from the stored ones.
func (m scoredRun) appendIfChanged(changed []scoredRun, now scoreColumns) []scoredRun {
	now.ScoredAt = db.NormalizeTime(now.ScoredAt)
	if m.ScoreColumns.ScoredAt = db.NormalizeTime(m.ScoreColumns.ScoredAt); reflect.DeepEqual(now, m.ScoreColumns) {
		return changed
	}
	m.ScoreColumns = now
	return append(changed, m)
}

// readScoredRuns reads the valid runs of people on a board, by time of end, and runs that are no longer valid but still
// share a score with other runs of their source.
func readScoredRuns(
	tx *gorm.DB, versionID int64, device string, users []int64, runID int64,
) (members []scoredRun, err error) {
	// Two queries are used, because the first condition must repeat the text of the partial index runs_valid, which a
	// query with "or" could not use.
	for _, condition := range []string{boards.ValidRunSQL, "pool_id is not null and not (" + boards.ValidRunSQL + ")"} {
		theirs := tx.Table("runs").Where("version_id = ? and device = ? and user_id in ? and "+condition, versionID, device, users)
		q := tx.Table("(?) r", theirs).Joins("join submissions s on s.id = r.submission_id").
			Select("r.id, r.user_id, r.ended_at, s.source_key, r." + strings.ReplaceAll(scoreColumnNames, ", ", ", r."))
		if runID != 0 {
			q = q.Where("s.source_key = (select o.source_key from submissions o join runs x on x.submission_id = o.id where x.id = ?)", runID)
		}
		var list []scoredRun
		if err := q.Order("r.ended_at, r.id").Scan(&list).Error; err != nil {
			return nil, db.ReadError(err, "the runs of people %v by their sources", users)
		}
		for _, m := range list {
			m.IsValid = condition == boards.ValidRunSQL
			members = append(members, m)
		}
	}
	return members, nil
}

// boardSample is a sample with the information whether it counts now.
type boardSample struct {
	Sample    `gorm:"embedded"`
	CountsNow bool `gorm:"column:open"`
}

// samplesOf reads the samples of people on a board, oldest first, and the turns of confirmations for their sources.
// Samples of a run that is disqualified or held do not count.
func samplesOf(
	tx *gorm.DB, versionID int64, device string, users []int64, runID int64,
) (list []boardSample, err error) {
	sources := tx.Table("submissions").Select("source_key").Where("version_id = ? and user_id in ?", versionID, users)
	if runID != 0 {
		sources = sources.Where("id = (select submission_id from runs where id = ?)", runID)
	}
	err = tx.Table("samples s").Joins("left join runs r on r.id = s.by_run and s.purpose = ?", work.PurposeSubmitted).
		Select("s.*, s.aside_at is null and (r.id is null or r.disqualified_at is null and r.held_why = '') as open").
		Where("s.version_id = ? and s.device = ? and s.source_key in (?)", versionID, device, sources).
		Where("(s.user_id in ? or s.purpose = ?)", users,
			work.PurposeConfirm).Order("s.ended_at, s.id").Scan(&list).Error
	return list, db.ReadError(err, "what was measured of people %v", users)
}

// peoplePerRebuild is the number of people whose runs and samples on a board RebuildScores reads at a time.
const peoplePerRebuild = 500

// RebuildScores recomputes the scores of all runs from samples. It collects changed runs in a table and writes them
// with one statement, because a statement for each run is slow.
func RebuildScores(tx *gorm.DB) error {
	columns := strings.Split(scoreColumnNames, ", ")
	err := tx.Exec("create temporary table changed_runs as select id, " + scoreColumnNames + " from runs where false").Error
	var all []boards.Entry
	if err == nil {
		err = tx.Table("runs").Distinct("version_id", "device", "user_id").Where(boards.ValidRunSQL + " or pool_id is not null").
			Order("version_id, device, user_id").Scan(&all).Error
	}
	if err != nil {
		return db.ReadError(err, "people whose runs count")
	}
	for len(all) > 0 {
		first, users := all[0], []int64{}
		for len(all) > 0 && len(users) < peoplePerRebuild && all[0].VersionID == first.VersionID && all[0].Device == first.Device {
			users, all = append(users, all[0].UserID), all[1:]
		}
		changed, err := runsWithChangedScores(tx, first.VersionID, first.Device, users, 0)
		if err == nil {
			err = tx.Table("changed_runs").Select(append([]string{"id"}, columns...)).CreateInBatches(changed, 500).Error
		}
		if err != nil {
			return db.WriteError(err, "changed scores on %s", first.Device)
		}
	}
	err = tx.Exec("update runs set (" + scoreColumnNames + ") = (c." + strings.Join(columns, ", c.") + ") from changed_runs c where c.id = runs.id").Error
	if err == nil {
		err = tx.Exec("drop table changed_runs").Error
	}
	return db.WriteError(err, "changed scores")
}

// RankingRulesOf returns the rules for computing scores, by version ID.
func RankingRulesOf(tx *gorm.DB, versions ...int64) (map[int64]tasks.Ranking, error) {
	var list []struct {
		ID         int64
		Definition tasks.Definition `gorm:"serializer:json"`
	}
	err := tx.Table("task_versions").Select("id, definition").Where("id in ?", versions).Find(&list).Error
	of := map[int64]tasks.Ranking{}
	for _, v := range list {
		of[v.ID] = v.Definition.RankingBy
	}
	return of, db.ReadError(err, "the rankings of versions")
}
