package evaluations

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/gofiber/fiber/v2"

	"warpboard/evaluator/kernelrun"
	"warpboard/models/db"
	"warpboard/models/work"
	"warpboard/views/format"
	"warpboard/web/site"
)

// DeviceHeader is the name of the header that selects the device of an evaluation.
const DeviceHeader = "X-GPU-Type"

// EvaluationAnswer is the response for an ended evaluation, successful or not.
type EvaluationAnswer struct {
	JobID      string           `json:"job_id" jsonschema:"id of the evaluation"`
	Status     string           `json:"status" jsonschema:"success, even if the kernel failed"`
	PodName    string           `json:"pod_name" jsonschema:"the machine that evaluated it"`
	PodIP      string           `json:"pod_ip" jsonschema:"the site's address that was reached"`
	GPUType    string           `json:"gpu_type,omitempty" jsonschema:"the device that it ran on"`
	Reused     string           `json:"reused,omitempty" jsonschema:"the evaluation whose result this is"`
	Result     ExecResult       `json:"kernel_exec_result" jsonschema:"result of the kernel; in a comparison, of the custom kernel"`
	RefRuntime *kernelrun.Stats `json:"ref_runtime,omitempty" jsonschema:"times of a comparison's reference, ms; zeros when it was not timed"`
}

// ExecResult has the results of the custom kernel. Unknown results are absent.
type ExecResult struct {
	kernelrun.Report
	Runtime float64 `json:"runtime" jsonschema:"mean time, ms; 0 when it was not timed"`
	// RefRuntime hides the field of the embedded Report in the JSON.
	RefRuntime *struct{}          `json:"ref_runtime,omitempty" jsonschema:"always absent: it stands beside kernel_exec_result"`
	Metadata   RunMetadata        `json:"metadata"`
	Stage      string             `json:"stage,omitempty" jsonschema:"the last stage that was begun"`
	Signal     string             `json:"signal,omitempty" jsonschema:"that killed the kernel's process"`
	Limit      string             `json:"limit,omitempty" jsonschema:"that the kernel's process hit"`
	Stdout     string             `json:"stdout,omitempty" jsonschema:"the end of what the kernels printed"`
	Stderr     string             `json:"stderr,omitempty" jsonschema:"the end of what they printed as errors"`
	Seconds    map[string]float64 `json:"stage_seconds,omitempty" jsonschema:"how long each stage took"`
}

// RunMetadata describes the machine and the device on which a kernel ran.
type RunMetadata struct {
	GPUID         int                           `json:"gpu_id"`
	KernelName    string                        `json:"kernel_name,omitempty"`
	KernelType    string                        `json:"kernel_type,omitempty"`
	GPUType       string                        `json:"gpu_type,omitempty" jsonschema:"its maker's name for the device"`
	CUDAVersion   string                        `json:"cuda_version,omitempty"`
	Worker        string                        `json:"worker,omitempty"`
	DeviceMetrics map[string]any                `json:"device_metrics,omitempty" jsonschema:"hardware counters by kernel, category and name"`
	Kernels       map[string][]kernelrun.Kernel `json:"kernels,omitempty" jsonschema:"with device metrics: which kernels ran and where they come from, by kernel; evidence from one untimed call"`
	Reports       map[string]json.RawMessage    `json:"ncu_reports,omitempty" jsonschema:"full reports of Nsight Compute, by kernel"`
	MetricsError  string                        `json:"device_metrics_error,omitempty" jsonschema:"why there are no counters although they were asked for"`
}

// DecodeResult decodes the result of an evaluation. It returns the zero Result if the evaluation has not ended.
func DecodeResult(e work.Evaluation) (r kernelrun.Result, err error) {
	if e.Result != nil {
		err = json.Unmarshal(e.Result, &r)
	}
	if err != nil {
		err = fmt.Errorf("read the result of evaluation %s: %w", e.ID, err)
	}
	return r, err
}

// NewAnswer converts the result of an ended evaluation.
func NewAnswer(e work.Evaluation, kernel Kernel, podIP string) (EvaluationAnswer, error) {
	r, err := DecodeResult(e)
	if err != nil {
		return EvaluationAnswer{}, err
	}
	answer := EvaluationAnswer{
		JobID: e.ID, Status: "success", PodName: PodName(r), PodIP: podIP, GPUType: strings.ToLower(r.Device), Reused: e.SharesResultOf,
		Result: ExecResult{
			Report: r.Report, Metadata: runMetadata(kernel, kernelrun.EvaluationKind(e.Kind), r), Stage: r.LastStage, Signal: r.Signal, Limit: r.ExceededLimit,
			Stdout: r.Stdout, Stderr: r.Stderr, Seconds: r.StageSeconds,
		},
	}
	if r.Compilation != nil {
		compilation := WithKernelDiagnostics(*r.Compilation)
		answer.Result.Compilation = &compilation
	}
	if r.RuntimeStats != nil {
		answer.Result.Runtime = r.RuntimeStats.Mean
	}
	if e.Kind == string(kernelrun.KindCompare) {
		answer.RefRuntime = &kernelrun.Stats{}
		if r.RefRuntime != nil {
			answer.RefRuntime = r.RefRuntime
		}
	}
	return answer, nil
}

