package web

import (
	"github.com/gofiber/fiber/v2"

	"warpboard/models"
	"warpboard/views"
)

// devices shows workers and queues: the page, or to htmx only what changes.
func (p pages) devices(c *fiber.Ctx) error {
	c.Vary("HX-Request")
	if !isFragment(c) {
		return p.showDevices(c, fiber.StatusOK, nil)
	}
	status, err := p.devicesStatus(c)
	if err != nil {
		return err
	}
	return p.render(c, fiber.StatusOK, views.DevicesNow(status))
}

// showDevices answers with the page; with says what was just done about a credential.
func (p pages) showDevices(c *fiber.Ctx, status int, with func(*views.CredentialList)) error {
	page := views.DevicesPage{Page: p.page(c, "Devices and queue", "devices")}
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
	return p.render(c, status, views.Devices(page))
}

// devicesStatus reads who works and who waits.
func (p pages) devicesStatus(c *fiber.Ctx) (status views.DevicesStatus, err error) {
	ctx := c.UserContext()
	workers, err := p.store.Workers(ctx)
	if err != nil {
		return status, err
	}
	devices, err := p.deviceList(ctx)
	if err != nil {
		return status, err
	}
	list := queueList{pages: p, viewer: actor(c), submissions: map[int64]views.QueuedRun{}, slots: map[string]int64{}}
	if err := list.read(ctx); err != nil {
		return status, err
	}
	for _, d := range devices {
		queue := views.DeviceQueue{
			Device: d.Device, Slots: d.Slots, Free: max(d.Slots-d.Busy, 0), Waiting: list.waiting[d.Device], Running: list.running[d.Device], Runs: list.rows[d.Device],
		}
		queue.PausedBy, queue.PausedSince = d.PausedBy, timeOf(d.PausedSince)
		status.Queues = append(status.Queues, queue)
	}
	if actor(c).IsAdmin() {
		page := p.page(c, "", "")
		status.Admin = &page
	}
	for _, w := range workers {
		status.Workers = append(status.Workers, p.workerCard(w, list.slots))
	}
	return status, nil
}

func (p pages) workerCard(w models.Worker, submissions map[string]int64) views.WorkerCard {
	card := views.WorkerCard{
		Name: w.Name, Version: w.Version, Online: w.Live(p.now()), Seen: w.SeenAt, Started: w.StartedAt,
		Refusing: w.Refusing, SelfTest: w.SelfTest,
	}
	for _, slot := range w.Slots {
		card.Slots = append(card.Slots, views.SlotRow{Slot: slot, SubmissionID: submissions[slot.Attempt]})
	}
	return card
}
