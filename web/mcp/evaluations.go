package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"warpboard/clients/go"
)

const (
	// maxRequestWait limits how long one request waits for the end of an evaluation, and so the interval of progress
	// messages. The wait starts at one second and doubles with each request up to this limit.
	maxRequestWait = 8 * time.Second
	// validateTimeout is the default time limit of a validation in seconds.
	validateTimeout = 60
	// cancelTimeout limits the request that cancels an evaluation after the tool call was cancelled.
	cancelTimeout = 5 * time.Second
)

// settings are the parameters of every evaluation.
type settings struct {
	NumTrials     *int     `json:"num_trials,omitempty" jsonschema:"timed calls, 1 to 10000; default 100"`
	NumWarmup     int      `json:"num_warmup,omitempty" jsonschema:"ignored: the site warms every kernel up"`
	ATol          *float64 `json:"atol,omitempty" jsonschema:"absolute tolerance; default 0.01"`
	RTol          *float64 `json:"rtol,omitempty" jsonschema:"relative tolerance; default 0.01"`
	Timeout       *int     `json:"timeout,omitempty" jsonschema:"seconds, 5 to 600; default 120; without the wait for a device"`
	GPUType       string   `json:"gpu_type,omitempty" jsonschema:"device to run on, such as h200 or cpu; default: any, preferably a GPU"`
	DeviceMetrics bool     `json:"enable_device_metrics,omitempty" jsonschema:"read hardware counters in a separate pass"`
}

type evaluateIn struct {
	Request     object `json:"request,omitempty" jsonschema:"body of POST /evaluate (kernel, num_trials, …); replaces all other arguments"`
	Source      string `json:"kernel_source,omitempty" jsonschema:"source of the kernel; needed without request"`
	Type        string `json:"kernel_type,omitempty" jsonschema:"torch, torch_cuda, triton, cuda or multi_kernel; needed without request"`
	RefSource   string `json:"reference_kernel_source,omitempty" jsonschema:"source of a correct kernel to compare with"`
	RefType     string `json:"reference_kernel_type,omitempty" jsonschema:"its type; default torch"`
	IO          object `json:"io_contract,omitempty" jsonschema:"arguments and launch sizes (IOContract): args, launch"`
	Metadata    object `json:"metadata,omitempty" jsonschema:"kernel_name, function_name, class_name, entry_point, compiler_options and so on, by type"`
	RefMetadata object `json:"reference_kernel_metadata,omitempty" jsonschema:"metadata of the reference"`
	settings
}

type compareIn struct {
	Request        object `json:"request,omitempty" jsonschema:"body of POST /compare (ref_kernel, custom_kernel, …); replaces all other arguments"`
	RefSource      string `json:"ref_kernel_source,omitempty" jsonschema:"source of the correct kernel; needed without request"`
	RefType        string `json:"ref_kernel_type,omitempty" jsonschema:"torch, torch_cuda, triton, cuda or multi_kernel; needed without request"`
	CustomSource   string `json:"custom_kernel_source,omitempty" jsonschema:"source of the kernel that is checked and timed; needed without request"`
	CustomType     string `json:"custom_kernel_type,omitempty" jsonschema:"its type; needed without request"`
	RefIO          object `json:"ref_kernel_io,omitempty" jsonschema:"IOContract of the reference"`
	CustomIO       object `json:"custom_kernel_io,omitempty" jsonschema:"IOContract of the custom kernel"`
	RefMetadata    object `json:"ref_kernel_metadata,omitempty" jsonschema:"metadata of the reference"`
	CustomMetadata object `json:"custom_kernel_metadata,omitempty" jsonschema:"metadata of the custom kernel"`
	settings
}

type validateIn struct {
	Source   string `json:"kernel_source" jsonschema:"source of the kernel"`
	Type     string `json:"kernel_type" jsonschema:"torch, torch_cuda, triton, cuda or multi_kernel"`
	IO       object `json:"io_contract,omitempty" jsonschema:"IOContract of the kernel"`
	Metadata object `json:"metadata,omitempty" jsonschema:"metadata of the kernel"`
	Timeout  *int   `json:"timeout,omitempty" jsonschema:"seconds; default 60"`
}

type compileIn struct {
	Request object `json:"request" jsonschema:"source_code; kernel_type (cuda or cpp), or the task that it is for; gpu_type"`
}

type jobIn struct {
	ID   string `json:"job_id" jsonschema:"job_id of an earlier answer"`
	Key  string `json:"key,omitempty" jsonschema:"key from that answer, if you use no token"`
	Wait *int   `json:"wait,omitempty" jsonschema:"seconds to wait for its end, up to 40; default 25"`
}

