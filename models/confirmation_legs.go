package models

import (
	"fmt"
	"slices"

	"gorm.io/gorm"

	"warpboard/models/db"
	"warpboard/models/pools"
)

// conclude gives the sources of both runs their new numbers, as far as they still count.
func (c Confirmation) conclude(tx *gorm.DB, legs []Run, out *Recorded) error {
	var changed []Entry
	for _, side := range []struct {
		runID int64
		ns    **float64
	}{{c.HolderID, &c.HolderNS}, {c.ChallengerID, &c.ChallengerNS}} {
		all, err := c.keepLegs(tx, side.runID, c.side(legs, side.runID))
		if err != nil {
			return fmt.Errorf("confirming run %d: %w", side.runID, err)
		}
		score := pools.Together(all).ScoreNS
		*side.ns = &score
		people, err := pools.Senders(tx, side.runID)
		if err != nil {
			return err
		}
		for _, id := range people {
			if e := (Entry{VersionID: c.VersionID, Device: c.Device, UserID: id}); !slices.Contains(changed, e) {
				changed = append(changed, e)
			}
		}
	}
	if _, err := recompute(tx, changed); err != nil {
		return err
	}
	return c.end(tx, out)
}

// keepLegs adds the legs of one side to those of its source, and returns all of them. A score that was fixed before legs were kept
// is one; a run that was measured with other software goes over to that of its legs.
func (c Confirmation) keepLegs(tx *gorm.DB, runID int64, legs []Run) ([]pools.Leg, error) {
	var run Run
	if err := tx.Take(&run, runID).Error; err != nil {
		return nil, db.ReadError(err, "run %d", runID)
	}
	own, err := pools.Of(tx, runID)
	if err != nil {
		return nil, err
	}
	known, err := pools.LegsOf(tx, runID)
	if err != nil {
		return nil, err
	}
	list := make([]pools.Leg, 0, len(legs)+1)
	of := func(m pools.Measurement) pools.Leg {
		return pools.Leg{VersionID: c.VersionID, Device: c.Device, EpochID: legs[0].EpochID, RunID: m.RunID, ScoreNS: m.ScoreNS, StdNS: m.StdNS, ErrNS: m.ErrNS,
			Interval: m.Interval, Disturbed: m.Disturbed, CreatedAt: c.CreatedAt}
	}
	if own.Fixed && len(known) == 0 && run.EpochID == legs[0].EpochID {
		list = append(list, of(own))
	}
	for _, leg := range legs {
		list = append(list, of(pools.Measurement{RunID: leg.ID, ScoreNS: *leg.ScoreNS, StdNS: leg.StdNS, ErrNS: leg.ErrNS, Interval: leg.Interval, Disturbed: leg.Disturbed}))
	}
	if err := pools.AddLegs(tx, runID, list); err != nil {
		return nil, err
	}
	all := append(known, list...)
	if run.EpochID == legs[0].EpochID {
		known, err = pools.LegsOf(tx, runID)
		if err != nil || len(known) > 0 {
			return known, err
		}
	} else {
		all = list
	}
	// Of other software, or from before sources were compared: the run alone has these numbers.
	found := pools.Together(all)
	found.RunID, found.Clock = runID, run.Clock
	return all, found.Set(tx, map[string]any{"epoch_id": legs[0].EpochID})
}
