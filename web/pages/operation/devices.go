package operation

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	client "warpboard/clients/go"
	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/db"
	"warpboard/models/epochs"
	"warpboard/models/fleet"
	"warpboard/models/work"
	"warpboard/views"
	"warpboard/views/format"
	"warpboard/web/conns"
	"warpboard/web/site"
	"warpboard/web/site/runs"
)

// Devices shows the workers and queues. For htmx it renders only the part that changes.
func (p *Operation) Devices(c *fiber.Ctx) error {
	c.Vary("HX-Request")
	status, err := p.devicesStatus(c)
	if err != nil {
		return err
	}
	if site.WantsFragment(c) {
		return p.site.Render(c, fiber.StatusOK, views.DevicesNow(status))
	}
	page := views.DevicesPage{Page: p.site.Page(c, "Queue", "devices"), Status: status}
	page.HasStream = true
	return p.site.Render(c, fiber.StatusOK, views.Devices(page))
}

// devicesStatus reads the state of the workers and the queues.
func (p *Operation) devicesStatus(c *fiber.Ctx) (status views.DevicesStatus, err error) {
	ctx := c.UserContext()
	workers, err := p.runs.WorkersFor(ctx, site.Actor(c))
	if err != nil {
		return status, err
	}
	list := queueList{handlers: p, viewer: site.Actor(c), workers: workers}
	if err := list.readQueues(ctx); err != nil {
		return status, err
	}
	devices, err := p.runs.Devices(ctx, workers, slices.Collect(maps.Values(list.queueLengths)))
	if err != nil {
		return status, err
	}
	for _, d := range devices {
		status.Queues = append(status.Queues, views.DeviceQueue{
			Device: d,
			Free:   runs.IdleSlots(d),
			Runs:   list.rows[d.Device],
			What:   p.deviceFacts(workers, d.Device),
		})
	}
	status.Queues = append(status.Queues, p.disconnectedDevices(workers, status.Queues)...)
	if err := p.addActivity(ctx, workers, status.Queues); err != nil {
		return status, err
	}
	if site.Actor(c).IsAdmin() {
		page := p.site.Page(c, "", "")
		status.Admin = &page
	}
	for _, w := range workers {
		status.Workers = append(status.Workers, views.WorkerCard{
			Worker:      w,
			Online:      w.IsLive(p.site.Now()),
			Submissions: list.submissionByAttempt,
		})
	}
	return status, nil
}

// disconnectedDevices returns the devices that only disconnected workers have.
func (p *Operation) disconnectedDevices(workers []fleet.Worker, here []views.DeviceQueue) (list []views.DeviceQueue) {
	for _, w := range workers {
		for _, slot := range w.Slots {
			known := func(q views.DeviceQueue) bool { return q.Device.Device == slot.Device }
			if !slices.ContainsFunc(here, known) && !slices.ContainsFunc(list, known) {
				list = append(list, views.DeviceQueue{
					Device: client.Device{Device: slot.Device},
					What:   p.deviceFacts(workers, slot.Device),
					Away:   w.SeenAt,
				})
			}
		}
	}
	return list
}

// deviceFacts describes a device by the slots of all its workers, connected or not; live workers come first.
func (p *Operation) deviceFacts(workers []fleet.Worker, device string) (what views.DeviceFacts) {
	for _, live := range []bool{true, false} {
		for _, w := range workers {
			for _, slot := range w.Slots {
				if slot.Device != device || w.IsLive(p.site.Now()) != live || what.Slots > 0 && !live {
					continue
				}
				what.Slots++
				what.Name, what.Memory, what.Arch = cmp.Or(what.Name, slot.Machine.DeviceName), max(what.Memory, int64(slot.MemoryBytes)), cmp.Or(what.Arch, slot.Arch)
				what.Profiler, what.Sanitizer = what.Profiler || slot.CanProfile, what.Sanitizer || slot.CanSanitize
				if g := slot.Machine.SlotBenchmark; g != nil && g.Valid() {
					what.BytesPerSecond, what.FlopsPerSecond = max(what.BytesPerSecond, g.BytesPerSecond), max(what.FlopsPerSecond, g.FlopsPerSecond)
				}
			}
		}
	}
	return what
}

// activityCacheLifetime is the maximum age of the cached activity of a day. Reading it scans all runs of the day, and
// open pages request it after each change of a queue.
const activityCacheLifetime = time.Minute

// activityCache caches the last day's activity of each device.
type activityCache struct {
	sync.Mutex
	readAt   time.Time
	byDevice map[string]work.DeviceActivity
}

// addActivity sets the last day's activity of each device in queues.
func (p *Operation) addActivity(ctx context.Context, workers []fleet.Worker, queues []views.DeviceQueue) error {
	p.activityCache.Lock()
	defer p.activityCache.Unlock()
	if now := p.site.Now(); p.activityCache.byDevice == nil || now.Sub(p.activityCache.readAt) > activityCacheLifetime {
		all, err := p.site.Store.Work.DeviceActivities(ctx, now, fleet.SlotStartTimes(workers, now))
		if err != nil {
			return err
		}
		p.activityCache.readAt, p.activityCache.byDevice = now, all
	}
	for i, q := range queues {
		queues[i].Day = p.activityCache.byDevice[q.Device.Device]
	}
	return nil
}

