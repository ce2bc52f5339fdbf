package dispatch

import (
	"context"
	"time"

	"warpboard/evaluator/job"
)

// keepSentinels stores new benchmarks from a heartbeat's slots, and logs an error if a slot drifts. Calls of Sync are
// sequential.
func (d *Dispatcher) keepSentinels(ctx context.Context, h job.Heartbeat, heard *heard) {
	before, units := heard.gauged, map[string]time.Time{}
	heard.gauged = units
	for _, slot := range h.Slots {
		g, unit := slot.Machine.SlotBenchmark, slot.Machine.UUIDHash
		if units[unit].IsZero() {
			units[unit] = before[unit]
		}
		// At is by the worker's clock and is only compared with itself. After a restart of the site the last benchmark
		// is stored again, which Keep treats as the same row.
		if g == nil || !g.At.After(units[unit]) {
			continue
		}
		if !heard.gauges.Allow() {
			continue // the next heartbeat repeats it
		}
		units[unit] = g.At
		err := d.store.Sentinels.Keep(ctx, h.Worker, slot)
		drift := ""
		if err == nil {
			drift, err = d.store.Sentinels.Drift(ctx, h.Worker, unit)
		}
		switch {
		case err != nil:
			d.log.Error("keeping a sentinel", "worker", h.Worker, "device", slot.Device, "err", err)
		case drift != "":
			d.log.Error("a slot drifts; its ranked runs are held back", "worker", h.Worker, "device", slot.Device, "unit", unit, "why", drift)
		}
	}
}
