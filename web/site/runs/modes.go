package runs

import (
	"context"
	"slices"

	"warpboard/clients/go"
	"warpboard/evaluator/job"
	"warpboard/internal/gpuname"
	"warpboard/tasks"
	"warpboard/views"
	"warpboard/web/site"
)

// offeredModes lists the modes that a task offers on some devices. A CPU does not support NVIDIA's tools, and mode
// sanitize needs a worker with compute-sanitizer.
func offeredModes(lang tasks.Lang, devices []views.DeviceChoice) []string {
	modes := []string{string(job.ModeRanked), string(job.ModeBenchmark), string(job.ModeTest)}
	if lang == tasks.LangCPP {
		return modes
	}
	modes = append(modes, string(job.ModeProfile))
	if slices.ContainsFunc(devices, func(d views.DeviceChoice) bool { return d.Sanitizer }) {
		modes = append(modes, string(job.ModeSanitize))
	}
	return modes
}

// checkMode returns an error if one of the devices does not support the mode.
func (s *Runs) checkMode(ctx context.Context, mode job.Mode, devices []string) error {
	onCPU := slices.Contains(devices, gpuname.CPU)
	switch {
	case mode == job.ModeProfile && onCPU:
		return site.Invalid("mode", "A run on a CPU has no profile, since Nsight Compute profiles GPUs: choose a GPU or another mode.")
	case mode == job.ModeSanitize && onCPU:
		return site.Invalid("mode", "A run on a CPU cannot be sanitized, since compute-sanitizer checks GPUs: choose a GPU or another mode.")
	case mode != job.ModeSanitize:
		return nil
	}
	known, err := s.DeviceList(ctx)
	if err != nil {
		return err
	}
	for _, device := range devices {
		// A device without a worker lacks no mode: the run waits for a worker, which may support it.
		lacks := func(d client.Device) bool { return d.Device == device && d.Slots+d.OutOfService > 0 && !d.Sanitizer }
		if slices.ContainsFunc(known, lacks) {
			return site.Invalid("mode", "No worker of %s has compute-sanitizer. Choose another device, or ask the operator of this site to install it beside nvcc.", device)
		}
	}
	return nil
}
