package evaluator

import (
	"context"
	"fmt"
	"time"

	"warpboard/evaluator/attempt"
	"warpboard/evaluator/device"
	"warpboard/evaluator/gauge"
	"warpboard/evaluator/job"
	"warpboard/evaluator/slots"
)

// Gauging configures the benchmarks of slots with built-in kernels.
type Gauging struct {
	Every time.Duration // 0 disables benchmarks
	First time.Duration // delay after the start, so that a first run does not wait
}

// gaugeLoop benchmarks each device repeatedly while it is idle, until ctx ends. A job that arrives interrupts a
// benchmark, which starts over when the worker is idle. On a machine that is never idle, a device keeps its old result.
// gaugeFirst measures a GPU without a result before its first ranked run.
func (w *Worker) gaugeLoop(ctx context.Context) {
	if w.cfg.Gauge.Every == 0 {
		return
	}
	wait := w.cfg.Gauge.First
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		wait = w.cfg.Gauge.Every
		seen := map[string]bool{} // the slots of a CPU share one device
		for _, s := range w.pool.All() {
			if s.Service().Err() != nil || seen[s.UUID] {
				continue
			}
			// Slots of one device have the same UUID, also on the CPU. Only the first in service is measured.
			seen[s.UUID] = true
			if err := w.gaugeUnit(ctx, s.Slot); err != nil && ctx.Err() == nil {
				w.log.Warn("a slot could not be gauged", "device", s.Device, "err", err)
			}
		}
	}
}

func (w *Worker) gaugeUnit(ctx context.Context, unit device.Slot) error {
	j, err := gauge.Job(unit.Device, unit.IsGPU())
	if err != nil {
		return err
	}
	var found job.Gauge
	err = w.gate.Do(ctx, precompileKey(j.TaskKey, j.Device), func(ctx context.Context) (err error) {
		found, err = w.gauge(ctx, j, unit)
		return err
	})
	if err != nil {
		return err
	}
	w.gauged(unit, found)
	return nil
}

// gauged stores the result on all slots of the device.
func (w *Worker) gauged(unit device.Slot, found job.Gauge) {
	for _, s := range w.pool.All() {
		if s.UUID == unit.UUID {
			s.Gauged(found)
		}
	}
	w.log.Info("slot gauged", "device", unit.Device, "floor", time.Duration(found.FloorNS),
		"bandwidth", fmt.Sprintf("%.3g B/s", found.BytesPerSecond), "arithmetic", fmt.Sprintf("%.3g FLOP/s", found.FlopsPerSecond))
}

// gaugeFirst benchmarks a GPU without a result before its first ranked run, because the check for scores that are
// faster than possible needs its limits. Otherwise a user could avoid that check by keeping the GPU busy. CPUs have no
// such check. A worker without nvcc cannot run the benchmark, and still takes Python tasks.
func (w *Worker) gaugeFirst(ctx context.Context, a *attempt.Attempt, held *slots.Held) error {
	unit := held.First()
	if w.cfg.Gauge.Every == 0 || w.cfg.Tools.NVCC == nil || a.Job.Mode != job.ModeRanked || !unit.IsGPU() || unit.IsGauged() {
		return nil
	}
	found, err := w.gaugeHeld(ctx, held.One())
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("the GPU's floor and roofs are unknown, and it ranks nothing before they have been measured: %w", err)
	}
	w.gauged(unit.Slot, found)
	a.Describe()
	return nil
}

func (w *Worker) gaugeHeld(ctx context.Context, held *slots.Held) (job.Gauge, error) {
	j, err := gauge.Job(held.First().Device, true)
	if err != nil {
		return job.Gauge{}, err
	}
	a := attempt.New(attempt.Config{Job: j, Worker: w.cfg.Name, Publisher: NopConn{}, Pool: w.pool, Slot: held.First(), Log: w.log})
	work := w.workOf(a)
	ready, err := work.Build(ctx)
	if err == nil && ready {
		err = work.Run(ctx, held)
	}
	if err != nil { // not concluded: the waiting run counts the fault
		return job.Gauge{}, err
	}
	return gauge.Read(a.Result, true)
}

func (w *Worker) gauge(ctx context.Context, j job.Job, unit device.Slot) (job.Gauge, error) {
	for _, s := range w.pool.All() {
		if s.UUID != unit.UUID {
			continue
		}
		// The attempt is not in inFlight: heartbeats do not list it, and a stop of the worker ends it through ctx.
		result, err := w.attempt(ctx, NopConn{}, s, nil, j)
		if err != nil {
			return job.Gauge{}, err
		}
		return gauge.Read(result, unit.IsGPU())
	}
	return job.Gauge{}, slots.ErrOutOfService
}
