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
	var list []work.Run
	if err := tx.Where("rejudge_id = ?", r.ID).Order("id").Find(&list).Error; err != nil {
		return nil, db.ReadError(err, "runs of rejudge %d", r.ID)
	}
	for _, again := range list {
		people := []int64{again.UserID}
		switch {
		case rejudge.Undone(again) != "":
			continue
		case again.State == work.StateDone:
			people, err = countAnew(tx, again)
		default:
			err = disqualifyAnew(tx, actor, again)
		}
		if err != nil {
			return nil, err
		}
		for _, id := range people {
			if e := (boards.Entry{VersionID: again.VersionID, Device: again.Device, UserID: id}); !slices.Contains(changed, e) {
				changed = append(changed, e)
			}
		}
	}
	return changed, nil
}

// countAnew lets what a rejudge measured of a run count, instead of its source's confirmations as well, and returns whose boards that changes:
// these were of everyone who sent that source.
func countAnew(tx *gorm.DB, again work.Run) (people []int64, err error) {
	if err := errors.Join(pools.AcceptAlone(tx, again.ID), confirmAgain(tx, *again.ProfileOf)); err != nil {
		return nil, err
	}
	return pools.Senders(tx, *again.ProfileOf)
}

// disqualifyAnew takes a run that did not pass again off its board, with those of equal source that it stands for.
func disqualifyAnew(tx *gorm.DB, actor accounts.User, again work.Run) error {
	var same []int64
	err := tx.Model(&work.Run{}).Where("(id = ? or pool_id = ?) and disqualified_at is null", *again.ProfileOf, *again.ProfileOf).Order("id").Pluck("id", &same).Error
	if err != nil {
		return db.ReadError(err, "runs of the source of run %d", *again.ProfileOf)
	}
	why := "Rejudged: " + again.PublicFailure()
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
