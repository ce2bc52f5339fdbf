package pages

import (
	"context"

	"github.com/gofiber/fiber/v2"

	"warpboard/models"
	"warpboard/views"
	"warpboard/web/site"
	"warpboard/web/site/runs"
)

// Devices shows workers and queues: the page, or to htmx only what changes.
func (p *Pages) Devices(c *fiber.Ctx) error {
	c.Vary("HX-Request")
	if !site.IsFragment(c) {
		return p.showDevices(c, fiber.StatusOK, nil)
	}
	status, err := p.devicesStatus(c)
	if err != nil {
		return err
	}
	return p.Render(c, fiber.StatusOK, views.DevicesNow(status))
}

// showDevices answers with the page; with says what was just done about a credential.
func (p *Pages) showDevices(c *fiber.Ctx, status int, with func(*views.CredentialList)) error {
	page := views.DevicesPage{Page: p.Page(c, "Devices and queue", "devices")}
	page.Live = true
	var err error
	if page.Status, err = p.devicesStatus(c); err != nil {
		return err
	}
	if page.Credentials, err = p.credentials(c, page.Page); err != nil {
		return err
	}
	if page.Credentials != nil && with != nil {
		with(page.Credentials)
	}
	return p.Render(c, status, views.Devices(page))
}

// devicesStatus reads who works and who waits.
func (p *Pages) devicesStatus(c *fiber.Ctx) (status views.DevicesStatus, err error) {
	ctx := c.UserContext()
	workers, err := p.Store.Workers(ctx)
	if err != nil {
		return status, err
	}
	devices, err := p.DeviceList(ctx)
	if err != nil {
		return status, err
	}
	list := queueList{Pages: p, viewer: site.Actor(c), submissions: map[int64]views.QueuedRun{}, slots: map[string]int64{}}
	if err := list.read(ctx); err != nil {
		return status, err
	}
	for _, d := range devices {
		queue := views.DeviceQueue{
			Device: d.Device, Slots: d.Slots, Free: max(d.Slots-d.Busy, 0), Waiting: d.Queued, Running: d.Running, Runs: list.rows[d.Device],
		}
		queue.PausedBy, queue.PausedSince = d.PausedBy, runs.TimeOf(d.PausedSince)
		status.Queues = append(status.Queues, queue)
	}
	if site.Actor(c).IsAdmin() {
		page := p.Page(c, "", "")
		status.Admin = &page
	}
	for _, w := range workers {
		status.Workers = append(status.Workers, p.workerCard(w, list.slots))
	}
	return status, nil
}

func (p *Pages) workerCard(w models.Worker, submissions map[string]int64) views.WorkerCard {
	card := views.WorkerCard{
		Name: w.Name, Version: w.Version, Online: w.Live(p.Now()), Seen: w.SeenAt, Started: w.StartedAt,
		Refusing: w.Refusing, SelfTest: w.SelfTest,
	}
	for _, slot := range w.Slots {
		card.Slots = append(card.Slots, views.SlotRow{Slot: slot, SubmissionID: submissions[slot.Attempt]})
	}
	return card
}

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
