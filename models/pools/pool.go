package pools

import (
	"cmp"
	"encoding/json"
	"reflect"
	"slices"
	"time"

	"gorm.io/gorm"

	"warpboard/models/boards"
	"warpboard/models/db"
	"warpboard/models/work"
	"warpboard/tasks"
)

// source identifies samples that count together, apart from person and board. Another epoch is another source: software that makes
// a kernel quicker must not be averaged with what it was before.
type source struct {
	key   string
	epoch int64
}

// row is the part of a run's row that follows from samples.
type row struct {
	Score    `gorm:"embedded"`
	EpochID  int64
	PoolID   *int64 // run that stands for this one and others of its source
	Pooled   int
	ScoredAt time.Time
	WasNS    *float64 `gorm:"column:was_ns"` // the score without confirmations; nil: it comes from none
}

// rowColumns are those of a member.
const rowColumns = "r.id, r.ended_at, s.source_key, r.epoch_id, r.pool_id, r.pooled, r.scored_at, r.score_ns, r.std_ns, r.err_ns, r.clock, " +
	"r.was_ns, r.interval_low, r.interval_high, r.processes, r.noisy, r.roof, r.disturbed"

// equal compares what is in a row: Pooled and WasNS of Score are not.
func (a row) equal(b row) bool {
	same := a.ScoredAt.Equal(b.ScoredAt)
	a.ScoredAt, b.ScoredAt, a.Score.Pooled, b.Score.Pooled, a.Score.WasNS, b.Score.WasNS = time.Time{}, time.Time{}, 0, 0, nil, nil
	return same && reflect.DeepEqual(a, b)
}

// member is a run of a person on a board, as far as pools are concerned.
type member struct {
	ID        int64
	SourceKey string
	EndedAt   time.Time
	Valid     bool
	Row       row     `gorm:"embedded"`
	own       *Sample // what it measured itself; nil: that is not kept
}

func (m member) stands() bool { return m.Row.PoolID != nil && *m.Row.PoolID == m.ID }

// ownRow returns the row of a run that counts alone, or not at all.
func (m member) ownRow() row {
	if m.own != nil {
		return row{Score: m.own.Score, EpochID: m.own.EpochID, ScoredAt: m.EndedAt}
	}
	now := m.Row
	now.PoolID, now.Pooled, now.WasNS = nil, 0, nil
	return now
}

// Update scores the runs of a person on a board by their samples: those of the source of one run, or of all sources where runID
// is 0.
//
// It must run inside Write, after the change, and before entries are made of runs. It writes to runs, not to boards, and only
// what has changed: it can be repeated at any time. With runID 0 it reads all valid runs of the person on the board, which may
// be thousands; so the end of a run names the run.
func Update(tx *gorm.DB, versionID int64, device string, userID, runID int64) error {
	members, err := membersOf(tx, versionID, device, userID, runID)
	if err != nil || len(members) == 0 {
		return err
	}
	samples, err := samplesOf(tx, versionID, device, userID, runID)
	if err != nil {
		return err
	}
	counting, own, newest := map[source][]Sample{}, map[int64]*Sample{}, map[int64]int64{}
	for i, s := range samples {
		if s.ByRun == s.RunID && s.Purpose == work.Submitted {
			own[s.RunID] = &samples[i].Sample
		}
		if s.Open {
			k := source{s.SourceKey, s.EpochID}
			counting[k], newest[s.RunID] = append(counting[k], s.Sample), max(newest[s.RunID], s.EpochID)
		}
	}
	groups := map[source][]member{}
	for _, m := range members {
		m.own = own[m.ID]
		if !m.Valid {
			if err := m.store(tx, m.ownRow()); err != nil {
				return err
			}
			continue
		}
		// A run counts with the newest software with which it was measured, by itself or again.
		k := source{m.SourceKey, cmp.Or(newest[m.ID], m.ownRow().EpochID)}
		groups[k] = append(groups[k], m)
	}
	ranking, read := tasks.Ranking(""), false
	for k, group := range groups {
		if len(group) == 1 && len(counting[k]) == 1 && counting[k][0].ByRun == group[0].ID {
			if err := group[0].store(tx, group[0].ownRow()); err != nil {
				return err
			}
			continue
		}
		if !read {
			if ranking, err = RankingOf(tx, group[0].ID); err != nil {
				return err
			}
			read = true
		}
		if err := pool(tx, group, k.epoch, counting[k], ranking); err != nil {
			return err
		}
	}
	return nil
}

