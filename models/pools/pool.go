package pools

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"gorm.io/gorm"

	"warpboard/evaluator/harness"
	"warpboard/models/boards"
	"warpboard/models/db"
	"warpboard/tasks"
)

// member is a run of a person on a board, as far as pools are concerned.
type member struct {
	ID        int64
	EpochID   int64
	SourceKey string
	PoolID    *int64 // run that stands for its pool now
	EndedAt   time.Time
	Counts    bool // it is valid
}

func (m member) stands() bool { return m.PoolID != nil && *m.PoolID == m.ID }

// Update pools the runs of a person on a board anew: those of the source of one run, or of all sources where runID is 0.
func Update(tx *gorm.DB, versionID int64, device string, userID, runID int64) error {
	members, err := membersOf(tx, versionID, device, userID, runID)
	if err != nil {
		return err
	}
	type key struct {
		source string
		epoch  int64
	}
	groups := map[key][]member{}
	var order []key
	for _, m := range members {
		if !m.Counts || m.SourceKey == "" {
			if err := m.leave(tx); err != nil {
				return err
			}
			continue
		}
		k := key{m.SourceKey, m.EpochID}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], m)
	}
	for _, k := range order {
		if err := pool(tx, groups[k]); err != nil {
			return err
		}
	}
	return nil
}

// membersOf reads the valid runs of a person on a board, and those that are in a pool and not valid any more.
func membersOf(tx *gorm.DB, versionID int64, device string, userID, runID int64) (members []member, err error) {
	read := func(condition string, counts bool) {
		if err != nil {
			return
		}
		theirs := tx.Table("runs").Where("version_id = ? and device = ? and user_id = ? and "+condition, versionID, device, userID)
		q := tx.Table("(?) r", theirs).Select("r.id, r.epoch_id, r.pool_id, r.ended_at, s.source_key").Joins("join submissions s on s.id = r.submission_id")
		if runID != 0 {
			q = q.Where("s.source_key = (select o.source_key from submissions o join runs x on x.submission_id = o.id where x.id = ?)", runID)
		}
		var list []member
		err = q.Order("r.ended_at, r.id").Scan(&list).Error
		for _, m := range list {
			m.Counts = counts
			members = append(members, m)
		}
	}
	read(boards.ValidRun, true)
	read("pool_id is not null and not ("+boards.ValidRun+")", false)
	return members, db.ReadError(err, "the runs of person %d by their sources", userID)
}

// leave gives a run that is alone its own numbers back.
func (m member) leave(tx *gorm.DB) error {
	if m.PoolID == nil {
		return nil
	}
	return m.restore(tx, nil)
}

// restore gives a run its own numbers back, in the pool of another or in none.
func (m member) restore(tx *gorm.DB, poolID *int64) error {
	own, err := Of(tx, m.ID)
	if err != nil {
		return err
	}
	return own.Set(tx, map[string]any{"pool_id": poolID, "pooled": 0})
}

// pool makes one score of valid runs of equal sources in one epoch. The run that stands for them is the one that was
// confirmed, or that does so already, or the first.
func pool(tx *gorm.DB, members []member) error {
	if len(members) == 1 {
		return members[0].leave(tx)
	}
	measured, err := ofAll(tx, members)
	if err != nil {
		return err
	}
	if members, err = leaveOthers(tx, members, measured); err != nil || len(members) < 2 {
		return err
	}
	first := slices.MinFunc(members, func(a, b member) int {
		return cmp.Or(-compare(measured[a.ID].Fixed, measured[b.ID].Fixed), -compare(a.stands(), b.stands()), a.EndedAt.Compare(b.EndedAt), cmp.Compare(a.ID, b.ID))
	})
	for _, m := range members {
		if m.ID == first.ID || m.PoolID != nil && *m.PoolID == first.ID {
			continue
		}
		if err := m.restore(tx, &first.ID); err != nil {
			return err
		}
	}
	return first.stand(tx, measured, members)
}

// leaveOthers takes out what cannot be pooled with most: a result of other cases, or of a different number of processes for
// each of them. No worker of ours sends one; whatever another sent, results are recorded.
func leaveOthers(tx *gorm.DB, members []member, measured map[int64]Measurement) (same []member, err error) {
	most, counts := -1, map[int]int{}
	for _, m := range members {
		shape := measured[m.ID].shape()
		if counts[shape]++; shape > 0 && counts[shape] > counts[most] {
			most = shape
		}
	}
	for _, m := range members {
		if shape := measured[m.ID].shape(); shape == most || measured[m.ID].Fixed {
			same = append(same, m)
		} else if err := m.leave(tx); err != nil {
			return nil, err
		}
	}
	if len(same) == 1 {
		return nil, same[0].leave(tx)
	}
	return same, nil
}

