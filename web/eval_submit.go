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

	"warpboard/evaluator/kernelrun"
	"warpboard/models"
)

// submitEvaluation queues a request that was read. The error is a *kernelrun.Refusal when its device is
// not there.
func (s *Evaluations) submitEvaluation(ctx context.Context, caller evalCaller, request kernelrun.Request) (models.Evaluation, error) {
	if err := s.Room(); err != nil {
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
	e, err := s.Store.SubmitEvaluation(ctx, models.NewEvaluation{
		User: caller.User, Owner: caller.Owner, Caller: caller.limit, Shared: shared, Kind: string(request.Kind), Device: device, Request: data,
		Sources: []byte(sources), AtOnce: s.EvalLimits.AtOnce,
	})
	if err == nil {
		s.Dispatcher.Wake()
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
func (s *Evaluations) evalDevice(ctx context.Context, asked string) (string, error) {
	workers, err := s.Store.Workers(ctx)
	if err != nil {
		return "", err
	}
	units := evalUnits(workers, s.Now())
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
	byName := map[string]*evalUnit{}
	for _, w := range workers {
		for _, slot := range w.Slots {
			if !w.Live(now) || !w.Takes(slot) || slot.Machine.Torch == "" {
				continue
			}
			u := byName[slot.Device]
			if u == nil {
				u = &evalUnit{device: slot.Device}
				byName[slot.Device] = u
			}
			u.slots++
			if slot.Attempt == "" {
				u.free++
			}
		}
	}
	units := make([]evalUnit, 0, len(byName))
	for _, u := range byName {
		units = append(units, *u)
	}
	onCPU := func(u evalUnit) int { return map[bool]int{true: 1}[u.device == "CPU"] }
	slices.SortFunc(units, func(a, b evalUnit) int {
		return cmp.Or(onCPU(a)-onCPU(b), b.free-a.free, b.slots-a.slots, cmp.Compare(a.device, b.device))
	})
	return units
}

// shareEvaluation opens or closes an evaluation; those who follow what was closed hear no more.
func (s *Evaluations) shareEvaluation(ctx context.Context, id string, shared bool) (models.Evaluation, error) {
	e, err := s.Store.ShareEvaluation(ctx, id, shared)
	if err == nil {
		s.Hub.EvaluationChanged(e)
	}
	return e, err
}

// evalPoll is how long a missed message of the hub can delay a waiting caller.
const evalPoll = time.Second

// awaitEvaluation follows an evaluation until ctx ends or until ready says that it has seen enough; it
// returns the evaluation as it then is.
func (s *Evaluations) awaitEvaluation(ctx context.Context, id string, ready func(models.Evaluation) bool) (models.Evaluation, error) {
	changed, stop := s.Hub.Watch(evaluationTopic(id))
	defer stop()
	poll := time.NewTicker(evalPoll)
	defer poll.Stop()
	for {
		e, err := s.Store.Evaluation(ctx, id)
		if err != nil || ready(e) {
			return e, err
		}
		select {
		case <-changed:
		case <-poll.C:
		case <-ctx.Done():
			return e, context.Cause(ctx)
		}
	}
}

func (s *Evaluations) jobStats(ctx context.Context) (fiber.Map, error) {
	census, err := s.Store.EvaluationCensus(ctx)
	return fiber.Map{"total_jobs": census.Total, "by_status": census.ByState, "average_age": census.Age.Seconds()}, err
}

// idleUnits counts the units that could evaluate now.
func (s *Evaluations) idleUnits(ctx context.Context) (idle int, err error) {
	workers, err := s.Store.Workers(ctx)
	for _, u := range evalUnits(workers, s.Now()) {
		idle += u.free
	}
	return idle, err
}
