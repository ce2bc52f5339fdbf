package evaluations

import (
	"context"

	"warpboard/internal/gpuname"
)

// Capacity has the number of idle slots and the supported kernel types of live workers.
type Capacity struct {
	IdleSlots int      // free slots
	Backends  []string // types of kernels, in the order of the API
}

// Capacity returns the idle slots and supported kernel types of live workers.
func (s *Evaluations) Capacity(ctx context.Context) (Capacity, error) {
	workers, err := s.site.Store.Fleet.Workers(ctx)
	if err != nil {
		return Capacity{}, err
	}
	out := Capacity{Backends: []string{}} // an empty list, and not null
	for _, u := range Devices(workers, s.site.Now()) {
		out.IdleSlots += u.idleSlots
	}
	found := map[string]bool{}
	for _, w := range workers {
		for _, slot := range w.Slots {
			if !w.IsLive(s.site.Now()) || !runsEvaluations(w, slot) {
				continue
			}
			gpu, machine := slot.Device != gpuname.CPU, slot.Machine
			found["torch"], found["multi_kernel"] = true, true
			found["cuda"] = found["cuda"] || gpu
			found["triton"] = found["triton"] || gpu && machine.Triton != ""
			found["torch_cuda"] = found["torch_cuda"] || gpu && machine.CompilerVersion != ""
		}
	}
	for _, kernelType := range []string{"torch", "cuda", "triton", "torch_cuda", "multi_kernel"} {
		if found[kernelType] {
			out.Backends = append(out.Backends, kernelType)
		}
	}
	return out, nil
}