// shape is the number of cases; 0 where there are none, or some have more processes than others.
func (m Measurement) shape() int {
	for _, processes := range m.Cases {
		if len(processes) == 0 || len(processes) != len(m.Cases[0]) {
			return 0
		}
	}
	return len(m.Cases)
}

// ofAll reads what the members count with, by their ids.
func ofAll(tx *gorm.DB, members []member) (map[int64]Measurement, error) {
	ids := make([]int64, len(members))
	for i, m := range members {
		ids[i] = m.ID
	}
	var list []Measurement
	if err := tx.Where("run_id in ?", ids).Find(&list).Error; err != nil {
		return nil, db.ReadError(err, "measurements of runs %v", ids)
	}
	measured := make(map[int64]Measurement, len(members))
	for _, m := range list {
		measured[m.RunID] = m
	}
	for _, id := range ids {
		if _, known := measured[id]; known {
			continue
		}
		own, err := Of(tx, id)
		if err != nil {
			return nil, err
		}
		measured[id] = own
	}
	return measured, nil
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

// stand gives the run that stands for a pool the pool's numbers.
func (m member) stand(tx *gorm.DB, measured map[int64]Measurement, members []member) error {
	score, pooled := measured[m.ID], 0
	if !score.Fixed {
		ranking, err := rankingOf(tx, m.ID)
		if err != nil {
			return err
		}
		list := []Measurement{score}
		for _, other := range members {
			if other.ID != m.ID {
				list = append(list, measured[other.ID])
			}
		}
		if score, err = together(ranking, list); err != nil {
			return fmt.Errorf("pooling with run %d: %w", m.ID, err)
		}
		pooled = len(list)
	}
	values := score.values()
	values["pool_id"], values["pooled"] = m.ID, pooled
	err := tx.Table("runs").Where("id = ?", m.ID).Updates(values).Error
	return db.WriteError(err, "score of run %d", m.ID)
}

// together is the score of several measurements of one source: that of all their processes, by the rule and with the
// interval of one run's. How near it is to the roof follows from the first.
func together(ranking tasks.Ranking, list []Measurement) (Measurement, error) {
	all, n := list[0], float64(len(list))
	runs := make([][][]float64, len(list))
	measured, std, stderr := true, 0.0, 0.0
	for i, m := range list {
		runs[i] = m.Cases
		measured = measured && m.Processes > 0
		std, stderr = std+m.StdNS/n, stderr+m.ErrNS/n
		all.Clock = clocks(all.Clock, m.Clock)
	}
	all.Disturbed = disturbed(list)
	ns, interval, err := harness.Pool(ranking, runs)
	if err != nil {
		return all, err
	}
	if all.Roof != nil {
		roof := *all.Roof * all.ScoreNS / ns
		all.Roof = &roof
	}
	all.ScoreNS, all.StdNS, all.ErrNS, all.Interval = ns, std, stderr/math.Sqrt(n), boards.Interval{}
	if measured {
		all.Processes, all.Noisy = interval.Processes, interval.Noisy
		if interval.High > 0 {
			all.LowNS, all.HighNS = &interval.Low, &interval.High
		}
	}
	return all, nil
}

// disturbed says how many of several runs were measured under bad conditions, and why one of them.
func disturbed(list []Measurement) string {
	n, why := 0, ""
	for _, m := range list {
		if m.Disturbed != "" {
			n, why = n+1, m.Disturbed
		}
	}
	if n == 0 || len(list) == 1 {
		return why
	}
	return fmt.Sprintf("%d of %d runs: %s", n, len(list), why)
}

// rankingOf is the rule that the task of a run makes scores by.
func rankingOf(tx *gorm.DB, runID int64) (tasks.Ranking, error) {
	var text string
	err := tx.Table("task_versions").Where("id = (select version_id from runs where id = ?)", runID).Limit(1).Pluck("definition", &text).Error
	var definition tasks.Definition
	if err == nil {
		err = json.Unmarshal([]byte(text), &definition)
	}
	return definition.RankingBy, db.ReadError(err, "the task of run %d", runID)
}
