package pages

import (
	"context"

	"warpboard/models"
	"warpboard/views"
	"warpboard/web/site"
)

const queueRows = 50 // runs shown of one device's queue

// queueList collects the rows of all queues: what runs, then what waits. Submissions to tasks that
// the viewer may not know of have their place, and nothing else.
type queueList struct {
	*Pages
	viewer      models.User
	rows        map[string][]views.QueuedRun // by device
	submissions map[int64]views.QueuedRun    // what rows of the same submission share
	slots       map[string]int64             // submission by attempt, for those the viewer may see
}

func (l *queueList) read(ctx context.Context) error {
	l.rows = map[string][]views.QueuedRun{}
	running, err := l.Store.LiveAttempts(ctx)
	if err != nil {
		return err
	}
	waiting, err := l.Store.Queue(ctx)
	if err != nil {
		return err
	}
	for _, a := range running {
		if a.State == models.StateQueued {
			continue
		}
		if err := l.add(ctx, a.Device, a.SubmissionID, views.RunCard{ID: a.RunID, State: string(a.State), Queued: a.CreatedAt}); err != nil {
			return err
		}
		l.slots[a.ID] = l.submissions[a.SubmissionID].ID
	}
	for _, q := range waiting {
		run := views.RunCard{ID: q.RunID, State: string(models.StateQueued), Position: q.Place}
		if err := l.add(ctx, q.Device, q.SubmissionID, run); err != nil {
			return err
		}
	}
	return nil
}

func (l *queueList) add(ctx context.Context, device string, submissionID int64, run views.RunCard) error {
	if len(l.rows[device]) >= queueRows {
		return nil
	}
	row, ok := l.submissions[submissionID]
	if !ok {
		var err error
		if row, err = l.describe(ctx, submissionID); err != nil {
			return err
		}
		l.submissions[submissionID] = row
	}
	run.Task = row.Run.Task
	if run.Queued.IsZero() {
		run.Queued = row.Run.Queued
	}
	row.Run = run
	l.rows[device] = append(l.rows[device], row)
	return nil
}

func (l *queueList) describe(ctx context.Context, submissionID int64) (row views.QueuedRun, err error) {
	sub, err := l.Store.Submission(ctx, submissionID)
	if err != nil {
		return row, err
	}
	task, err := l.Store.TaskByID(ctx, sub.TaskID)
	if err != nil {
		return row, err
	}
	row.Run.Queued = sub.CreatedAt
	if !task.VisibleTo(l.viewer) && sub.UserID != l.viewer.ID {
		return row, nil
	}
	user, err := l.Store.User(ctx, sub.UserID)
	row.ID, row.Run.Task, row.Owner = sub.ID, site.TaskRef(task), site.PersonOf(user.ID, user.Name)
	return row, err
}
