package work

import (
	"context"

	"warpboard/models/db"
)

// maxProgressEvents bounds the events that Progress reads; the store bounds the log of an attempt.
const maxProgressEvents = 10_000

// Progress lists the events of a run from which its live card is made, the oldest first: of stages that ended, and all
// since the newest stage began. With log, also everything that programs of its attempt printed.
func (l *LifeCycle) Progress(ctx context.Context, run Run, log bool) (events []RunEvent, err error) {
	of := "type <> 'log' and (type = 'ended' or id >= (select coalesce(max(id), 0) from run_events where run_id = @run and type = 'stage'))"
	if log {
		of += " or type = 'log' and attempt_id = @attempt"
	}
	err = l.db.Read(ctx).Where("run_id = @run and ("+of+")", map[string]any{"run": run.ID, "attempt": run.AttemptID}).
		Order("id").Limit(maxProgressEvents).Find(&events).Error
	return events, db.ReadError(err, "events of run %d", run.ID)
}

// Pending is the future of a submission's events.
type Pending struct {
	HasLiveWork bool  `gorm:"column:live"`   // some of its work has not ended
	LastEventID int64 `gorm:"column:newest"` // ID of its last event
}

// Pending reads both at once, so that no event can be missed between them. With profiles, those that follow its runs
// are work, too.
func (l *LifeCycle) Pending(ctx context.Context, submissionID int64, profiles bool) (rest Pending, err error) {
	live := "submission_id = @id and " + LiveCondition
	if !profiles {
		live += " and profile_of is null"
	}
	err = l.db.Read(ctx).Raw("select exists (select 1 from runs where "+live+") as live, (select coalesce(max(id), 0) from run_events where submission_id = @id) as newest",
		map[string]any{"id": submissionID}).Scan(&rest).Error
	return rest, db.ReadError(err, "events of submission %d", submissionID)
}
