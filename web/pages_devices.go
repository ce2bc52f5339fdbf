package web

import (
	"context"

	"github.com/gofiber/fiber/v2"

	"warpboard/models"
	"warpboard/views"
)

// devices shows workers and queues: the page, or to htmx only what changes.
func (p pages) devices(c *fiber.Ctx) error {
	status, err := p.devicesStatus(c.UserContext(), actor(c))
	if err != nil {
		return err
	}
	c.Vary("HX-Request")
	if isFragment(c) {
		return p.render(c, fiber.StatusOK, views.DevicesNow(status))
	}
	page := views.DevicesPage{Page: p.page(c, "Devices and queue", "devices"), Status: status}
	page.Live = true
	return p.render(c, fiber.StatusOK, views.Devices(page))
}

// devicesStatus reads who works and who waits.
func (p pages) devicesStatus(ctx context.Context, viewer models.User) (status views.DevicesStatus, err error) {
	workers, err := p.store.Workers(ctx)
	if err != nil {
		return status, err
	}
	devices, err := p.deviceList(ctx)
	if err != nil {
		return status, err
	}
	list := queueList{pages: p, viewer: viewer, submissions: map[int64]views.QueuedRun{}, slots: map[string]int64{}}
	if err := list.read(ctx); err != nil {
		return status, err
	}
	for _, d := range devices {
		status.Queues = append(status.Queues, views.DeviceQueue{
			Device: d.Device, Slots: d.Slots, Free: max(d.Slots-d.Busy, 0), Waiting: d.Queued, Runs: list.rows[d.Device],
		})
	}
	for _, w := range workers {
		status.Workers = append(status.Workers, p.workerCard(w, list.slots))
	}
	return status, nil
}

func (p pages) workerCard(w models.Worker, submissions map[string]int64) views.WorkerCard {
	card := views.WorkerCard{
		Name: w.Name, Version: w.Version, Online: w.Live(p.now()), Seen: w.SeenAt,
		Refusing: w.Refusing, SelfTest: w.SelfTest,
	}
	for _, slot := range w.Slots {
		card.Slots = append(card.Slots, views.SlotRow{Slot: slot, SubmissionID: submissions[slot.Attempt]})
	}
	return card
}