// PodName returns the worker that measured the kernel, or this machine's host name if no worker did.
func PodName(r kernelrun.Result) string {
	if r.Worker != "" {
		return r.Worker
	}
	host, _ := os.Hostname()
	return host
}

func runMetadata(kernel Kernel, kind kernelrun.EvaluationKind, r kernelrun.Result) RunMetadata {
	m := RunMetadata{
		GPUID: r.SlotIndex, KernelName: kernel.Name, KernelType: kernel.Type, GPUType: r.DeviceName, CUDAVersion: r.CUDA, Worker: r.Worker,
		MetricsError: r.MetricsError,
	}
	for label, metrics := range r.Metrics {
		name := label
		if label == "ref" || kind == kernelrun.KindEvaluate {
			name = "original" // the API also uses this name for a kernel that is not compared
		}
		if m.DeviceMetrics == nil {
			m.DeviceMetrics, m.Kernels, m.Reports = map[string]any{}, map[string][]kernelrun.Kernel{}, map[string]json.RawMessage{}
		}
		m.DeviceMetrics[name+"_device_metrics"] = metrics.DeviceMetrics
		if metrics.Kernels != nil {
			m.Kernels[name] = metrics.Kernels
		}
		if metrics.NsightReport != nil {
			m.Reports[name] = metrics.NsightReport
		}
	}
	return m
}

// PodIP returns the local address of the connection of a request.
func PodIP(c *fiber.Ctx) string { return c.Context().LocalIP().String() }

// Kernel has the type and name of an evaluated kernel, which identify the request in the response.
type Kernel struct{ Type, Name string }

// DescribeKernel describes a kernel.
func DescribeKernel(code kernelrun.KernelCode) Kernel {
	k := Kernel{Type: code.KernelType}
	for _, key := range []string{"kernel_name", "function_name", "entry_point", "class_name"} {
		if name, ok := code.Metadata[key].(string); ok && k.Name == "" {
			k.Name = name
		}
	}
	return k
}

// KernelOfEvaluation returns the type and name of an evaluation's kernel. It caches them and decodes at most one
// request per CPU core at a time, because requests can be large.
func (s *Evaluations) KernelOfEvaluation(ctx context.Context, e work.Evaluation) (Kernel, error) {
	if kept, ok := s.kernelCache.Get(e.ID); ok {
		return kept, nil
	}
	if e.IsLarge() {
		select {
		case s.decodePermits <- struct{}{}:
			defer func() { <-s.decodePermits }()
		case <-ctx.Done():
			return Kernel{}, context.Cause(ctx)
		}
		if kept, ok := s.kernelCache.Get(e.ID); ok { // another goroutine has decoded the request by now
			return kept, nil
		}
		var err error
		if e, err = s.site.Store.Work.Evaluation(ctx, e.ID); err != nil {
			return Kernel{}, err
		}
	}
	request, err := decodeStoredRequest(e)
	if err != nil {
		return Kernel{}, err
	}
	kernel := DescribeKernel(request.CustomKernel)
	s.kernelCache.Put(e.ID, kernel, int64(100+len(kernel.Type)+len(kernel.Name)))
	return kernel, nil
}

// DecodeRequest returns the request of an evaluation, or a Failure with status 413 if it is too large for a page.
func DecodeRequest(e work.Evaluation) (request kernelrun.Request, err error) {
	if e.IsLarge() {
		return request, &site.Failure{Status: fiber.StatusRequestEntityTooLarge, Code: "too_large",
			Message: fmt.Sprintf("The request of evaluation %s is larger than the %s that are shown.", e.ID, format.Bytes(work.MaxShownRequestBytes))}
	}
	return decodeStoredRequest(e)
}

func decodeStoredRequest(e work.Evaluation) (request kernelrun.Request, err error) {
	if !e.HasRequest() {
		return request, db.Errorf(db.NotFound, "The request of evaluation %s is not kept, because it was cancelled.", e.ID)
	}
	if err = json.Unmarshal(e.Request, &request); err != nil {
		err = fmt.Errorf("read the request of evaluation %s: %w", e.ID, err)
	}
	return request, err
}