// maxSlotBenchmarkRows limits the slot benchmarks on a page. It is about one day of six slots.
const maxSlotBenchmarkRows = 900

// SlotBenchmarks shows how a device's slot benchmarks changed over time.
func (p *Operation) SlotBenchmarks(c *fiber.Ctx) error {
	name := c.Params("device")
	list, err := p.site.Store.Fleet.BenchmarksOf(c.UserContext(), name, maxSlotBenchmarkRows)
	if err != nil {
		return err
	}
	page := views.SlotBenchmarksPage{Page: p.site.Page(c, name+" slots", "devices"), Device: name}
	for _, history := range fleet.GroupBySlot(list) {
		page.Slots = append(page.Slots, newSlotHistory(history))
	}
	return p.site.Render(c, fiber.StatusOK, views.SlotBenchmarks(page))
}

func newSlotHistory(list []fleet.SlotBenchmark) views.SlotHistory {
	history := views.SlotHistory{Worker: list[0].Worker, UUIDHash: list[0].UUIDHash,
		Drift: fleet.DescribeBenchmarkDrift(list)}
	for _, s := range list {
		history.Rows = append(history.Rows, views.SlotBenchmarkRow{At: s.MeasuredAt, ReadNS: s.ReadNS,
			MathNS: s.MathNS})
	}
	return history
}

const maxShownDrifts = 5 // number of the newest ones

// Drift shows how new software on a device changed scores.
func (p *Operation) Drift(c *fiber.Ctx) error {
	device := c.Params("device")
	known, err := p.site.Store.Epochs.OfDevice(c.UserContext(), device)
	if err != nil {
		return err
	}
	workers, err := p.site.Store.Fleet.Workers(c.UserContext())
	if err != nil {
		return err
	}
	workers = slices.DeleteFunc(slices.Clone(workers), func(w fleet.Worker) bool {
		return !slices.ContainsFunc(w.Slots, func(slot job.Slot) bool { return slot.Device == device })
	})
	if len(known)+len(workers) == 0 {
		return db.Errorf(db.NotFound, "No worker has a device %q.", device)
	}
	drifts, err := p.site.Store.Reruns(c.UserContext(), site.Actor(c), 0, device, maxShownDrifts)
	if err != nil {
		return err
	}
	page := views.DriftPage{
		Page:    p.site.Page(c, "Software on "+device, "devices"),
		Device:  device,
		Epochs:  epochRows(known),
		Workers: workers,
	}
	for _, d := range drifts {
		page.UpdateEffects = append(page.UpdateEffects, softwareUpdateEffect(d, known))
	}
	return p.site.Render(c, fiber.StatusOK, views.DriftOf(page))
}

func epochRows(known []epochs.EpochPeriod) []views.EpochRow {
	rows := make([]views.EpochRow, len(known))
	for i, e := range known {
		rows[i] = views.EpochRow{
			Since: e.SeenSince,
			Kind: map[epochs.SoftwareKind]string{epochs.NativeSoftware: "C++ and CUDA",
				epochs.PythonSoftware: "Python"}[e.SoftwareKind],
			Software: e.String(),
		}
	}
	return rows
}

// softwareUpdateEffect describes one change of software: the old and new versions, and the boards that became faster or
// slower.
func softwareUpdateEffect(d models.OrderWithReruns, known []epochs.EpochPeriod) views.SoftwareUpdateEffect {
	drift := views.SoftwareUpdateEffect{BeganAt: d.CreatedAt}
	for i, e := range known {
		if e.ID != d.EpochID {
			continue
		}
		drift.Software = e.String()
		for _, before := range known[i+1:] {
			if before.SoftwareKind == e.SoftwareKind {
				drift.Changes = before.ChangedComponents(e.Software)
				break
			}
		}
		break
	}
	measured, logs := 0, 0.0
	for _, row := range d.Runs {
		drift.Rows = append(drift.Rows, views.RerunRow{Rerun: row})
		if row.ScoreNS != nil && row.ScoreBefore.ScoreNS > 0 {
			measured++
			logs += math.Log(*row.ScoreNS / row.ScoreBefore.ScoreNS)
		}
	}
	drift.Summary = fmt.Sprintf("%d of %d measured", measured, len(drift.Rows))
	if measured > 0 {
		mean := math.Exp(logs / float64(measured))
		drift.Summary += ", " + format.MeanChange(mean) + " overall"
	}
	return drift
}

// DeviceEvents notifies the page of queues of changes. Each connection begins with one notification, because a change
// may have occurred while the page was loading.
func (p *Operation) DeviceEvents(c *fiber.Ctx) error {
	changed := func(out *conns.Writer) error {
		_, err := out.Write(conns.FormatEvent(0, "queue", nil))
		return err
	}
	return p.site.Stream(c, conns.StreamSource{
		Topic:        site.QueueTopic(),
		WriteBacklog: func(_ context.Context, out *conns.Writer) error { return changed(out) },
		WriteMessage: func(_ context.Context, _ conns.Message, out *conns.Writer) error { return changed(out) },
	})
}
