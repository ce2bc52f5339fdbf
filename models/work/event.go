package work

import (
	"context"
	"time"

	"gorm.io/gorm"

	"warpboard/evaluator/job"
	"warpboard/models/db"
)

// EventState is the type of an event about a new state of a run. The site creates it; all other types are constants of
// job.EventType.
const EventState job.EventType = "state"

// RunEvent is one event of a run. IDs grow in the order in which events become visible, so "all events after the last
// ID" is complete.
type RunEvent struct {
	ID           int64
	SubmissionID int64
	RunID        int64
	Device       string
	AttemptID    string
	Seq          int // number of the worker's event within the attempt; 0 for an event of the site
	Type         job.EventType
	State        RunState     // the run's state from this event on
	Event        *job.Event   `gorm:"serializer:json"` // the worker's message, without its secret; nil for EventState
	Failure      *job.Failure `gorm:"serializer:json"` // EventState: why it failed, or why it is queued again
	ScoreNS      *float64     `gorm:"column:score_ns"` // EventState: the ranked score of a run that is done
	CreatedAt    time.Time
}

// EventsSince lists up to limit events of a submission's runs with IDs above an ID, oldest first.
func (l *LifeCycle) EventsSince(ctx context.Context, submissionID, afterID int64, limit int) ([]RunEvent, error) {
	var events []RunEvent
	err := l.db.Read(ctx).Where("submission_id = ? and id > ?", submissionID, afterID).
		Order("id").Limit(limit).Find(&events).Error
	return events, db.ReadError(err, "events of submission %d", submissionID)
}

// LastEventID returns the ID of the newest event of a submission, or 0.
func (l *LifeCycle) LastEventID(ctx context.Context, submissionID int64) (int64, error) {
	var id int64
	err := l.db.Read(ctx).Raw("select coalesce(max(id), 0) from run_events where submission_id = ?", submissionID).Scan(&id).Error
	return id, db.ReadError(err, "events of submission %d", submissionID)
}

// storeState stores and returns an event with a run's new state. If that state is final, it also adds the run to the
// counters of ended runs and of waiting times (Counters).
func storeState(tx *gorm.DB, run Run) (RunEvent, error) {
	if run.State.IsFinal() {
		if err := countRun(tx, run); err != nil {
			return RunEvent{}, err
		}
	}
	e := RunEvent{
		SubmissionID: run.SubmissionID, RunID: run.ID, Device: run.Device, AttemptID: run.AttemptID,
		Type: EventState, State: run.State, Failure: run.Failure, ScoreNS: run.ScoreNS, CreatedAt: db.Now(),
	}
	return e, db.WriteError(tx.Create(&e).Error, "event")
}

// countRun counts a run that has just ended.
func countRun(tx *gorm.DB, run Run) error {
	if run.EndedAt == nil {
		return nil
	}
	samples := []CounterSample{{Name: CounterRunsEnded + string(run.State),
		Value: run.EndedAt.Sub(run.QueuedAt).Seconds()}}
	if run.StartedAt != nil {
		samples = append(samples, CounterSample{Name: CounterRunWaits, Value: run.StartedAt.Sub(run.QueuedAt).Seconds()})
	}
	return AddToCounters(tx, samples...)
}
