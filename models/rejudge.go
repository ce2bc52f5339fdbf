package models

import (
	"context"
	"errors"
	"slices"

	"gorm.io/gorm"

	"warpboard/evaluator/job"
	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/pools"
	"warpboard/models/rejudge"
	"warpboard/models/work"
)

// What is measured again (package rejudge): each rerun is a ranked run that follows another one, gives way to all other
// work and stands on no board. Its sample counts at once if new software was the reason, and otherwise when someone applies the
// rejudge.

// rejudgeEntries bounds a rejudge: the first entries of each board of the task.
// Each is one ranked run at the lowest priority: 100 per device are hours of an idle GPU for a slow task.
const rejudgeEntries = 100

// Rejudge queues the entries of a task's boards to be measured again, without effect until ApplyRejudge. A rejudge that is
// not applied yet goes on: its measurements stay, and failed ones and new entries are queued.
func (s *Store) Rejudge(ctx context.Context, actor accounts.User, taskID int64, why string) (out work.Recorded, err error) {
	if why, err = reason(why); err != nil {
		return out, err
	}
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		task, err := rejudgeable(tx, actor, taskID)
		if err != nil {
			return err
		}
		var r rejudge.Rejudge
		// The unique index rejudges_open allows one such row per version, so that two people who ask at once share it.
		res := tx.Where("kind = ? and version_id = ? and applied_at is null and not cancelled", rejudge.Asked, task.VersionID).Limit(1).Find(&r)
		if res.Error != nil {
			return db.ReadError(res.Error, "rejudge of task %s", task.Slug)
		}
		if res.RowsAffected == 0 {
			r = rejudge.Rejudge{Kind: rejudge.Asked, VersionID: &task.VersionID, CreatedBy: actor.ID, Reason: why, CreatedAt: db.Now()}
			if err := tx.Create(&r).Error; err != nil {
				return db.WriteError(err, "rejudge")
			}
		}
		queued := 0
		for _, device := range task.Devices {
			n, err := queueReruns(tx, r.ID, tx.Where("version_id = ? and device = ?", task.VersionID, device).Limit(rejudgeEntries), &out)
			if err != nil {
				return err
			}
			queued += n
		}
		if queued == 0 {
			return db.Errorf(db.Conflict, "Nothing is left to measure: the first %d of each board are measured or queued.", rejudgeEntries)
		}
		if err := tx.Model(&r).Update("ended_at", nil).Error; err != nil {
			return db.WriteError(err, "rejudge")
		}
		return accounts.WriteAudit(tx, actor, "rejudge", "task "+task.Slug, why)
	})
	return out, err
}

func rejudgeable(tx *gorm.DB, actor accounts.User, taskID int64) (task catalog.Task, err error) {
	if err := tx.Take(&task, taskID).Error; err != nil {
		return task, db.ReadError(err, "task %d", taskID)
	}
	return task, actor.Check(accounts.Rejudge, accounts.Of{AuthorID: task.OwnerID})
}

// queueReruns queues the entries that q chooses, in their order, except those of this rejudge that were measured, did not
// pass or wait.
func queueReruns(tx *gorm.DB, rejudgeID int64, q *gorm.DB, out *work.Recorded) (queued int, err error) {
	var entries []boards.Entry
	if err := q.Order("age, score_ns, run_id").Find(&entries).Error; err != nil {
		return 0, db.ReadError(err, "entries to be measured again")
	}
	var known []work.Run
	if err := tx.Where("rejudge_id = ?", rejudgeID).Find(&known).Error; err != nil {
		return 0, db.ReadError(err, "runs of rejudge %d", rejudgeID)
	}
	for _, e := range entries {
		if slices.ContainsFunc(known, func(again work.Run) bool { return *again.ProfileOf == e.RunID && rejudge.Undone(again) == "" }) {
			continue
		}
		run := work.Run{SubmissionID: e.SubmissionID, VersionID: e.VersionID, UserID: e.UserID, Mode: job.ModeRanked, Purpose: work.Remeasure, ProfileOf: &e.RunID,
			RejudgeID: &rejudgeID, Work: work.Work{Device: e.Device, QueuedAt: db.Now()}}
		if err := work.Enqueue(tx, &run, out); err != nil {
			return 0, err
		}
		queued++
	}
	return queued, nil
}

// endRerun lets what was measured with new software count, and ends the rejudge when nothing is left.
func endRerun(tx *gorm.DB, run work.Run, out *work.Recorded) error {
	var r rejudge.Rejudge
	var was, live int64
	err := tx.Take(&r, *run.RejudgeID).Error
	if err == nil {
		err = tx.Model(&work.Run{}).Where("id = ?", *run.ProfileOf).Pluck("epoch_id", &was).Error
	}
	if err != nil {
		return db.ReadError(err, "rejudge %d", *run.RejudgeID)
	}
	// The worker that took the rerun may have older software than the one that caused it: then the sample does not count.
	if r.Kind == rejudge.Epoch && run.State == work.StateDone && run.ScoreNS != nil && run.EpochID > was {
		if err := errors.Join(pools.Accept(tx, run.ID), confirmAgain(tx, *run.ProfileOf)); err != nil {
			return err
		}
		changes, err := recompute(tx, []boards.Entry{{VersionID: run.VersionID, Device: run.Device, UserID: run.UserID}})
		if err != nil {
			return err
		}
		out.Board = &changes[0]
	}
	err = tx.Model(&work.Run{}).Where("rejudge_id = ? and "+work.Live, r.ID).Limit(1).Count(&live).Error
	if err != nil || live > 0 {
		return db.ReadError(err, "runs of rejudge %d", r.ID)
	}
	return db.WriteError(tx.Model(&r).Update("ended_at", db.Now()).Error, "rejudge")
}

// CancelRejudge ends a rejudge without effect.
func (s *Store) CancelRejudge(ctx context.Context, actor accounts.User, taskID int64) (out work.Recorded, err error) {
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		task, err := rejudgeable(tx, actor, taskID)
		if err != nil {
			return err
		}
		r, err := openRejudge(tx, task)
		if err != nil {
			return err
		}
		var waiting []work.Run
		err = tx.Where("rejudge_id = ? and "+work.Live, r.ID).Order("id").Find(&waiting).Error
		if err != nil {
			return db.ReadError(err, "runs of rejudge %d", r.ID)
		}
		for _, run := range waiting {
			if err := s.Work.StopRun(tx, &run, &out); err != nil {
				return err
			}
		}
		if err := tx.Model(&r).Updates(map[string]any{"cancelled": true, "ended_at": db.Now()}).Error; err != nil {
			return db.WriteError(err, "rejudge")
		}
		return accounts.WriteAudit(tx, actor, "cancel rejudge", "task "+task.Slug, r.Reason)
	})
	return out, err
}
