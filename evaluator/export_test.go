package evaluator

import (
	"context"

	"warpboard/evaluator/device"
	"warpboard/evaluator/gauge"
	"warpboard/evaluator/job"
)

// Gauge measures a unit once; no one hears of it.
func (w *Worker) Gauge(ctx context.Context, unit device.Slot) (job.Gauge, error) {
	j, err := gauge.Job(unit.Device, unit.IsGPU())
	if err != nil {
		return job.Gauge{}, err
	}
	return w.gauge(ctx, j, unit)
}
