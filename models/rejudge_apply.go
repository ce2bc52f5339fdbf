package models

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gorm.io/gorm"

	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/pools"
	"warpboard/models/rejudge"
	"warpboard/models/work"
)

// ApplyRejudge lets the numbers of a rejudge count, and disqualifies what did not pass again.
func (s *Store) ApplyRejudge(ctx context.Context, actor accounts.User, taskID int64) (changes []boards.Change, err error) {
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		task, err := rejudgeable(tx, actor, taskID)
		if err != nil {
			return err
		}
		r, err := openRejudge(tx, task)
		if err != nil {
			return err
		}
		if r.EndedAt == nil {
			return db.Errorf(db.Conflict, "Some runs still have to be measured again. Apply the rejudge when all are done.")
		}
		// Everything in one transaction: readers see the board before or after, never with a part of the new numbers.
		changed, err := applyReruns(tx, actor, r)
		if err != nil {
			return err
		}
		if changes, err = s.recomputeAndConfirm(tx, changed); err != nil {
			return err
		}
		if err := tx.Model(&r).Update("applied_at", db.Now()).Error; err != nil {
			return db.WriteError(err, "rejudge")
		}
		return accounts.WriteAudit(tx, actor, "apply rejudge", "task "+task.Slug, r.Reason)
	})
	return changes, err
}

func openRejudge(tx *gorm.DB, task catalog.Task) (r rejudge.Rejudge, err error) {
	err = tx.Where("kind = ? and version_id = ? and applied_at is null and not cancelled", rejudge.Asked, task.VersionID).Take(&r).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return r, db.Errorf(db.Conflict, "No rejudge of %s is open.", task.Title)
	}
	return r, db.ReadError(err, "rejudge of task %s", task.Slug)
}

func applyReruns(tx *gorm.DB, actor accounts.User, r rejudge.Rejudge) (changed []boards.Entry, err error) {
	var list []rejudge.Rerun
	if err := tx.Where("rejudge_id = ? and (now_ns is not null or failed <> '')", r.ID).Find(&list).Error; err != nil {
		return nil, db.ReadError(err, "reruns of rejudge %d", r.ID)
	}
	for _, rerun := range list {
		var leg work.Run
		if err := tx.Where("rerun_id = ?", rerun.ID).Take(&leg).Error; err != nil {
			return nil, db.ReadError(err, "rerun %d", rerun.ID)
		}
		people := []int64{leg.UserID}
		if rerun.NowNS != nil {
			if people, err = countAnew(tx, leg); err != nil {
				return nil, err
			}
		} else if err := disqualifyAnew(tx, actor, rerun); err != nil {
			return nil, err
		}
		for _, id := range people {
			if e := (boards.Entry{VersionID: leg.VersionID, Device: leg.Device, UserID: id}); !slices.Contains(changed, e) {
				changed = append(changed, e)
			}
		}
	}
	return changed, nil
}

// countAnew lets what a rejudge measured of a run count, instead of its source's confirmations as well, and returns whose boards that changes:
// these were of everyone who sent that source.
func countAnew(tx *gorm.DB, leg work.Run) (people []int64, err error) {
	m, err := pools.MeasurementOf(tx, leg.ID)
	if err == nil {
		err = pools.Replace(tx, *leg.ProfileOf, m, leg.EpochID, *leg.EndedAt)
	}
	if err == nil {
		err = pools.ForgetLegs(tx, *leg.ProfileOf, leg.EpochID)
	}
	if err == nil {
		err = confirmAgain(tx, *leg.ProfileOf)
	}
	if err != nil {
		return nil, err
	}
	return pools.Senders(tx, *leg.ProfileOf)
}

// disqualifyAnew takes a run that did not pass again off its board, with those of equal source that it stands for.
func disqualifyAnew(tx *gorm.DB, actor accounts.User, rerun rejudge.Rerun) error {
	var same []int64
	err := tx.Model(&work.Run{}).Where("(id = ? or pool_id = ?) and disqualified_at is null", rerun.RunID, rerun.RunID).Order("id").Pluck("id", &same).Error
	if err != nil {
		return db.ReadError(err, "runs of the source of run %d", rerun.RunID)
	}
	why := "Rejudged: " + rerun.Failed
	for _, id := range same {
		err := tx.Model(&work.Run{}).Where("id = ?", id).Updates(map[string]any{
			"disqualified_at": db.Now(), "disqualified_why": why, "disqualified_by": actor.ID, "reinstated_why": ""}).Error
		if err == nil {
			err = accounts.WriteAudit(tx, actor, "disqualify", fmt.Sprintf("run %d", id), why)
		}
		if err != nil {
			return db.WriteError(err, "run %d", id)
		}
	}
	return nil
}
