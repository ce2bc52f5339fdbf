package evaluator

import (
	"context"
	"fmt"
	"time"

	"warpboard/evaluator/attempt"
	"warpboard/evaluator/device"
	"warpboard/evaluator/job"
	"warpboard/evaluator/slots"
)

// SlotBenchmarkConfig configures the benchmarks of slots with built-in kernels.
type SlotBenchmarkConfig struct {
	Interval   time.Duration // 0 disables benchmarks
	FirstDelay time.Duration // delay after the start, so that a first run does not wait
}

// benchmarkSlots benchmarks each device repeatedly while it is idle, until ctx ends. An arriving job interrupts a
// benchmark, which starts again when the worker is idle. On a machine that is never idle, a device keeps its old
// result. benchmarkBeforeRun measures a GPU without a result before its first ranked run.
func (w *Worker) benchmarkSlots(ctx context.Context) {
	if w.cfg.SlotBenchmarks.Interval == 0 {
		return
	}
	wait := w.cfg.SlotBenchmarks.FirstDelay
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		wait = w.cfg.SlotBenchmarks.Interval
		seen := map[string]bool{} // the slots of a CPU share one device
		for _, s := range w.slots.AllSlots() {
			if s.ServiceContext().Err() != nil || seen[s.UUID] {
				continue
			}
			// Slots of one device have the same UUID, also on the CPU. Only the first one in service is measured.
			seen[s.UUID] = true
			if err := w.benchmarkSlot(ctx, s.Slot); err != nil && ctx.Err() == nil {
				w.log.Warn("a slot could not be benchmarked", "device", s.Device, "err", err)
			}
		}
	}
}

func (w *Worker) benchmarkSlot(ctx context.Context, slot device.Slot) error {
	j, err := slotBenchmarkJob(slot.Device, slot.IsGPU())
	if err != nil {
		return err
	}
	var found job.SlotBenchmark
	err = w.idleScheduler.RunWhenIdle(ctx, precompileKey(j.TaskHash, j.Device), func(ctx context.Context) (err error) {
		found, err = w.runBenchmark(ctx, j, slot)
		return err
	})
	if err != nil {
		return err
	}
	w.storeBenchmark(slot, found)
	return nil
}

// storeBenchmark stores the result on all slots of the device.
func (w *Worker) storeBenchmark(slot device.Slot, found job.SlotBenchmark) {
	for _, s := range w.slots.AllSlots() {
		if s.UUID == slot.UUID {
			s.SetBenchmark(found)
		}
	}
	w.log.Info("slot benchmarked", "device", slot.Device, "floor", time.Duration(found.EmptyCallNS),
		"bandwidth", fmt.Sprintf("%.3g B/s", found.BytesPerSecond), "arithmetic", fmt.Sprintf("%.3g FLOP/s", found.FlopsPerSecond))
}

// benchmarkBeforeRun benchmarks a GPU without a result before its first ranked run, because the check for impossible
// scores needs the limits of the GPU. Otherwise a user could avoid that check by keeping the GPU busy. CPUs have no
// such check. A worker without nvcc cannot run the benchmark but accepts Python tasks.
func (w *Worker) benchmarkBeforeRun(ctx context.Context, a *attempt.Attempt, held *slots.Lease) error {
	slot := held.OwnSlot()
	if w.cfg.SlotBenchmarks.Interval == 0 || w.cfg.Toolchain.NVCC == nil || a.Job.Mode != job.ModeRanked || !slot.IsGPU() || slot.HasBenchmark() {
		return nil
	}
	found, err := w.benchmarkLeasedSlot(ctx, held.OwnSlotLease())
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("the GPU's floor and roofs are unknown, and it ranks nothing before they have been measured: %w", err)
	}
	w.storeBenchmark(slot.Slot, found)
	a.RecordMachine()
	return nil
}

func (w *Worker) benchmarkLeasedSlot(ctx context.Context, held *slots.Lease) (job.SlotBenchmark, error) {
	j, err := slotBenchmarkJob(held.OwnSlot().Device, true)
	if err != nil {
		return job.SlotBenchmark{}, err
	}
	a := attempt.New(attempt.Config{
		Job: j, WorkerName: w.cfg.Name, Publisher: NopConn{}, Slots: w.slots, Slot: held.OwnSlot(), Log: w.log,
	})
	work := w.workOfAttempt(a)
	ready, err := work.Build(ctx)
	if err == nil && ready {
		err = work.Run(ctx, held)
	}
	if err != nil { // Conclude is not called: the waiting run records the error
		return job.SlotBenchmark{}, err
	}
	return readSlotBenchmark(a.Result, true)
}

func (w *Worker) runBenchmark(ctx context.Context, j job.Job, slot device.Slot) (job.SlotBenchmark, error) {
	for _, s := range w.slots.AllSlots() {
		if s.UUID != slot.UUID {
			continue
		}
		// The attempt is not in liveAttempts: heartbeats do not list it, and a stop of the worker ends it by ctx.
		result, err := w.runAttempt(ctx, NopConn{}, s, nil, j)
		if err != nil {
			return job.SlotBenchmark{}, err
		}
		return readSlotBenchmark(result, slot.IsGPU())
	}
	return job.SlotBenchmark{}, slots.ErrOutOfService
}
