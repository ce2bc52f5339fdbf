package remeasure

import (
	"fmt"
	"math"
	"slices"

	"github.com/gofiber/fiber/v2"

	"warpboard/evaluator/job"
	"warpboard/models/db"
	"warpboard/models/epochs"
	"warpboard/models/rejudge"
	"warpboard/views"
	"warpboard/views/format"
	"warpboard/web/site"
	"warpboard/web/site/runs"
)

// Remeasure is the pages about what is measured again.
type Remeasure struct {
	site *site.Site
	runs *runs.Runs
}

// New returns the pages.
func New(site *site.Site, runs *runs.Runs) *Remeasure { return &Remeasure{site: site, runs: runs} }

const driftsShown = 5 // the newest ones

// Drift shows what new software changed on a device.
func (r *Remeasure) Drift(c *fiber.Ctx) error {
	device := c.Params("device")
	known, err := r.site.Store.Epochs.OfDevice(c.UserContext(), device)
	if err != nil {
		return err
	}
	if len(known) == 0 {
		if err := r.checkDevice(c, device); err != nil {
			return err
		}
	}
	drifts, err := r.site.Store.Rejudges.Drifts(c.UserContext(), device, driftsShown)
	if err != nil {
		return err
	}
	page := views.DriftPage{Page: r.site.Page(c, "Software on "+device, "devices"), Device: device, Epochs: epochRows(known)}
	ids := make([]int64, len(drifts))
	for i, d := range drifts {
		ids[i] = d.ID
	}
	rows, err := r.site.Store.Rejudges.Reruns(c.UserContext(), ids, site.Actor(c))
	if err != nil {
		return err
	}
	for _, d := range drifts {
		page.Drifts = append(page.Drifts, driftOf(d, known, rows))
	}
	return r.site.Render(c, fiber.StatusOK, views.DriftOf(page))
}

// checkDevice fails unless a worker has the device.
func (r *Remeasure) checkDevice(c *fiber.Ctx, device string) error {
	workers, err := r.site.Store.Fleet.Workers(c.UserContext())
	if err != nil {
		return err
	}
	for _, w := range workers {
		if slices.ContainsFunc(w.Slots, func(slot job.Slot) bool { return slot.Device == device }) {
			return nil
		}
	}
	return db.Errorf(db.NotFound, "No worker has a device %q.", device)
}

func epochRows(known []epochs.Known) []views.EpochRow {
	rows := make([]views.EpochRow, len(known))
	for i, e := range known {
		rows[i] = views.EpochRow{Since: e.Since, Kind: map[epochs.Kind]string{epochs.Native: "C++ and CUDA", epochs.Python: "Python"}[e.Kind], Software: e.String()}
	}
	return rows
}

// driftOf is one change of software: what it was, and what became faster or slower.
func driftOf(d rejudge.Rejudge, known []epochs.Known, rows []rejudge.Row) views.Drift {
	drift := views.Drift{When: d.CreatedAt}
	for i, e := range known {
		if e.ID != d.EpochID {
			continue
		}
		drift.Epoch = e.String()
		for _, before := range known[i+1:] {
			if before.Kind == e.Kind {
				drift.Changes = before.Changes(e.Software)
				break
			}
		}
		break
	}
	measured, logs := 0, 0.0
	for _, row := range rows {
		if row.RejudgeID != d.ID {
			continue
		}
		drift.Rows = append(drift.Rows, views.RerunRow{Row: row})
		if row.NowNS != nil && row.WasNS > 0 && *row.NowNS > 0 {
			measured++
			logs += math.Log(*row.NowNS / row.WasNS)
		}
	}
	drift.Summary = fmt.Sprintf("%d of %d measured", measured, len(drift.Rows))
	if measured > 0 {
		mean := math.Exp(logs / float64(measured))
		drift.Summary += ", " + format.Mean(mean) + " overall"
	}
	return drift
}
