package models

import (
	"context"
	"errors"
	"fmt"

	"gorm.io/gorm"

	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/samples"
	"warpboard/models/work"
)

// maxRerunsPerBoard limits the entries of each board that BeginRerun measures again. Each is a ranked run of the
// lowest priority; for a slow task 100 of them take hours of a GPU.
const maxRerunsPerBoard = 100

// BeginRerun queues the entries of a task's boards to be measured again. The results have no effect until ApplyRerun.
// If an earlier rerun of the task is not applied yet, it continues: its results stay, and failed runs and new entries
// are queued.
func (s *Store) BeginRerun(
	ctx context.Context, actor accounts.User, taskID int64, why string,
) (out work.Effect, err error) {
	if why, err = cleanAndCheckReason(why); err != nil {
		return out, err
	}
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		task, o, err := openRerunOrder(tx, actor, taskID)
		if err != nil {
			return err
		}
		if o.ID == 0 { // the unique index orders_open lets two people who ask at once share one
			o = RerunOrder{
				Purpose:   work.PurposeRerun,
				VersionID: task.VersionID,
				CreatedBy: actor.ID,
				Reason:    why,
				CreatedAt: db.Now(),
			}
			if err := tx.Create(&o).Error; err != nil {
				return db.WriteError(err, "rejudge")
			}
		}
		queued := 0
		for _, device := range task.Devices {
			n, err := o.queueReruns(tx, tx.Where("version_id = ? and device = ?", task.VersionID, device).Limit(maxRerunsPerBoard), &out)
			if err != nil {
				return err
			}
			queued += n
		}
		if queued == 0 {
			return db.Errorf(db.Conflict, "Nothing is left to measure: the first %d of each board are measured or queued.", maxRerunsPerBoard)
		}
		if err := tx.Model(&o).Update("ended_at", nil).Error; err != nil {
			return db.WriteError(err, "rejudge")
		}
		return accounts.WriteAudit(tx, actor, "rejudge", "task "+task.Slug, why)
	})
	return out, err
}

// openRerunOrder reads a task that the actor may have measured again, and its open order, if there is one.
func openRerunOrder(tx *gorm.DB, actor accounts.User, taskID int64) (task catalog.Task, o RerunOrder, err error) {
	if err := tx.Take(&task, taskID).Error; err != nil {
		return task, o, db.ReadError(err, "task %d", taskID)
	}
	if err := actor.CheckPermission(accounts.RerunTask, accounts.OwnerIDs{AuthorID: task.OwnerID}); err != nil {
		return task, o, err
	}
	err = tx.Where("purpose = ? and version_id = ? and applied_at is null and not cancelled", work.PurposeRerun, task.VersionID).Limit(1).Find(&o).Error
	return task, o, db.ReadError(err, "rejudge of task %s", task.Slug)
}

// decideRerun ends the open rerun order of a task by calling a function.
func (s *Store) decideRerun(ctx context.Context, actor accounts.User, taskID int64, act string,
	do func(tx *gorm.DB, o RerunOrder) (map[string]any, error)) error {
	return s.db.Write(ctx, func(tx *gorm.DB) error {
		task, o, err := openRerunOrder(tx, actor, taskID)
		if err == nil && o.ID == 0 {
			err = db.Errorf(db.Conflict, "No rejudge of %s is open.", task.Title)
		}
		if err != nil {
			return err
		}
		decision, err := do(tx, o)
		if err != nil {
			return err
		}
		if err := tx.Model(&o).Updates(decision).Error; err != nil {
			return db.WriteError(err, "rejudge")
		}
		return accounts.WriteAudit(tx, actor, act, "task "+task.Slug, o.Reason)
	})
}

