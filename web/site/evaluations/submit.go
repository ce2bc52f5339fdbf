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

// Submit queues a request. A second request with the same key returns the first evaluation. The error is a
// *kernelrun.Refusal if no worker has the device.
func (s *Evaluations) Submit(
	ctx context.Context, caller Caller, request kernelrun.Request, key string,
) (work.Evaluation, error) {
	devices, err := s.devices(ctx)
	if err != nil {
		return work.Evaluation{}, err
	}
	return s.submit(ctx, caller, request, devices, key)
}

func (s *Evaluations) submit(
	ctx context.Context, caller Caller, request kernelrun.Request, devices []Device, key string,
) (work.Evaluation, error) {
	if err := s.site.CheckDisk(); err != nil {
		return work.Evaluation{}, err
	}
	in, err := newEvaluation(devices, request)
	if err != nil {
		return work.Evaluation{}, err
	}
	in.User, in.Owner, in.Caller, in.RequestKey, in.Limits = caller.User, caller.Owner, caller.limitKey, key, s.EvalLimits.EvaluationLimits
	e, err := s.site.Store.Work.SubmitEvaluation(ctx, in)
	if err == nil {
		s.announceQueue()
	}
	return e, err
}

// announceQueue announces new work to workers and open pages.
func (s *Evaluations) announceQueue() {
	s.site.Dispatcher.Wake()
	s.site.Hub.QueueChanged()
}

// newEvaluation converts a request for the store and chooses its device.
func newEvaluation(devices []Device, request kernelrun.Request) (in work.NewEvaluation, err error) {
	if in.Device, err = chooseDevice(devices, request); err != nil {
		return in, err
	}
	in.Requires = request.RequiredPackages.String()
	in.Kind, in.ReadableByAnyone = string(request.Kind), request.IsShared
	request.IsShared = false // IsShared does not affect the measurement
	if in.Request, err = json.Marshal(request); err != nil {
		return in, fmt.Errorf("write the evaluation's request: %w", err)
	}
	sources := request.CustomKernel.JoinedText()
	if request.RefKernel != nil {
		sources = request.RefKernel.JoinedText() + "\x00" + sources
	}
	in.Sources = []byte(sources)
	if request.ReuseResult {
		request.GPUType = "" // the store compares in.Device instead
		in.SharingKey, err = requestHash(request)
	}
	return in, err
}

// requestHash returns a hash that is equal for requests with equal content.
func requestHash(request kernelrun.Request) (string, error) {
	text, err := json.Marshal(request)
	if err != nil {
		return "", fmt.Errorf("write the evaluation's request: %w", err)
	}
	return db.Hash(text), nil
}

// Device describes a device that runs evaluations.
type Device struct {
	Name             string
	slots, idleSlots int
	packages         []requirement.Packages // packages of the workers of the device
}

// devices lists the devices that run evaluations now, best choice first. It returns an error if there is none.
func (s *Evaluations) devices(ctx context.Context) ([]Device, error) {
	workers, err := s.site.Store.Fleet.Workers(ctx)
	if err != nil {
		return nil, err
	}
	devices := Devices(workers, s.site.Now())
	if len(devices) == 0 {
		return nil, s.noDeviceError("No connected worker can evaluate kernels. A worker needs Python with PyTorch for that.")
	}
	return devices, nil
}

// retryWithoutDevice is the Retry-After time if no worker has the device.
const retryWithoutDevice = 30 * time.Second

// workerStartupTime is the time after a site's start in which workers may still detect devices and run self-tests.
const workerStartupTime = time.Minute

// chooseDevice returns the requested device, or the best device of the requested family. Upper and lower case are
// equal. Without a request it returns the GPU with the most free slots, or else the CPU. Devices with a worker that has
// the required packages take precedence.
func chooseDevice(devices []Device, request kernelrun.Request) (string, error) {
	var names, matching []string
	asked, needs := request.GPUType, request.RequiredPackages.Requirements()
	for _, u := range devices {
		if asked == "" || gpuname.NameMeansDevice(asked, u.Name) {
			matching = append(matching, u.Name)
			if slices.ContainsFunc(u.packages, func(p requirement.Packages) bool { return p.MeetAll(needs) }) {
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

// runsEvaluations reports whether a slot runs evaluations.
func runsEvaluations(w fleet.Worker, slot job.Slot) bool {
	return w.AcceptsJobsOn(slot) && slot.Machine.Torch != ""
}

// Devices lists the devices of live workers that run evaluations, best choice first.
func Devices(workers []fleet.Worker, now time.Time) []Device {
	return devicesOf(workers, now, runsEvaluations)
}

func devicesOf(workers []fleet.Worker, now time.Time, does func(fleet.Worker, job.Slot) bool) []Device {
	var devices []Device
	for device, slots := range fleet.CountSlots(workers, now, does) {
		devices = append(devices, Device{
			Name:      device,
			slots:     slots.AcceptingJobs,
			idleSlots: slots.Free,
			packages:  fleet.PackagesForDevice(workers, device, now),
		})
	}
	onCPU := func(u Device) int { return map[bool]int{true: 1}[u.Name == gpuname.CPU] }
	slices.SortFunc(devices, func(a, b Device) int {
		return cmp.Or(onCPU(a)-onCPU(b), b.idleSlots-a.idleSlots, b.slots-a.slots, cmp.Compare(a.Name, b.Name))
	})
	return devices
}

// MissingWorkerText describes the worker for which an evaluation waits although slots may be free ("a worker that has
// …"), or returns "".
func (s *Evaluations) MissingWorkerText(ctx context.Context, e work.Evaluation) (string, error) {
	if e.StartedAt != nil || e.State.IsFinal() {
		return "", nil
	}
	return s.site.Store.Fleet.MissingWorkerText(ctx, e.Device, e.Requires, s.site.Now())
}

// SetShared turns sharing of an evaluation on or off. Turning it off ends other people's streams of the evaluation.
func (s *Evaluations) SetShared(ctx context.Context, id string, shared bool) (work.Evaluation, error) {
	e, err := s.site.Store.Work.SetEvaluationShared(ctx, id, shared)
	if err == nil {
		s.site.Hub.EvaluationChanged(e)
	}
	return e, err
}

// Await reads an evaluation after each of its changes until ready returns true or ctx ends, and returns it as last
// read. If err is not nil, the evaluation has no request and result.
func (s *Evaluations) Await(
	ctx context.Context, id string, ready func(work.Evaluation) bool,
) (last work.Evaluation, err error) {
	err = s.site.Hub.AwaitAnnouncement(ctx, site.EvaluationTopic(id), func() (bool, error) {
		e, err := s.site.Store.Work.EvaluationForPolling(ctx, id)
		if err != nil {
			return false, err
		}
		last = e
		return ready(e), nil
	})
	if err != nil {
		return last, err
	}
	return s.site.Store.Work.ReadableEvaluation(ctx, id)
}

// JobStats counts the stored evaluations by state.
func (s *Evaluations) JobStats(ctx context.Context) (fiber.Map, error) {
	census, err := s.site.Store.Work.EvaluationStats(ctx)
	return fiber.Map{"total_jobs": census.Total, "by_status": census.ByState, "average_age": census.MeanAge.Seconds()},
		err
}
