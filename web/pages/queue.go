package pages

import (
	"context"

	"warpboard/evaluator/job"
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
	running     map[string]int               // by device, also those that are not listed
	waiting     map[string]int
}

func (l *queueList) read(ctx context.Context) error {
	l.rows, l.running, l.waiting = map[string][]views.QueuedRun{}, map[string]int{}, map[string]int{}
	running, err := l.Store.LiveAttempts(ctx)
	if err != nil {
		return err
	}
	waiting, err := l.Store.Queue(ctx)
	if err != nil {
		return err
	}
	for _, a := range running {
		if a.TakenAt == nil {
			continue
		}
		l.running[a.Device]++
		card := views.RunCard{ID: a.RunID, State: a.State, Queued: a.CreatedAt}
		if a.EvaluationID != "" {
			l.addEvaluation(a.Device, a.Ref(), a.Kind, a.UserID, card)
			continue
		}
		if err := l.add(ctx, a.Device, a.SubmissionID, card); err != nil {
			return err
		}
		l.slots[a.ID] = l.submissions[a.SubmissionID].ID
	}
	for _, q := range waiting {
		l.waiting[q.Device]++
		run := views.RunCard{ID: q.RunID, State: string(models.StateQueued), Position: q.Place, Queued: q.QueuedAt}
		if q.NotBefore != nil && q.NotBefore.After(l.Now()) {
			run.TriedAgain = *q.NotBefore
		}
		if q.EvaluationID != "" {
			l.addEvaluation(q.Device, q.Ref(), q.Kind, q.UserID, run)
			continue
		}
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
	row.Run = run
	l.rows[device] = append(l.rows[device], row)
	return nil
}

// addEvaluation adds a kernel that is evaluated without a task. It is its caller's: who else looks sees its kind, its
// state and how long it waits. Being shared does not list it, for that is a way to those who know its address.
func (l *queueList) addEvaluation(device string, ref job.Ref, kind string, userID int64, card views.RunCard) {
	if len(l.rows[device]) >= queueRows {
		return
	}
	if card.State == string(models.EvaluationSubmitted) { // a worker has it, and has not said what it does
		card.State = string(models.StateBuilding)
	}
	row := views.QueuedRun{Run: card, Kind: kind}
	own := l.viewer.SignedIn() && l.viewer.ID == userID
	if own {
		row.Owner = site.PersonOf(l.viewer.ID, l.viewer.Name)
	}
	if own || l.viewer.IsAdmin() {
		row.EvaluationID = ref.EvaluationID
	}
	l.rows[device] = append(l.rows[device], row)
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
	if !task.VisibleTo(l.viewer) && sub.UserID != l.viewer.ID {
		return row, nil
	}
	user, err := l.Store.User(ctx, sub.UserID)
	row.ID, row.Run.Task, row.Owner = sub.ID, site.TaskRef(task), site.PersonOf(user.ID, user.Name)
	return row, err
}
