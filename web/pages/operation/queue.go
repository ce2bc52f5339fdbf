package operation

import (
	"context"
	"maps"
	"slices"

	"warpboard/evaluator/job"
	"warpboard/models/accounts"
	"warpboard/models/fleet"
	"warpboard/models/work"
	"warpboard/views"
	"warpboard/web/site"
	"warpboard/web/site/runs"
)

const maxQueueRows = 50 // runs shown of one device's queue

// queueList collects the rows of all queues: running work, then waiting work. Of submissions that the viewer may not
// see it contains only the position.
type queueList struct {
	handlers            *Operation
	viewer              accounts.User
	rows                map[string][]views.QueuedRun // rows by device
	submissionByAttempt map[string]int64             // submission by attempt, for those the viewer may see
	queueLengths        map[string]work.QueueLength  // queue lengths by device, including work that is not listed
	workers             []fleet.Worker
}

func (l *queueList) readQueues(ctx context.Context) error {
	l.rows, l.submissionByAttempt, l.queueLengths = map[string][]views.QueuedRun{}, map[string]int64{},
		map[string]work.QueueLength{}
	live, err := l.handlers.site.Store.Work.LiveQueue(ctx)
	if err != nil {
		return err
	}
	for _, q := range live {
		card := l.cardOf(q)
		switch {
		case q.EvaluationID != "":
			l.addEvaluation(q.Device, q.WorkRef(), q.Kind, q.UserID, card)
			continue
		case q.StartedAt != nil:
			l.submissionByAttempt[q.AttemptID] = q.SubmissionID
		}
		l.addRow(q.Device, views.QueuedRun{
			ID:       q.SubmissionID,
			Run:      card,
			What:     modeOrReason(q),
			Confirms: q.IsConfirmation(),
		})
	}
	return l.addPeopleAndTasks(ctx)
}

// modeOrReason returns the mode of a run, or the reason for measuring its submission again.
func modeOrReason(q work.QueuedWork) string {
	switch {
	case q.IsConfirmation():
		return "Confirmation of"
	case q.Priority == work.PriorityFollowUp:
		return "Profile of"
	case q.Priority == work.PriorityRerun:
		return "Rerun of"
	}
	return views.ModeName(q.Kind)
}

// cardOf returns the card of queued work, and counts it. A running card shows the time since the current attempt began.
func (l *queueList) cardOf(q work.QueuedWork) views.RunCard {
	if q.StartedAt != nil {
		l.countWork(q, 0, 1)
		return views.RunCard{Run: work.Run{
			ID:    q.RunID,
			State: work.RunState(q.State),
			Work:  work.Work{QueuedAt: runs.TimeOrZero(q.DispatchedAt)},
		}}
	}
	l.countWork(q, 1, 0)
	card := views.RunCard{Run: work.Run{ID: q.RunID, State: work.StateQueued, Work: work.Work{Requires: q.Requires, QueuedAt: q.QueuedAt}}, QueuePosition: q.QueuePosition}
	if q.NotBefore != nil && q.NotBefore.After(l.handlers.site.Now()) {
		card.NextAttemptAt = *q.NotBefore
	}
	return card
}

func (l *queueList) countWork(q work.QueuedWork, waiting, running int) {
	n := l.queueLengths[q.Device]
	n.Device, n.Waiting, n.Running = q.Device, n.Waiting+waiting, n.Running+running
	if q.IsBeforeNewRun() {
		n.AheadOfNewRun += waiting
	} else {
		n.BehindNewRun += waiting
	}
	l.queueLengths[q.Device] = n
}

func (l *queueList) addRow(device string, row views.QueuedRun) {
	if len(l.rows[device]) < maxQueueRows {
		if lack := l.handlers.site.Store.Fleet.MissingWorkerTextAmong(l.workers, device, row.Run.Requires, l.handlers.site.Now()); lack != "" {
			row.Run.WaitingReason = "waits for " + lack
		}
		l.rows[device] = append(l.rows[device], row)
	}
}

// addEvaluation adds an evaluation. Only its caller and admins get a link. Others see its kind, state, and wait, even
// if it is shared: sharing is for people who have the URL.
func (l *queueList) addEvaluation(device string, ref job.WorkRef, kind string, userID int64, card views.RunCard) {
	// a worker received it, but has not reported a stage yet
	if string(card.State) == string(work.EvaluationSubmitted) {
		card.State = work.StateBuilding
	}
	row := views.QueuedRun{Run: card, Kind: kind}
	own := l.viewer.SignedIn() && l.viewer.ID == userID
	if own {
		row.Owner = site.PersonLink(l.viewer.ID, l.viewer.Name)
	}
	if own || l.viewer.IsAdmin() {
		row.EvaluationID = ref.EvaluationID
	}
	l.addRow(device, row)
}

// addPeopleAndTasks adds people and tasks to all rows, and removes data that the viewer may not see.
func (l *queueList) addPeopleAndTasks(ctx context.Context) error {
	ids := slices.Collect(maps.Values(l.submissionByAttempt))
	for _, rows := range l.rows {
		for _, row := range rows {
			ids = append(ids, row.ID)
		}
	}
	found, err := l.handlers.site.Store.Work.QueuedSubmissions(ctx, ids)
	if err != nil {
		return err
	}
	known := map[int64]work.QueuedSubmission{}
	for _, sub := range found {
		if sub.ListedTo(l.viewer) {
			known[sub.ID] = sub
		}
	}
	for _, rows := range l.rows {
		for i := range rows {
			if sub, ok := known[rows[i].ID]; ok {
				rows[i].Run.Task, rows[i].Owner = site.TaskLink(sub.Task), site.PersonLink(sub.UserID, sub.UserName)
			}
			rows[i].ID = known[rows[i].ID].ID
		}
	}
	for attempt, id := range l.submissionByAttempt {
		l.submissionByAttempt[attempt] = known[id].ID
	}
	return nil
}