// pool makes one score of valid runs of a source. One of them stands for it: the one that does so already, so that links,
// profiles and notes of an entry stay with one run, or the first.
func pool(tx *gorm.DB, group []member, epochID int64, samples []Sample, ranking tasks.Ranking) error {
	stands := slices.MinFunc(group, func(a, b member) int {
		return cmp.Or(compare(b.stands(), a.stands()), a.EndedAt.Compare(b.EndedAt), cmp.Compare(a.ID, b.ID))
	})
	score := ScoreOf(samples, ranking)
	for _, m := range group {
		now := m.ownRow()
		now.PoolID, now.EpochID = &stands.ID, epochID
		if m.ID == stands.ID && score.ScoreNS > 0 {
			if score.WasNS != nil {
				was := cmp.Or(*score.WasNS, now.ScoreNS) // where nothing came before, it is the run's own
				now.WasNS = &was
			}
			now.Score, now.Pooled, now.ScoredAt = score, score.Pooled, achievedAt(samples, ranking, group[0].EndedAt)
		}
		if err := m.store(tx, now); err != nil {
			return err
		}
	}
	return nil
}

func compare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// store writes the run's row if it changes.
func (m member) store(tx *gorm.DB, now row) error {
	if now.equal(m.Row) {
		return nil
	}
	err := tx.Table("runs").Where("id = ?", m.ID).Updates(map[string]any{"score_ns": now.ScoreNS, "std_ns": now.StdNS, "err_ns": now.ErrNS, "clock": now.Clock,
		"interval_low": now.LowNS, "interval_high": now.HighNS, "processes": now.Processes, "noisy": now.Noisy, "roof": now.Roof, "disturbed": now.Disturbed,
		"epoch_id": now.EpochID, "pool_id": now.PoolID, "pooled": now.Pooled, "scored_at": db.Time(now.ScoredAt), "was_ns": now.WasNS}).Error
	return db.WriteError(err, "score of run %d", m.ID)
}

// membersOf reads the valid runs of a person on a board, the first that ended first, and those that are in a pool and not
// valid any more.
func membersOf(tx *gorm.DB, versionID int64, device string, userID, runID int64) (members []member, err error) {
	// Two queries: the first condition is that of the partial index runs_valid, in its own words, and one query with "or"
	// could not use it.
	for _, condition := range []string{boards.ValidRun, "pool_id is not null and not (" + boards.ValidRun + ")"} {
		theirs := tx.Table("runs").Where("version_id = ? and device = ? and user_id = ? and "+condition, versionID, device, userID)
		q := tx.Table("(?) r", theirs).Select(rowColumns).Joins("join submissions s on s.id = r.submission_id")
		if runID != 0 {
			q = q.Where("s.source_key = (select o.source_key from submissions o join runs x on x.submission_id = o.id where x.id = ?)", runID)
		}
		var list []member
		if err := q.Order("r.ended_at, r.id").Scan(&list).Error; err != nil {
			return nil, db.ReadError(err, "the runs of person %d by their sources", userID)
		}
		for _, m := range list {
			m.Valid = condition == boards.ValidRun
			members = append(members, m)
		}
	}
	return members, nil
}

// boardSample is a sample, and whether it counts now.
type boardSample struct {
	Sample `gorm:"embedded"`
	Open   bool
}

// samplesOf reads the samples of a person on a board, the oldest first, and those that confirmations have of the person's
// sources. What a run measured that is disqualified or held back does not count, as long as it is.
func samplesOf(tx *gorm.DB, versionID int64, device string, userID, runID int64) (list []boardSample, err error) {
	sources := tx.Table("submissions").Select("source_key").Where("version_id = ? and user_id = ?", versionID, userID)
	if runID != 0 {
		sources = sources.Where("id = (select submission_id from runs where id = ?)", runID)
	}
	err = tx.Table("samples s").Joins("left join runs r on r.id = s.by_run and s.purpose = ?", work.Submitted).
		Select("s.*, s.aside_at is null and (r.id is null or r.disqualified_at is null and r.held_why = '') as open").
		Where("s.version_id = ? and s.device = ? and s.source_key in (?) and (s.user_id = ? or s.purpose = ?)", versionID, device, sources, userID, work.Confirm).
		Order("s.ended_at, s.id").Scan(&list).Error
	return list, db.ReadError(err, "what was measured of person %d", userID)
}

// Rebuild does so for all people and boards: the rows of runs follow from samples, whatever was in them.
func Rebuild(tx *gorm.DB) error {
	var all []struct {
		VersionID, UserID int64
		Device            string
	}
	err := tx.Table("runs").Distinct("version_id", "device", "user_id").Where(boards.ValidRun + " or pool_id is not null").Scan(&all).Error
	if err != nil {
		return db.ReadError(err, "whose runs count")
	}
	for _, of := range all {
		if err := Update(tx, of.VersionID, of.Device, of.UserID, 0); err != nil {
			return err
		}
	}
	return nil
}

// RankingOf is the rule that the task of a run makes scores by.
func RankingOf(tx *gorm.DB, runID int64) (tasks.Ranking, error) {
	var text string
	err := tx.Table("task_versions").Where("id = (select version_id from runs where id = ?)", runID).Limit(1).Pluck("definition", &text).Error
	var definition tasks.Definition
	if err == nil {
		err = json.Unmarshal([]byte(text), &definition)
	}
	return definition.RankingBy, db.ReadError(err, "the task of run %d", runID)
}
