package dispatch

import (
	"context"
	"time"

	"warpboard/evaluator/job"
)

// storeSlotBenchmarks stores new slot benchmarks from a heartbeat, and logs an error if a slot drifts. Calls of Sync
// are sequential.
func (d *Dispatcher) storeSlotBenchmarks(ctx context.Context, h job.Heartbeat, state *workerState) {
	before, times := state.benchmarkStoredAt, map[string]time.Time{}
	state.benchmarkStoredAt = times
	for _, slot := range h.Slots {
		g, device := slot.Machine.SlotBenchmark, slot.Machine.UUIDHash
		if times[device].IsZero() {
			times[device] = before[device]
		}
		// MeasuredAt comes from the worker's clock, so it is only compared with other times of that clock. After a
		// restart of the site the last benchmark is sent again, and Fleet.StoreBenchmark recognizes it.
		if g == nil || !g.MeasuredAt.After(times[device]) {
			continue
		}
		if !state.benchmarkWriteLimit.Allow() {
			continue // the next heartbeat has the benchmark again
		}
		times[device] = g.MeasuredAt
		allows, err := d.store.Fleet.DeviceFilterOf(ctx, h.Worker)
		if err == nil && !allows(slot.Device) {
			continue
		}
		drift := ""
		if err == nil {
			err = d.store.Fleet.StoreBenchmark(ctx, h.Worker, slot)
		}
		if err == nil {
			drift, err = d.store.Fleet.DescribeDrift(ctx, h.Worker, device)
		}
		switch {
		case err != nil:
			d.log.Error("keeping a slot benchmark", "worker", h.Worker, "device", slot.Device, "err", err)
		case drift != "":
			d.log.Error("a slot drifts; its ranked runs are held back", "worker", h.Worker, "device", slot.Device, "uuid", device, "why", drift)
		}
	}
}