type noInput struct{}

// continueHint is appended to tool results that report unfinished work.
const continueHint = " If ended is false, call get_job_status with its job_id."

func (t tools) addEvaluations(server toolServer) {
	answer := map[string]string{"job_id": "string", "status": "string", "ended": "boolean", "key": "string", "url": "string", "message": "string",
		"kernel_exec_result": "object", "ref_runtime": "object", "gpu_type": "string"}
	check := map[string]string{"job_id": "string", "status": "string", "ended": "boolean", "key": "string", "compilation_error": "string", "validation_error": "string"}
	compiled := map[string]string{"job_id": "string", "ended": "boolean", "kernel_exec_result": "object"}
	state := map[string]string{"job_id": "string", "status": "string", "ended": "boolean", "created_at": "number", "url": "string", "result": "object"}
	addOpen(server, "evaluate_kernel", "Compile a kernel, check that it runs, and time it; with a reference, check it against the reference and report the speedup."+continueHint, createAnnotations(), answer, t.evaluate)
	addOpen(server, "compare_kernels", "Compile two kernels, compare their outputs, and time them alternately."+continueHint, createAnnotations(), answer, t.compare)
	addOpen(server, "validate_kernel", "Compile a kernel and check that it runs, without timing it."+continueHint, createAnnotations(), check, t.validate)
	addOpen(server, "compile_kernel", "Compile C++ or CUDA without running it: messages, registers, spills, assembly."+continueHint, createAnnotations(), compiled, t.compile)
	addOpen(server, "get_server_stats", "Statistics of the evaluation service: compilations, checks, waiting times, devices. For admins and operators.", readingAnnotations(), nil, t.stats)
	addOpen(server, "get_job_status", "Wait for an evaluation, and read its result. Call it again while ended is false.", readingAnnotations(), state, t.status)
}

// code returns the KernelCode object of an API request. It omits absent fields, so that the site reports missing ones.
func code(source, kind string, io, metadata object) object {
	k := object{}
	for name, text := range map[string]string{"source_code": source, "kernel_type": kind} {
		if text != "" {
			k[name] = text
		}
	}
	if len(io) > 0 {
		k["io"] = io
	}
	if len(metadata) > 0 {
		k["metadata"] = metadata
	}
	return k
}

// request returns the body of an API request: the kernels and the settings that were given.
func (s settings) request(kernels object) object {
	for name, value := range map[string]*int{"num_trials": s.NumTrials, "timeout": s.Timeout} {
		if value != nil { // the site refuses 0
			kernels[name] = *value
		}
	}
	if s.GPUType != "" {
		kernels["gpu_type"] = s.GPUType
	}
	if s.ATol != nil {
		kernels["atol"] = *s.ATol
	}
	if s.RTol != nil {
		kernels["rtol"] = *s.RTol
	}
	kernels["collect_device_metrics"] = s.DeviceMetrics
	return kernels
}

func (t tools) evaluate(ctx context.Context, p *progress, in evaluateIn) (any, error) {
	if in.Request != nil {
		return t.run(ctx, p, in.Request)
	}
	kernels := object{"kernel": code(in.Source, in.Type, in.IO, in.Metadata)}
	if in.RefSource != "" {
		kernels = object{
			"ref_kernel":    code(in.RefSource, cmp.Or(in.RefType, "torch"), nil, in.RefMetadata),
			"custom_kernel": kernels["kernel"],
		}
	}
	return t.run(ctx, p, in.request(kernels))
}

func (t tools) compare(ctx context.Context, p *progress, in compareIn) (any, error) {
	if in.Request != nil {
		return t.run(ctx, p, in.Request)
	}
	return t.run(ctx, p, in.request(object{
		"ref_kernel":    code(in.RefSource, in.RefType, in.RefIO, in.RefMetadata),
		"custom_kernel": code(in.CustomSource, in.CustomType, in.CustomIO, in.CustomMetadata),
	}))
}

