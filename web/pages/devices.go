package pages

import (
	"cmp"
	"maps"
	"slices"

	"github.com/gofiber/fiber/v2"

	"warpboard/clients/go"
	"warpboard/models/fleet"
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
	return p.site.Render(c, fiber.StatusOK, views.DevicesNow(status))
}

// showDevices answers with the page; with says what was just done about a credential.
func (p *Pages) showDevices(c *fiber.Ctx, status int, with func(*views.CredentialList)) error {
	page := views.DevicesPage{Page: p.site.Page(c, "Queue", "devices")}
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
	return p.site.Render(c, status, views.Devices(page))
}

// devicesStatus reads who works and who waits.
func (p *Pages) devicesStatus(c *fiber.Ctx) (status views.DevicesStatus, err error) {
	ctx := c.UserContext()
	workers, err := p.runs.WorkersFor(ctx, site.Actor(c))
	if err != nil {
		return status, err
	}
	list := queueList{pages: p, viewer: site.Actor(c)}
	if err := list.read(ctx); err != nil {
		return status, err
	}
	devices, err := p.runs.Devices(ctx, workers, slices.Collect(maps.Values(list.lengths)))
	if err != nil {
		return status, err
	}
	for _, d := range devices {
		status.Queues = append(status.Queues, views.DeviceQueue{Device: d, Free: runs.Free(d), Runs: list.rows[d.Device], What: p.silicon(workers, d.Device)})
	}
	status.Queues = append(status.Queues, p.awayDevices(workers, status.Queues)...)
	if err := p.addActivity(ctx, workers, status.Queues); err != nil {
		return status, err
	}
	if site.Actor(c).IsAdmin() {
		page := p.site.Page(c, "", "")
		status.Admin = &page
	}
	for _, w := range workers {
		status.Workers = append(status.Workers, views.WorkerCard{Worker: w, Online: w.Live(p.site.Now()), Submissions: list.slots})
	}
	return status, nil
}

// awayDevices are devices that no connected worker has, but a former one had.
func (p *Pages) awayDevices(workers []fleet.Worker, here []views.DeviceQueue) (list []views.DeviceQueue) {
	for _, w := range workers {
		for _, slot := range w.Slots {
			known := func(q views.DeviceQueue) bool { return q.Device.Device == slot.Device }
			if !slices.ContainsFunc(here, known) && !slices.ContainsFunc(list, known) {
				list = append(list, views.DeviceQueue{Device: client.Device{Device: slot.Device}, What: p.silicon(workers, slot.Device), Away: w.SeenAt})
			}
		}
	}
	return list
}

// silicon describes a device by the slots of all workers that have it or had it, the live ones first.
func (p *Pages) silicon(workers []fleet.Worker, device string) (what views.DeviceFacts) {
	for _, live := range []bool{true, false} {
		for _, w := range workers {
			for _, slot := range w.Slots {
				if slot.Device != device || w.Live(p.site.Now()) != live || what.Units > 0 && !live {
					continue
				}
				what.Units++
				what.Name, what.Memory, what.Arch = cmp.Or(what.Name, slot.Machine.Name), max(what.Memory, int64(slot.Memory)), cmp.Or(what.Arch, slot.Arch)
				what.Profiler, what.Sanitizer = what.Profiler || slot.Profiler, what.Sanitizer || slot.Sanitizer
				if g := slot.Machine.Gauge; g != nil && g.Valid() {
					what.BytesPerSecond, what.FlopsPerSecond = max(what.BytesPerSecond, g.BytesPerSecond), max(what.FlopsPerSecond, g.FlopsPerSecond)
				}
			}
		}
	}
	return what
}