// CancelRerun ends the rerun order of a task without effect.
func (s *Store) CancelRerun(ctx context.Context, actor accounts.User, taskID int64) (out work.Effect, err error) {
	err = s.decideRerun(ctx, actor, taskID, "cancel rejudge", func(tx *gorm.DB, o RerunOrder) (map[string]any, error) {
		var waiting []work.Run
		if err := o.unfinishedRuns(tx).Order("id").Find(&waiting).Error; err != nil {
			return nil, db.ReadError(err, "runs of order %d", o.ID)
		}
		for _, run := range waiting {
			if err := s.Work.StopRun(tx, &run, &out); err != nil {
				return nil, err
			}
		}
		return map[string]any{"cancelled": true, "ended_at": db.Now()}, nil
	})
	return out, err
}

// ApplyRerun makes the scores of a rerun order count, instead of earlier samples and confirmations of the same sources,
// and disqualifies the runs that failed again.
func (s *Store) ApplyRerun(
	ctx context.Context, actor accounts.User, taskID int64,
) (changes []boards.ChangedBoard, err error) {
	err = s.decideRerun(ctx, actor, taskID, "apply rejudge", func(tx *gorm.DB, o RerunOrder) (map[string]any, error) {
		if o.EndedAt == nil {
			return nil, db.Errorf(db.Conflict, "Some runs still have to be measured again. Apply the rejudge when all are done.")
		}
		var list []work.Run
		if err := tx.Where("order_id = ?", o.ID).Order("id").Find(&list).Error; err != nil {
			return nil, db.ReadError(err, "runs of order %d", o.ID)
		}
		var measured []int64
		for _, again := range list {
			var err error
			switch {
			case Rerun{Run: again}.NotMeasuredReason() != "":
				continue
			case again.State == work.StateDone:
				err = errors.Join(samples.SetAsideReplacedSamples(tx, again.ID), o.acceptSamples(tx, again))
			default:
				err = disqualifyRerun(tx, actor, again)
			}
			if err != nil {
				return nil, err
			}
			measured = append(measured, *again.ProfileOf)
		}
		// One transaction applies everything, so that readers never see a board with only some of the new scores.
		changed, err := samples.EntriesWithSource(tx, measured)
		if err == nil {
			changes, err = s.recomputeAndConfirm(tx, changed)
		}
		return map[string]any{"applied_at": db.Now()}, err
	})
	return changes, err
}

// disqualifyRerun disqualifies a run that failed when it was measured again, and the runs with equal source that it
// represents.
func disqualifyRerun(tx *gorm.DB, actor accounts.User, again work.Run) error {
	var same []int64
	err := tx.Model(&work.Run{}).Where("(id = ? or pool_id = ?) and disqualified_at is null", *again.ProfileOf, *again.ProfileOf).
		Order("id").Pluck("id", &same).Error
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

// endRerun makes the sample of a rerun with new software count. It ends the order when all its runs have ended.
func endRerun(tx *gorm.DB, run work.Run, out *work.Effect) error {
	o, err := readOrderOfRun(tx, run)
	var was, live int64
	if err == nil {
		err = tx.Model(&work.Run{}).Where("id = ?", *run.ProfileOf).Pluck("epoch_id", &was).Error
	}
	if err != nil {
		return db.ReadError(err, "order %d", *run.OrderID)
	}
	// If the worker of the rerun has older software than the software for which the rerun was queued, the sample does
	// not count.
	if o.EpochID != 0 && run.ScoreNS != nil && run.EpochID > was {
		if err := o.acceptSamples(tx, run); err != nil {
			return err
		}
		changes, err := recomputeBoards(tx, []boards.Entry{{VersionID: run.VersionID, Device: run.Device, UserID: run.UserID}})
		if err != nil {
			return err
		}
		out.ChangedBoard = &changes[0]
	}
	if err := o.unfinishedRuns(tx).Limit(1).Count(&live).Error; err != nil || live > 0 {
		return db.ReadError(err, "runs of order %d", o.ID)
	}
	return db.WriteError(tx.Model(&o).Update("ended_at", db.Now()).Error, "order %d", o.ID)
}
