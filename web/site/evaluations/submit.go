package evaluations

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
	"warpboard/internal/gpuname"
	"warpboard/internal/requirement"
	"warpboard/models/db"
	"warpboard/models/fleet"
	"warpboard/models/work"
	"warpboard/web/site"
)

// Submit queues a request that was read; the key makes sending it again safe. The error is a *kernelrun.Refusal when
// its device is not there.
func (s *Evaluations) Submit(ctx context.Context, caller Caller, request kernelrun.Request, key string) (work.Evaluation, error) {
	devices, err := s.devices(ctx)
	if err != nil {
		return work.Evaluation{}, err
	}
	return s.submit(ctx, caller, request, devices, key)
}

func (s *Evaluations) submit(ctx context.Context, caller Caller, request kernelrun.Request, devices []Device, key string) (work.Evaluation, error) {
	if err := s.site.CheckDisk(); err != nil {
		return work.Evaluation{}, err
	}
	in, err := newEvaluation(devices, request)
	if err != nil {
		return work.Evaluation{}, err
	}
	in.User, in.Owner, in.Caller, in.Key, in.Limits = caller.User, caller.Owner, caller.limit, key, s.EvalLimits.EvaluationLimits
	e, err := s.site.Store.Work.SubmitEvaluation(ctx, in)
	if err == nil {
		s.queued()
	}
	return e, err
}

// queued announces new work.
func (s *Evaluations) queued() {
	s.site.Dispatcher.Wake()
	s.site.Hub.QueueChanged()
}

// newEvaluation converts a request for the store.
func newEvaluation(devices []Device, request kernelrun.Request) (in work.NewEvaluation, err error) {
	if in.Device, err = chooseDevice(devices, request); err != nil {
		return in, err
	}
	in.Requires = request.Require.String()
	in.Kind, in.Shared = string(request.Kind), request.Shared
	request.Shared = false // no part of what is measured
	if in.Request, err = json.Marshal(request); err != nil {
		return in, fmt.Errorf("write the evaluation's request: %w", err)
	}
	sources := request.CustomKernel.Text()
	if request.RefKernel != nil {
		sources = request.RefKernel.Text() + "\x00" + sources
	}
	in.Sources = []byte(sources)
	if request.ReuseResult {
		request.GPUType = "" // the device is compared
		in.SharingKey, err = sameHash(request)
	}
	return in, err
}

// sameHash is equal for requests that measure the same.
func sameHash(request kernelrun.Request) (string, error) {
	text, err := json.Marshal(request)
	if err != nil {
		return "", fmt.Errorf("write the evaluation's request: %w", err)
	}
	return db.Hash(text), nil
}

// Device is a kind of device as far as evaluations care.
type Device struct {
	Name        string
	slots, free int
	packages    []requirement.Packages // of its workers
}

// devices lists the devices that evaluate now, the best choice first; none is an error.
func (s *Evaluations) devices(ctx context.Context) ([]Device, error) {
	workers, err := s.site.Store.Fleet.Workers(ctx)
	if err != nil {
		return nil, err
	}
	devices := Devices(workers, s.site.Now())
	if len(devices) == 0 {
		return nil, s.noDevice("No connected worker can evaluate kernels. A worker needs Python with PyTorch for that.")
	}
	return devices, nil
}

// retryWithoutDevice is the time after which a worker may have connected.
const retryWithoutDevice = 30 * time.Second

// startTime is the time after the start of a site in which its workers may still look for devices and Python, and run
// their self-tests.
const startTime = time.Minute

// chooseDevice chooses the requested device or the best of the requested family, in upper or lower case; without a
// request, the GPU with the most free slots, or the CPU. Devices with a worker that has the required packages come
// first.
func chooseDevice(devices []Device, request kernelrun.Request) (string, error) {
	var names, matching []string
	asked, needs := request.GPUType, requirement.Split(request.Require.String())
	for _, u := range devices {
		if asked == "" || gpuname.Matches(asked, u.Name) {
			matching = append(matching, u.Name)
			if slices.ContainsFunc(u.packages, func(p requirement.Packages) bool { return p.Meet(needs) }) {
				return u.Name, nil
			}
		}
		names = append(names, strings.ToLower(u.Name))
	}
	if len(matching) > 0 {
		return matching[0], nil
	}
	asked = fmt.Sprintf("%.80s", asked)
	return "", &kernelrun.Refusal{
		Message: fmt.Sprintf("gpu_type '%s' is not attached; there are: %s", asked, strings.Join(names, ", ")),
		Details: map[string]any{"gpu_type": asked, "available": names},
	}
}

// evaluates reports whether a slot takes evaluations.
func evaluates(w fleet.Worker, slot job.Slot) bool { return w.Takes(slot) && slot.Machine.Torch != "" }

// Devices lists the devices that live workers evaluate on, the best choice first.
func Devices(workers []fleet.Worker, now time.Time) []Device {
	return devicesOf(workers, now, evaluates)
}

func devicesOf(workers []fleet.Worker, now time.Time, does func(fleet.Worker, job.Slot) bool) []Device {
	var devices []Device
	for device, slots := range fleet.SlotsOf(workers, now, does) {
		devices = append(devices, Device{
			Name:     device,
			slots:    slots.Usable,
			free:     slots.Free,
			packages: fleet.PackagesFor(workers, device, now),
		})
	}
	onCPU := func(u Device) int { return map[bool]int{true: 1}[u.Name == gpuname.CPU] }
	slices.SortFunc(devices, func(a, b Device) int {
		return cmp.Or(onCPU(a)-onCPU(b), b.free-a.free, b.slots-a.slots, cmp.Compare(a.Name, b.Name))
	})
	return devices
}

// Lack returns for what an evaluation waits although slots may be free: "a worker that has …"; "" for nothing.
func (s *Evaluations) Lack(ctx context.Context, e work.Evaluation) (string, error) {
	if e.StartedAt != nil || e.State.Final() {
		return "", nil
	}
	return s.site.Store.Fleet.Lack(ctx, e.Device, e.Requires, s.site.Now())
}

// Share opens or closes an evaluation; closing ends other people's streams of it.
func (s *Evaluations) Share(ctx context.Context, id string, shared bool) (work.Evaluation, error) {
	e, err := s.site.Store.Work.ShareEvaluation(ctx, id, shared)
	if err == nil {
		s.site.Hub.EvaluationChanged(e)
	}
	return e, err
}

// Await follows an evaluation until ctx ends or ready returns true. It returns the evaluation as last read; with an
// error, without its request and its result.
func (s *Evaluations) Await(ctx context.Context, id string, ready func(work.Evaluation) bool) (last work.Evaluation, err error) {
	err = s.site.Hub.Await(ctx, site.EvaluationTopic(id), func() (bool, error) {
		e, err := s.site.Store.Work.FollowedEvaluation(ctx, id)
		if err != nil {
			return false, err
		}
		last = e
		return ready(e), nil
	})
	if err != nil {
		return last, err
	}
	return s.site.Store.Work.ShownEvaluation(ctx, id)
}

// JobStats counts the evaluations that are kept.
func (s *Evaluations) JobStats(ctx context.Context) (fiber.Map, error) {
	census, err := s.site.Store.Work.EvaluationStats(ctx)
	return fiber.Map{"total_jobs": census.Total, "by_status": census.ByState, "average_age": census.MeanAge.Seconds()},
		err
}
