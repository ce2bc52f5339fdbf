package web

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/gofiber/fiber/v2"

	kernels "warpboard/evaluator/kernel"
	"warpboard/models"
)

// evalAnswer is the answer to an evaluation that has ended, whatever became of the kernel.
type evalAnswer struct {
	JobID      string         `json:"job_id"`
	Status     string         `json:"status"`
	PodName    string         `json:"pod_name"`
	PodIP      string         `json:"pod_ip"`
	GPUType    string         `json:"gpu_type,omitempty"`
	Result     execResult     `json:"kernel_exec_result"`
	RefRuntime *kernels.Stats `json:"ref_runtime,omitempty"` // of a comparison; zeros when it was not timed
}

// execResult is what is known of the custom kernel. What is not known is absent.
type execResult struct {
	kernels.Report
	Runtime    float64            `json:"runtime"`               // mean, ms; 0 when it was not timed
	RefRuntime *struct{}          `json:"ref_runtime,omitempty"` // hides the report's: it stands beside this
	Metadata   evalMetadata       `json:"metadata"`
	Stage      string             `json:"stage,omitempty"` // that the evaluation ended in
	Signal     string             `json:"signal,omitempty"`
	Limit      string             `json:"limit,omitempty"`
	Stdout     string             `json:"stdout,omitempty"`
	Stderr     string             `json:"stderr,omitempty"`
	Seconds    map[string]float64 `json:"stage_seconds,omitempty"`
}

type evalMetadata struct {
	GPUID         int                        `json:"gpu_id"`
	KernelName    string                     `json:"kernel_name,omitempty"`
	KernelType    string                     `json:"kernel_type,omitempty"`
	GPUType       string                     `json:"gpu_type,omitempty"` // "NVIDIA H200"
	CUDAVersion   string                     `json:"cuda_version,omitempty"`
	Worker        string                     `json:"worker,omitempty"`
	DeviceMetrics map[string]any             `json:"device_metrics,omitempty"`
	Reports       map[string]json.RawMessage `json:"ncu_reports,omitempty"` // all that Nsight Compute gave
	MetricsError  string                     `json:"device_metrics_error,omitempty"`
}

// resultOf reads what a worker sent; the zero Result before it has.
func resultOf(e models.Evaluation) (r kernels.Result, err error) {
	if e.Result != nil {
		err = json.Unmarshal(e.Result, &r)
	}
	if err != nil {
		err = fmt.Errorf("read the result of evaluation %s: %w", e.ID, err)
	}
	return r, err
}

func newEvalAnswer(e models.Evaluation, podIP string) (evalAnswer, error) {
	r, err := resultOf(e)
	if err != nil {
		return evalAnswer{}, err
	}
	var request kernels.Request
	if err := json.Unmarshal(e.Request, &request); err != nil {
		return evalAnswer{}, fmt.Errorf("read the request of evaluation %s: %w", e.ID, err)
	}
	answer := evalAnswer{
		JobID: e.ID, Status: "success", PodName: podName(r), PodIP: podIP, GPUType: strings.ToLower(r.Device),
		Result: execResult{
			Report: r.Report, Metadata: metadataOf(request, r), Stage: r.Stage, Signal: r.Signal, Limit: r.Limit,
			Stdout: r.Stdout, Stderr: r.Stderr, Seconds: r.StageSeconds,
		},
	}
	if r.RuntimeStats != nil {
		answer.Result.Runtime = r.RuntimeStats.Mean
	}
	if request.Kind == kernels.Compare {
		answer.RefRuntime = &kernels.Stats{}
		if r.RefRuntime != nil {
			answer.RefRuntime = r.RefRuntime
		}
	}
	return answer, nil
}

// podName is the machine that answered: the worker, or without one this.
func podName(r kernels.Result) string {
	if r.Worker != "" {
		return r.Worker
	}
	host, _ := os.Hostname()
	return host
}

func metadataOf(request kernels.Request, r kernels.Result) evalMetadata {
	m := evalMetadata{
		GPUID: r.Slot, KernelType: request.Custom.Type, GPUType: r.Name, CUDAVersion: r.CUDA, Worker: r.Worker,
		MetricsError: r.MetricsError,
	}
	for _, key := range []string{"kernel_name", "function_name", "entry_point", "class_name"} {
		if name, ok := request.Custom.Metadata[key].(string); ok && m.KernelName == "" {
			m.KernelName = name
		}
	}
	for label, metrics := range r.Metrics {
		name := label
		if label == "ref" || request.Kind == kernels.Evaluate {
			name = "original" // the only kernel of an evaluation has this name, too
		}
		if m.DeviceMetrics == nil {
			m.DeviceMetrics, m.Reports = map[string]any{}, map[string]json.RawMessage{}
		}
		m.DeviceMetrics[name+"_device_metrics"] = metrics.Device
		if metrics.Report != nil {
			m.Reports[name] = metrics.Report
		}
	}
	return m
}

// fail answers that there is no result, in the unversioned API's shape; e is the zero Evaluation where
// there is none. Beside that shape it says what was known before the end.
func (a evalAPI) fail(c *fiber.Ctx, status int, e models.Evaluation, message string) error {
	noCache(c)
	r, _ := resultOf(e) // what cannot be read is not known
	body := fiber.Map{
		"kernel_exec_result": fiber.Map{}, "ref_runtime": fiber.Map{}, "pod_name": podName(r), "pod_ip": podIP(c),
		"status": "error", "error": message, "compilation_method": "cupy",
	}
	if e.ID != "" {
		body["job_id"] = e.ID
	}
	if e.Result != nil {
		body["partial_result"] = r.Report
	}
	return c.Status(status).JSON(body)
}

// podIP is the address of this site that the caller reached.
func podIP(c *fiber.Ctx) string { return c.Context().LocalIP().String() }
