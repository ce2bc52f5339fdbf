package pools

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"gorm.io/gorm"

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

// Update pools the runs of a person on a board again: those of the source of one run, or of all sources where runID is 0.
//
// It must run inside Write, after the change, and before entries are made of runs. It writes to runs, not to boards, and
// repeating it changes nothing. With runID 0 it reads all valid runs of the person on the board, which may be thousands; so
// the end of a run names the run.
func Update(tx *gorm.DB, versionID int64, device string, userID, runID int64) error {
	members, err := membersOf(tx, versionID, device, userID, runID)
	if err != nil || len(members) == 0 {
		return err
	}
	retained, err := retainedOf(tx, versionID, device, userID)
	if err != nil {
		return err
	}
	legs, err := legsOf(tx, versionID, device, userID)
	if err != nil {
		return err
	}
	groups := map[source]*group{}
	var order []*group
	for _, m := range members {
		if !m.Counts || m.SourceKey == "" {
			if err := m.leave(tx); err != nil {
				return err
			}
			continue
		}
		// Another epoch is another pool: software that makes a kernel quicker must not be averaged with what it was
		// before.
		k := source{m.SourceKey, m.EpochID}
		if groups[k] == nil {
			groups[k] = &group{retained: retained[k], legs: legs[k]}
			order = append(order, groups[k])
		}
		groups[k].members = append(groups[k].members, m)
	}
	for _, g := range order {
		if err := g.pool(tx); err != nil {
			return err
		}
	}
	return nil
}

// group has the parts of one score: valid runs of a person's equal sources in one epoch, and the other measurements of that
// source. A group needs a valid run, even with retained measurements of its source: otherwise no run could stand on the
// board.
type group struct {
	members  []member // the first that ended first
	retained []Retained
	legs     []Leg // from all people: if there are any, only they make the score
}

// alone reports whether there is nothing to pool the only run with.
func (g *group) alone() bool { return len(g.members) == 1 && len(g.retained) == 0 && len(g.legs) == 0 }

// membersOf reads the valid runs of a person on a board, and those that are in a pool and not valid any more.
func membersOf(tx *gorm.DB, versionID int64, device string, userID, runID int64) (members []member, err error) {
	// Two queries: the first condition is that of the partial index runs_valid, in its own words, and one query with "or"
	// could not use it.
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
	own, err := MeasurementOf(tx, m.ID)
	if err != nil {
		return err
	}
	return own.Set(tx, map[string]any{"pool_id": poolID, "pooled": 0, "scored_at": db.Time(m.EndedAt)})
}

func (g *group) leave(tx *gorm.DB) error {
	for _, m := range g.members {
		if err := m.leave(tx); err != nil {
			return err
		}
	}
	return nil
}

// pool makes one score of the group. The run that stands for it is the one whose score was fixed, or that does so already, or
// the first.
func (g *group) pool(tx *gorm.DB) error {
	if g.alone() {
		return g.leave(tx)
	}
	measured, err := ofAll(tx, g.members)
	if err != nil {
		return err
	}
	if err := g.leaveOthers(tx, measured); err != nil {
		return err
	}
	if len(g.members) == 0 || g.alone() {
		return g.leave(tx)
	}
	// The choice is stable: who stood before stands on, so that links, profiles and notes of the entry stay with one run.
	first := slices.MinFunc(g.members, func(a, b member) int {
		return cmp.Or(-compare(measured[a.ID].Fixed, measured[b.ID].Fixed), -compare(a.stands(), b.stands()), a.EndedAt.Compare(b.EndedAt), cmp.Compare(a.ID, b.ID))
	})
	for _, m := range g.members {
		// It is in that pool already and has its own numbers. Who stood for another pool until now has the pool's, and
		// gets its own back.
		if m.ID == first.ID || m.PoolID != nil && *m.PoolID == first.ID {
			continue
		}
		if err := m.restore(tx, &first.ID); err != nil {
			return err
		}
	}
	return g.stand(tx, first, measured)
}

// leaveOthers takes out what cannot be pooled with most: a result of other cases, or of a different number of processes for
// each of them. No worker of ours sends one; whatever another sent, results are recorded. Legs need no cases.
func (g *group) leaveOthers(tx *gorm.DB, measured map[int64]Measurement) error {
	if len(g.legs) > 0 {
		return nil
	}
	// counts[-1] is 0, so that the first shape with a member wins over none. All shapes 0: only Fixed members stay.
	most, counts := -1, map[int]int{}
	for _, m := range g.members {
		shape := measured[m.ID].shape()
		if counts[shape]++; shape > 0 && counts[shape] > counts[most] {
			most = shape
		}
	}
	var same []member
	for _, m := range g.members {
		if shape := measured[m.ID].shape(); shape == most || measured[m.ID].Fixed {
			same = append(same, m)
		} else if err := m.leave(tx); err != nil {
			return err
		}
	}
	g.members = same
	g.retained = slices.DeleteFunc(g.retained, func(r Retained) bool { return !r.fits(most) })
	return nil
}

// shape is the number of cases; 0 if there are none, or some have more processes than others.
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
		own, err := MeasurementOf(tx, id)
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

// stand gives the run that stands for a group the group's numbers, and the time since when they are as good as that.
func (g *group) stand(tx *gorm.DB, m member, measured map[int64]Measurement) error {
	// Three ways to a score: legs, if the source was confirmed; all processes together; or the fixed number of a fixed one.
	score, pooled, at := measured[m.ID], 0, m.EndedAt
	ranking, err := RankingOf(tx, m.ID)
	switch {
	case err != nil:
		return err
	case len(g.legs) > 0:
		score, at = g.confirmed(ranking, score), g.since(ranking, measured, g.legs[0].CreatedAt)
	case !score.Fixed:
		list := distinct(m, g.members, measured)
		if score, err = together(ranking, list, g.retained); err != nil {
			return fmt.Errorf("pooling with run %d: %w", m.ID, err)
		}
		if pooled, at = len(list)+len(g.retained), g.since(ranking, measured, time.Time{}); pooled == 1 {
			pooled = 0 // several runs, measured once
		}
	}
	values := score.values()
	values["pool_id"], values["pooled"], values["scored_at"] = m.ID, pooled, db.Time(at)
	err = tx.Table("runs").Where("id = ?", m.ID).Updates(values).Error
	return db.WriteError(err, "score of run %d", m.ID)
}

// confirmed is the score of the group's legs. Clock, and how near it is to the roof, are of what a run counted with.
func (g *group) confirmed(ranking tasks.Ranking, of Measurement) Measurement {
	score := Together(ranking, g.legs)
	score.RunID, score.Clock = of.RunID, of.Clock
	if of.Roof != nil {
		roof := *of.Roof * of.ScoreNS / score.ScoreNS
		score.Roof = &roof
	}
	return score
}
