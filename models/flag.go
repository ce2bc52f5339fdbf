package models

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/quota"
	"warpboard/models/review"
	"warpboard/models/work"
)

// NamedFlag is a Flag with the name of the reporter and, if it is about clocks, those of its run.
type NamedFlag struct {
	review.Flag
	UserName string
	// RunID is 0 in flags about something else.
	ClockDifference ClockDifference `gorm:"embedded;embeddedPrefix:differs_"`
}

const (
	// Runes, not bytes. It is shown whole on pages and in the audit log.
	maxReasonLength = 1000 // characters
	// Over any 60 minutes, not a clock hour. Each report puts a run before the task's author; admins have no limit.
	reportsPerHour = 10 // by one person
)

// cleanReason checks and cleans a person's text: it must not be empty or too long.
func cleanReason(text string) (string, error) {
	text = db.Sanitize(text)
	switch n := len([]rune(text)); {
	case accounts.CleanName(text) == "":
		return "", db.Errorf(db.Invalid, "Give a reason: a sentence that others can check.")
	case n > maxReasonLength:
		return "", db.Errorf(db.Invalid, "The reason has %d characters; at most %d are kept.", n, maxReasonLength)
	}
	return text, nil
}

// Report asks the task's author and the admins to review a run on a board. Each person can report a run once until it
// is reviewed.
func (s *Store) Report(ctx context.Context, actor accounts.User, runID int64, why string) error {
	why, err := cleanReason(why)
	if err != nil {
		return err
	}
	return s.db.Write(ctx, func(tx *gorm.DB) error {
		run, task, err := runOfTask(tx, runID)
		if err != nil {
			return err
		}
		switch {
		case !task.VisibleTo(actor):
			return db.Errorf(db.NotFound, "There is no run %d.", runID)
		case !run.Valid():
			return db.Errorf(db.Conflict, "Run %d is not on any board, so there is nothing to report.", runID)
		}
		if err := actor.Check(accounts.ReportRun, accounts.ObjectOwners{OwnerID: run.UserID}); err != nil {
			return err
		}
		if err := checkReports(tx, actor); err != nil {
			return err
		}
		// The unique index on open flags (run, kind, person) prevents a second flag: two simultaneous requests cannot
		// both pass.
		err = tx.Create(&review.Flag{RunID: runID, Kind: review.KindReport, UserID: actor.ID, Detail: why, CreatedAt: db.Now()}).Error
		if err = db.WriteError(err, "report"); db.KindOf(err) == db.Conflict {
			return db.Errorf(db.Conflict, "You have reported run %d already; it has not been reviewed yet.", runID)
		}
		return err
	})
}

// checkReports limits the reports of a person, who is no admin.
func checkReports(tx *gorm.DB, actor accounts.User) error {
	if actor.IsAdmin() {
		return nil
	}
	rate := quota.RateLimit{
		Max:     reportsPerHour,
		Window:  time.Hour,
		Refusal: fmt.Sprintf("At most %d reports an hour are accepted.", reportsPerHour),
	}
	return rate.Check(tx.Model(&review.Flag{}).Where("user_id = ?", actor.ID), "created_at")
}

// Dismiss closes the open flags of a run that is fine, with the finding. If the run was held back, it counts from then
// on; if that was because a turn of its source's confirmation failed, so do all runs of that source.
func (s *Store) Dismiss(ctx context.Context, actor accounts.User, runID int64, why string) ([]boards.Change, error) {
	return s.decideOnRun(ctx, actor, accounts.ReviewRun, runID, why, func(tx *gorm.DB, run work.Run, why string) ([]boards.Change, error) {
		var own, released int64 // a review of a run's own score is none of its source
		err := tx.Model(&review.Flag{}).Where("run_id = ? and kind = ? and closed_at is null", runID, review.KindHeld).Count(&own).Error
		if err != nil {
			return nil, db.ReadError(err, "flags of run %d", runID)
		}
		closed, err := review.CloseFlags(tx, actor.ID, runID, why)
		if err == nil && own == 0 && run.HeldReason != "" {
			released, err = releaseSource(tx, actor, run, why)
		}
		if err == nil && run.Contradicted { // the reviewer's word counts from now on
			err = tx.Model(&run).Update("contradicted", false).Error
		}
		switch {
		case err != nil:
			return nil, err
		case closed+released == 0:
			return nil, db.Errorf(db.Conflict, "Run %d has no open flag.", runID)
		case run.HeldReason == "":
			return nil, accounts.WriteAudit(tx, actor, "dismiss flags", fmt.Sprintf("run %d", runID), why)
		}
		return s.storeDecision(tx, actor, run, "dismiss flags", why, nil)
	})
}

// Flags lists the flags of a run that the person may see: all for those who may review the run, and for others those
// that they reported.
func (s *Store) Flags(ctx context.Context, viewer accounts.User, run work.Run, task catalog.Task) ([]NamedFlag, error) {
	if viewer.May(accounts.ReviewRun, accounts.ObjectOwners{AuthorID: task.OwnerID}) {
		return s.flags(ctx, "f.run_id = ?", run.ID)
	}
	if !viewer.SignedIn() {
		return nil, nil
	}
	return s.flags(ctx, "f.run_id = ? and f.user_id = ?", run.ID, viewer.ID)
}

// clockDifferenceColumns are the columns of NamedFlag.Differs.
const clockDifferenceColumns = "d.run_id as differs_run_id, d.stage as differs_stage, d.spec as differs_spec, d.cases as differs_cases, d.clock as differs_clock, " +
	"d.event_ns as differs_event_ns, d.wall_ns as differs_wall_ns, d.snapshot_ns as differs_snapshot_ns, d.tolerance_ns as differs_tolerance_ns"

func (s *Store) flags(ctx context.Context, where string, args ...any) ([]NamedFlag, error) {
	var list []NamedFlag
	err := s.db.Read(ctx).Table("flags f").Select("f.*, coalesce(u.name, '') as user_name, "+clockDifferenceColumns).
		Joins("left join users u on u.id = f.user_id").Joins("left join clock_differences d on d.run_id = f.run_id and f.kind = ?", review.KindClocks).
		Where(where, args...).Order("f.id").Scan(&list).Error
	return list, db.ReadError(err, "flags")
}
