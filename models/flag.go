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

// FlagWithReporter is a Flag with the reporter's name and, for a flag about clocks, the clock difference of its run.
type FlagWithReporter struct {
	review.Flag
	UserName string
	// ClockDifference.RunID is 0 for other flags.
	ClockDifference ClockDifference `gorm:"embedded;embeddedPrefix:differs_"`
}

const (
	// The length is in characters, because pages and the audit log show the reason in full.
	maxReasonLength = 1000 // characters
	// The limit applies to any 60 minutes. Each report asks the task's author for a review. Admins have no limit.
	maxReportsPerHour = 10 // reports by one person
)

// cleanAndCheckReason removes control characters and superfluous spaces from a reason. It returns an error if the
// result is empty or too long.
func cleanAndCheckReason(text string) (string, error) {
	text = db.SanitizeText(text)
	switch n := len([]rune(text)); {
	case accounts.CleanName(text) == "":
		return "", db.Errorf(db.Invalid, "Give a reason: a sentence that others can check.")
	case n > maxReasonLength:
		return "", db.Errorf(db.Invalid, "The reason has %d characters; at most %d are kept.", n, maxReasonLength)
	}
	return text, nil
}

// ReportRun asks the task's author and the admins to review a run on a board. Each person can report a run once until
// it is reviewed.
func (s *Store) ReportRun(ctx context.Context, actor accounts.User, runID int64, why string) error {
	why, err := cleanAndCheckReason(why)
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
		if err := actor.CheckPermission(accounts.ReportRun, accounts.OwnerIDs{OwnerID: run.UserID}); err != nil {
			return err
		}
		if err := checkReports(tx, actor); err != nil {
			return err
		}
		// A unique index on open flags (run, kind, person) prevents duplicates by simultaneous requests.
		err = tx.Create(&review.Flag{RunID: runID, Kind: review.KindReport, ReporterID: actor.ID, Detail: why, CreatedAt: db.Now()}).Error
		if err = db.WriteError(err, "report"); db.KindOf(err) == db.Conflict {
			return db.Errorf(db.Conflict, "You have reported run %d already; it has not been reviewed yet.", runID)
		}
		return err
	})
}

// checkReports limits the reports of a person who is not an admin.
func checkReports(tx *gorm.DB, actor accounts.User) error {
	if actor.IsAdmin() {
		return nil
	}
	rate := quota.RateLimit{
		Max:         maxReportsPerHour,
		Window:      time.Hour,
		RefusalText: fmt.Sprintf("At most %d reports an hour are accepted.", maxReportsPerHour),
	}
	return rate.Check(tx.Model(&review.Flag{}).Where("user_id = ?", actor.ID), "created_at")
}

// DismissFlags closes the open flags of a run with a finding that the run is fine. A held run counts from then on. If
// the hold was caused by a failed confirmation of its source, all runs of that source count.
func (s *Store) DismissFlags(
	ctx context.Context, actor accounts.User, runID int64, why string,
) ([]boards.ChangedBoard, error) {
	return s.decideOnRun(ctx, actor, accounts.ReviewRun, runID, why, func(tx *gorm.DB, run work.Run, why string) ([]boards.ChangedBoard, error) {
		// own counts the run's own hold flags, and released the holds of its source. A review of the run's own hold is
		// about its score and does not release the source.
		var own, released int64
		err := tx.Model(&review.Flag{}).Where("run_id = ? and kind = ? and closed_at is null", runID, review.KindHeld).Count(&own).Error
		if err != nil {
			return nil, db.ReadError(err, "flags of run %d", runID)
		}
		closed, err := review.CloseFlags(tx, actor.ID, runID, why)
		if err == nil && own == 0 && run.HeldReason != "" {
			released, err = releaseSource(tx, actor, run, why)
		}
		if err == nil && run.ContradictedByProfile { // the reviewer's decision overrides the profile
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

// Flags lists the flags of a run: all for people who may review it, and for others those that they reported.
func (s *Store) Flags(
	ctx context.Context, viewer accounts.User, run work.Run, task catalog.Task,
) ([]FlagWithReporter, error) {
	if viewer.CanPerform(accounts.ReviewRun, accounts.OwnerIDs{AuthorID: task.OwnerID}) {
		return s.queryFlags(ctx, "f.run_id = ?", run.ID)
	}
	if !viewer.SignedIn() {
		return nil, nil
	}
	return s.queryFlags(ctx, "f.run_id = ? and f.user_id = ?", run.ID, viewer.ID)
}

// clockDifferenceColumns has the columns of FlagWithReporter.ClockDifference.
const clockDifferenceColumns = "d.run_id as differs_run_id, d.stage as differs_stage, d.spec as differs_spec, d.cases as differs_cases, d.clock as differs_clock, " +
	"d.event_ns as differs_event_ns, d.wall_ns as differs_wall_ns, d.snapshot_ns as differs_snapshot_ns, d.tolerance_ns as differs_tolerance_ns"

func (s *Store) queryFlags(ctx context.Context, where string, args ...any) ([]FlagWithReporter, error) {
	var list []FlagWithReporter
	err := s.db.Read(ctx).Table("flags f").Select("f.*, coalesce(u.name, '') as user_name, "+clockDifferenceColumns).
		Joins("left join users u on u.id = f.user_id").Joins("left join clock_differences d on d.run_id = f.run_id and f.kind = ?", review.KindClocks).
		Where(where, args...).Order("f.id").Scan(&list).Error
	return list, db.ReadError(err, "flags")
}
