package models

import (
	"context"
	"errors"
	"fmt"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"warpboard/evaluator/job"
	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/rejudge"
	"warpboard/models/work"
)

// What is measured again (package rejudge): each rerun is a ranked run that follows another one, gives way to all other
// work and stands on no board. When it has ended its numbers are kept beside those of the run that it follows. Those of a
// new epoch replace them at once; those of a rejudge when someone applies it.

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
	// Deleting a rerun leaves its run behind with a rerun_id that no row has (no foreign key).
	if err := tx.Where("rejudge_id = ? and undone <> ''", rejudgeID).Delete(&rejudge.Rerun{}).Error; err != nil {
		return 0, fmt.Errorf("forgetting what was not measured: %w", err)
	}
	for _, e := range entries {
		rerun := rejudge.Rerun{RejudgeID: rejudgeID, RunID: e.RunID, WasNS: e.ScoreNS, WasLow: e.LowNS, WasHigh: e.HighNS, WasEpochID: -e.Age}
		// Unique by rejudge and run. On conflict gorm leaves rerun.ID at 0, so that RowsAffected has to be asked, not the
		// id.
		res := tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&rerun)
		if res.Error != nil {
			return 0, db.WriteError(res.Error, "rerun")
		}
		if res.RowsAffected == 0 {
			continue
		}
		run := work.Run{SubmissionID: e.SubmissionID, VersionID: e.VersionID, UserID: e.UserID, Mode: job.ModeRanked, ProfileOf: &e.RunID,
			RerunID: &rerun.ID, Work: work.Work{Device: e.Device, QueuedAt: db.Now()}}
		if err := work.Enqueue(tx, &run, out); err != nil {
			return 0, err
		}
		queued++
	}
	return queued, nil
}

// endRerun stores the result of a rerun that has ended.
func endRerun(tx *gorm.DB, run work.Run, out *work.Recorded) error {
	var rerun rejudge.Rerun
	err := tx.Take(&rerun, *run.RerunID).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return nil // the submission was deleted, or the rejudge began again
	}
	if err != nil {
		return db.ReadError(err, "rerun %d", *run.RerunID)
	}
	at := db.Now()
	rerun.EndedAt = &at
	switch {
	case run.State == work.StateDone && run.ScoreNS != nil:
		rerun.NowNS, rerun.NowLow, rerun.NowHigh, rerun.NowEpochID = run.ScoreNS, run.LowNS, run.HighNS, run.EpochID
	case run.State == work.StateCancelled:
		rerun.Undone = "It was cancelled."
	case run.Infrastructure || run.Failure == nil:
		// Undone reruns are queued again on request; Failed ones are final and disqualify when the rejudge is applied.
		rerun.Undone = "It could not be measured because of infrastructure errors."
	default:
		rerun.Failed = run.PublicFailure() // it is public when the rejudge is applied
	}
	if err := tx.Save(&rerun).Error; err != nil {
		return db.WriteError(err, "rerun")
	}
	return advanceRejudge(tx, rerun, run, out)
}

// advanceRejudge lets the numbers of a new epoch count, and ends the rejudge when nothing is left.
func advanceRejudge(tx *gorm.DB, rerun rejudge.Rerun, run work.Run, out *work.Recorded) error {
	var r rejudge.Rejudge
	if err := tx.Take(&r, rerun.RejudgeID).Error; err != nil {
		return db.ReadError(err, "rejudge %d", rerun.RejudgeID)
	}
	// The worker that took the rerun may have older software than the one that caused it: then the number is stored but does
	// not count.
	if r.Kind == rejudge.Epoch && rerun.NowNS != nil && run.EpochID > rerun.WasEpochID {
		changed, err := takeOver(tx, run)
		if err != nil {
			return err
		}
		changes, err := recompute(tx, []boards.Entry{changed})
		if err != nil {
			return err
		}
		out.Board = &changes[0]
	}
	open, err := rejudge.Open(tx, r.ID)
	if err != nil || open > 0 {
		return err
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
		err = tx.Where("rerun_id in (select id from reruns where rejudge_id = ?) and "+work.Live, r.ID).Order("id").Find(&waiting).Error
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
