package web

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"warpboard/evaluator/job"
	"warpboard/evaluator/kernelrun"
	"warpboard/models"
)

// submitEvaluation queues a request that was read. The error is a *kernelrun.Refusal when its device is
// not there.
func (s *Server) submitEvaluation(ctx context.Context, caller evalCaller, request kernelrun.Request) (models.Evaluation, error) {
	if err := s.room(); err != nil {
		return models.Evaluation{}, err
	}
	device, err := s.evalDevice(ctx, request.GPUType)
	if err != nil {
		return models.Evaluation{}, err
	}
	shared := request.Shared
	request.Shared = false // no part of what is measured
	data, err := json.Marshal(request)
	if err != nil {
		return models.Evaluation{}, fmt.Errorf("write the evaluation's request: %w", err)
	}
	sources := request.Custom.Source
	if request.Ref != nil {
		sources = request.Ref.Source + "\x00" + sources
	}
	e, err := s.store.SubmitEvaluation(ctx, models.NewEvaluation{
		User: caller.User, Owner: caller.Owner, Caller: caller.limit, Shared: shared, Kind: string(request.Kind), Device: device, Request: data,
		Sources: []byte(sources), AtOnce: s.cfg.EvalLimits.AtOnce,
	})
	if err == nil {
		s.cfg.Dispatcher.Wake()
	}
	return e, err
}

// evalUnit is a kind of device as far as evaluations care.
type evalUnit struct {
	device      string
	slots, free int
}

// evalDevice chooses the device: the one that is asked for, in any case, else the GPU with the most free
// slots, else the CPU.
func (s *Server) evalDevice(ctx context.Context, asked string) (string, error) {
	workers, err := s.store.Workers(ctx)
	if err != nil {
		return "", err
	}
	units := evalUnits(workers, s.now())
	if len(units) == 0 {
		return "", &failure{status: fiber.StatusServiceUnavailable, code: "no_device", retryAfter: 30 * time.Second,
			message: "No worker is attached that can evaluate kernels: one with a Python that has PyTorch."}
	}
	if asked == "" {
		return units[0].device, nil
	}
	var names []string
	for _, u := range units {
		if strings.EqualFold(u.device, asked) {
			return u.device, nil
		}
		names = append(names, strings.ToLower(u.device))
	}
	return "", &kernelrun.Refusal{
		Message: fmt.Sprintf("gpu_type '%s' is not attached; there are: %s", asked, strings.Join(names, ", ")),
		Details: map[string]any{"gpu_type": asked, "available": names},
	}
}

// evalUnits lists the devices that live workers evaluate on, the best choice first.
func evalUnits(workers []models.Worker, now time.Time) []evalUnit {
	var units []evalUnit
	for device, slots := range models.SlotsOf(workers, now, func(w models.Worker, slot job.Slot) bool { return w.Takes(slot) && slot.Machine.Torch != "" }) {
		units = append(units, evalUnit{device: device, slots: slots.Usable, free: slots.Free})
	}
	onCPU := func(u evalUnit) int { return map[bool]int{true: 1}[u.device == "CPU"] }
	slices.SortFunc(units, func(a, b evalUnit) int {
		return cmp.Or(onCPU(a)-onCPU(b), b.free-a.free, b.slots-a.slots, cmp.Compare(a.device, b.device))
	})
	return units
}
