package evaluator

import (
	"context"

	"warpboard/evaluator/device"
	"warpboard/evaluator/job"
)

// Benchmark benchmarks a slot once, without reporting the result.
func (w *Worker) Benchmark(ctx context.Context, slot device.Slot) (job.SlotBenchmark, error) {
	j, err := slotBenchmarkJob(slot.Device, slot.IsGPU())
	if err != nil {
		return job.SlotBenchmark{}, err
	}
	return w.runBenchmark(ctx, j, slot)
}
