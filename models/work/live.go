package work

import (
	"context"

	"warpboard/models/db"
)

// maxProgressEvents limits the events that LiveCardEvents reads. The log of an attempt is limited separately.
const maxProgressEvents = 10_000

// LiveCardEvents lists the events of a run from which its live card is made, oldest first: ended stages, and all events
// since the newest stage began. With log it includes all output of the attempt's programs.
func (l *LifeCycle) LiveCardEvents(ctx context.Context, run Run, log bool) (events []RunEvent, err error) {
	of := "type <> 'log' and (type = 'ended' or id >= (select coalesce(max(id), 0) from run_events where run_id = @run and type = 'stage'))"
	if log {
		of += " or type = 'log' and attempt_id = @attempt"
	}
	err = l.db.Read(ctx).Where("run_id = @run and ("+of+")", map[string]any{"run": run.ID, "attempt": run.AttemptID}).
		Order("id").Limit(maxProgressEvents).Find(&events).Error
	return events, db.ReadError(err, "events of run %d", run.ID)
}

// PendingEvents describes the events of a submission that are still to come.
type PendingEvents struct {
	HasLiveWork bool  `gorm:"column:live"`   // some work of the submission has not ended
	LastEventID int64 `gorm:"column:newest"` // ID of the submission's last event
}

// PendingEvents reads the last event and the live work in one query, so that no event is missed in between. With
// profiles, the profiles that follow the submission's runs count as work.
func (l *LifeCycle) PendingEvents(
	ctx context.Context, submissionID int64, profiles bool,
) (rest PendingEvents, err error) {
	live := "submission_id = @id and " + NotEndedSQL
	if !profiles {
		live += " and profile_of is null"
	}
	err = l.db.Read(ctx).Raw("select exists (select 1 from runs where "+live+") as live, (select coalesce(max(id), 0) from run_events where submission_id = @id) as newest",
		map[string]any{"id": submissionID}).Scan(&rest).Error
	return rest, db.ReadError(err, "events of submission %d", submissionID)
}