// validate runs an evaluation with one trial and returns the fields that show whether the kernel compiles and is
// correct.
func (t tools) validate(ctx context.Context, p *progress, in validateIn) (any, error) {
	once, most := 1, validateTimeout
	s := settings{NumTrials: &once, Timeout: cmp.Or(in.Timeout, &most)}
	answer, err := t.run(ctx, p, s.request(object{"kernel": code(in.Source, in.Type, in.IO, in.Metadata)}))
	if err != nil || answer["ended"] == false {
		return answer, err
	}
	result, _ := answer["kernel_exec_result"].(object)
	out := object{"job_id": answer["job_id"], "status": answer["status"], "compiled": result["compiled"],
		"validated": result["correctness"], "metadata": result["metadata"]}
	if key, ok := answer["key"]; ok {
		out["key"] = key
	}
	for _, name := range []string{"compilation_error", "validation_error"} {
		if text, ok := result[name]; ok {
			out[name] = text
		}
	}
	if seconds, ok := result["compile_seconds"].(object); ok {
		out["compilation_time"] = seconds["custom"]
	}
	return out, nil
}

func (t tools) compile(ctx context.Context, p *progress, in compileIn) (any, error) {
	return t.await(ctx, p, func(ctx context.Context) (*client.Evaluation, error) { return t.site.Compile(ctx, in.Request) })
}

// run submits a request and waits for the result.
func (t tools) run(ctx context.Context, p *progress, request object) (object, error) {
	return t.await(ctx, p, func(ctx context.Context) (*client.Evaluation, error) { return t.site.Evaluate(ctx, request) })
}

// await submits a request and waits for the result. If the call is cancelled or the client disconnects, it cancels the
// evaluation.
func (t tools) await(
	ctx context.Context, p *progress, submit func(context.Context) (*client.Evaluation, error),
) (object, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(t.gone, cancel)()
	e, err := submit(context.WithoutCancel(ctx)) // otherwise the ID for cancelling would be unknown
	if err != nil {
		return nil, err
	}
	id, key := e.ID, e.EvaluationKey
	for wait := time.Second; !e.Ended; wait = min(2*wait, maxRequestWait) {
		p.report(ctx, fmt.Sprintf("evaluation %s: %s", id, e.State))
		if !p.isRequested() {
			wait = min(wait, t.maxWait-p.elapsed())
		}
		if wait <= 0 {
			return addKey(unfinishedResult(e), key), nil
		}
		if e, err = t.site.Evaluation(ctx, id, max(wait, time.Second)); err != nil {
			t.abandon(ctx, id)
			return nil, err
		}
	}
	if e.State != "completed" {
		return nil, fmt.Errorf("the evaluation %s ended as %s. %s", id, e.State, e.Failure)
	}
	out, err := resultOf(e)
	if err != nil {
		return nil, err
	}
	return addKey(out, key), nil
}

// addKey adds the key that a caller without a token needs to read the evaluation later.
func addKey(out object, key string) object {
	if key != "" {
		out["key"] = key
	}
	return out
}

// unfinishedResult returns the tool result for an evaluation that has not ended. Most clients would abandon a longer
// call.
func unfinishedResult(e *client.Evaluation) object {
	return object{"job_id": e.ID, "status": e.State, "ended": false, "url": e.URL,
		"message": "The evaluation continues. Call get_job_status with this job_id, and with the key if there is one, until it has ended."}
}

// abandon cancels an evaluation whose result no client waits for. It ignores an error, because the evaluation may have
// ended.
func (t tools) abandon(ctx context.Context, id string) {
	if ctx.Err() == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelTimeout)
	defer cancel()
	_, _ = t.site.CancelEvaluation(ctx, id)
}

func resultOf(e *client.Evaluation) (out object, err error) {
	if e.Result == nil {
		return nil, fmt.Errorf("the evaluation %s has no result", e.ID)
	}
	if err := json.Unmarshal(*e.Result, &out); err != nil {
		return nil, fmt.Errorf("read the result of evaluation %s: %w", e.ID, err)
	}
	return out, nil
}

func (t tools) stats(ctx context.Context, _ *progress, _ noInput) (any, error) {
	return t.site.Stats(ctx)
}

func (t tools) status(ctx context.Context, p *progress, in jobIn) (any, error) {
	if in.Key != "" {
		t.site.SetEvaluationKey(in.Key)
	}
	wait := maxCallWait
	if in.Wait != nil {
		wait = time.Duration(*in.Wait) * time.Second
	}
	p.report(ctx, "waiting for evaluation "+in.ID)
	e, err := t.site.Evaluation(ctx, in.ID, min(max(wait, 0), defaultPatience))
	if err != nil {
		return nil, err
	}
	out := object{"job_id": e.ID, "status": e.State, "ended": e.Ended, "created_at": float64(e.CreatedAt.UnixMicro()) / 1e6, "error": nil, "url": e.URL}
	if e.Failure != "" {
		out["error"] = e.Failure
	}
	if e.Result != nil {
		if out["result"], err = resultOf(e); err != nil {
			return nil, err
		}
	}
	return out, nil
}
