package evaluator

import (
	"context"

	"warpboard/evaluator/device"
	"warpboard/evaluator/job"
	"warpboard/evaluator/slotbench"
)

// Benchmark measures a unit once; no one hears of it.
func (w *Worker) Benchmark(ctx context.Context, slot device.Slot) (job.SlotBenchmark, error) {
	j, err := slotbench.Job(slot.Device, slot.IsGPU())
	if err != nil {
		return job.SlotBenchmark{}, err
	}
	return w.runBenchmark(ctx, j, slot)
}
