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
	// defaultValidateSeconds is the default time limit of a validation in seconds.
	defaultValidateSeconds = 60
	// cancelTimeout limits the request that cancels an evaluation after the tool call was cancelled.
	cancelTimeout = 5 * time.Second
)

// evaluationSettings are the parameters of every evaluation.
type evaluationSettings struct {
	NumTrials     *int     `json:"num_trials,omitempty" jsonschema:"timed calls, 1 to 10000; default 100"`
	NumWarmup     int      `json:"num_warmup,omitempty" jsonschema:"ignored: the site warms every kernel up"`
	ATol          *float64 `json:"atol,omitempty" jsonschema:"absolute tolerance; default 0.01"`
	RTol          *float64 `json:"rtol,omitempty" jsonschema:"relative tolerance; default 0.01"`
	Timeout       *int     `json:"timeout,omitempty" jsonschema:"seconds, 5 to 600; default 120; without the wait for a device"`
	GPUType       string   `json:"gpu_type,omitempty" jsonschema:"device to run on, such as h200 or cpu; default: any, preferably a GPU"`
	DeviceMetrics bool     `json:"enable_device_metrics,omitempty" jsonschema:"read hardware counters in a separate pass"`
}

type evaluateIn struct {
	Request     jsonObject `json:"request,omitempty" jsonschema:"body of POST /evaluate (kernel, num_trials, …); replaces all other arguments"`
	Source      string     `json:"kernel_source,omitempty" jsonschema:"source of the kernel; needed without request"`
	Type        string     `json:"kernel_type,omitempty" jsonschema:"torch, torch_cuda, triton, cuda or multi_kernel; needed without request"`
	RefSource   string     `json:"reference_kernel_source,omitempty" jsonschema:"source of a correct kernel to compare with"`
	RefType     string     `json:"reference_kernel_type,omitempty" jsonschema:"its type; default torch"`
	IO          jsonObject `json:"io_contract,omitempty" jsonschema:"arguments and launch sizes (IOContract): args, launch"`
	Metadata    jsonObject `json:"metadata,omitempty" jsonschema:"kernel_name, function_name, class_name, entry_point, compiler_options and so on, by type"`
	RefMetadata jsonObject `json:"reference_kernel_metadata,omitempty" jsonschema:"metadata of the reference"`
	evaluationSettings
}

type compareIn struct {
	Request        jsonObject `json:"request,omitempty" jsonschema:"body of POST /compare (ref_kernel, custom_kernel, …); replaces all other arguments"`
	RefSource      string     `json:"ref_kernel_source,omitempty" jsonschema:"source of the correct kernel; needed without request"`
	RefType        string     `json:"ref_kernel_type,omitempty" jsonschema:"torch, torch_cuda, triton, cuda or multi_kernel; needed without request"`
	CustomSource   string     `json:"custom_kernel_source,omitempty" jsonschema:"source of the kernel that is checked and timed; needed without request"`
	CustomType     string     `json:"custom_kernel_type,omitempty" jsonschema:"its type; needed without request"`
	RefIO          jsonObject `json:"ref_kernel_io,omitempty" jsonschema:"IOContract of the reference"`
	CustomIO       jsonObject `json:"custom_kernel_io,omitempty" jsonschema:"IOContract of the custom kernel"`
	RefMetadata    jsonObject `json:"ref_kernel_metadata,omitempty" jsonschema:"metadata of the reference"`
	CustomMetadata jsonObject `json:"custom_kernel_metadata,omitempty" jsonschema:"metadata of the custom kernel"`
	evaluationSettings
}

type validateIn struct {
	Source   string     `json:"kernel_source" jsonschema:"source of the kernel"`
	Type     string     `json:"kernel_type" jsonschema:"torch, torch_cuda, triton, cuda or multi_kernel"`
	IO       jsonObject `json:"io_contract,omitempty" jsonschema:"IOContract of the kernel"`
	Metadata jsonObject `json:"metadata,omitempty" jsonschema:"metadata of the kernel"`
	Timeout  *int       `json:"timeout,omitempty" jsonschema:"seconds; default 60"`
}

type compileIn struct {
	Request jsonObject `json:"request" jsonschema:"source_code; kernel_type (cuda or cpp), or the task that it is for; gpu_type"`
}

type jobIn struct {
	ID   string `json:"job_id" jsonschema:"job_id of an earlier answer"`
	Key  string `json:"key,omitempty" jsonschema:"key from that answer, if you use no token"`
	Wait *int   `json:"wait,omitempty" jsonschema:"seconds to wait for its end, up to 40; default 25"`
}

type noInput struct{}

// unfinishedJobHint ends the descriptions of tools whose results may report unfinished work.
const unfinishedJobHint = " If ended is false, call get_job_status with its job_id."

func (t toolHandlers) addEvaluationTools(server toolServer) {
	answer := map[string]string{"job_id": "string", "status": "string", "ended": "boolean", "key": "string", "url": "string", "message": "string",
		"kernel_exec_result": "object", "ref_runtime": "object", "gpu_type": "string"}
	check := map[string]string{"job_id": "string", "status": "string", "ended": "boolean", "key": "string", "compilation_error": "string", "validation_error": "string"}
	compiled := map[string]string{"job_id": "string", "ended": "boolean", "kernel_exec_result": "object"}
	state := map[string]string{"job_id": "string", "status": "string", "ended": "boolean", "created_at": "number", "url": "string", "result": "object"}
	addUntypedTool(server, "evaluate_kernel", "Compile a kernel, check that it runs, and time it; with a reference, check it against the reference and report the speedup."+unfinishedJobHint, createAnnotations(), answer, t.evaluate)
	addUntypedTool(server, "compare_kernels", "Compile two kernels, compare their outputs, and time them alternately."+unfinishedJobHint, createAnnotations(), answer, t.compare)
	addUntypedTool(server, "validate_kernel", "Compile a kernel and check that it runs, without timing it."+unfinishedJobHint, createAnnotations(), check, t.validate)
	addUntypedTool(server, "compile_kernel", "Compile C++ or CUDA without running it: messages, registers, spills, assembly."+unfinishedJobHint, createAnnotations(), compiled, t.compile)
	addUntypedTool(server, "get_server_stats", "Statistics of the evaluation service: compilations, checks, waiting times, devices. For admins and operators.", readingAnnotations(), nil, t.stats)
	addUntypedTool(server, "get_job_status", "Wait for an evaluation, and read its result. Call it again while ended is false.", readingAnnotations(), state, t.status)
}

// kernelCodeObject returns the KernelCode object of an API request. It omits absent fields, so that the site reports
// missing ones.
func kernelCodeObject(source, kind string, io, metadata jsonObject) jsonObject {
	k := jsonObject{}
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

// requestBody returns the body of an API request: the kernels and the settings that were given.
func (s evaluationSettings) requestBody(kernels jsonObject) jsonObject {
	for name, value := range map[string]*int{"num_trials": s.NumTrials, "timeout": s.Timeout} {
		if value != nil { // nil: not given; the site would refuse 0
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

func (t toolHandlers) evaluate(ctx context.Context, p *progressReporter, in evaluateIn) (any, error) {
	if in.Request != nil {
		return t.runEvaluation(ctx, p, in.Request)
	}
	kernels := jsonObject{"kernel": kernelCodeObject(in.Source, in.Type, in.IO, in.Metadata)}
	if in.RefSource != "" {
		kernels = jsonObject{
			"ref_kernel":    kernelCodeObject(in.RefSource, cmp.Or(in.RefType, "torch"), nil, in.RefMetadata),
			"custom_kernel": kernels["kernel"],
		}
	}
	return t.runEvaluation(ctx, p, in.requestBody(kernels))
}

func (t toolHandlers) compare(ctx context.Context, p *progressReporter, in compareIn) (any, error) {
	if in.Request != nil {
		return t.runEvaluation(ctx, p, in.Request)
	}
	return t.runEvaluation(ctx, p, in.requestBody(jsonObject{
		"ref_kernel":    kernelCodeObject(in.RefSource, in.RefType, in.RefIO, in.RefMetadata),
		"custom_kernel": kernelCodeObject(in.CustomSource, in.CustomType, in.CustomIO, in.CustomMetadata),
	}))
}

// validate runs an evaluation with one trial and returns the fields that show whether the kernel compiles and is
// correct.
func (t toolHandlers) validate(ctx context.Context, p *progressReporter, in validateIn) (any, error) {
	once, most := 1, defaultValidateSeconds
	s := evaluationSettings{NumTrials: &once, Timeout: cmp.Or(in.Timeout, &most)}
	answer, err := t.runEvaluation(ctx, p, s.requestBody(jsonObject{"kernel": kernelCodeObject(in.Source, in.Type,
		in.IO, in.Metadata)}))
	if err != nil || answer["ended"] == false {
		return answer, err
	}
	result, _ := answer["kernel_exec_result"].(jsonObject)
	out := jsonObject{"job_id": answer["job_id"], "status": answer["status"], "compiled": result["compiled"],
		"validated": result["correctness"], "metadata": result["metadata"]}
	if key, ok := answer["key"]; ok {
		out["key"] = key
	}
	for _, name := range []string{"compilation_error", "validation_error"} {
		if text, ok := result[name]; ok {
			out[name] = text
		}
	}
	if seconds, ok := result["compile_seconds"].(jsonObject); ok {
		out["compilation_time"] = seconds["custom"]
	}
	return out, nil
}

func (t toolHandlers) compile(ctx context.Context, p *progressReporter, in compileIn) (any, error) {
	return t.awaitEvaluation(ctx, p, func(ctx context.Context) (*client.Evaluation, error) { return t.site.Compile(ctx, in.Request) })
}

// runEvaluation submits a request and waits for the result.
func (t toolHandlers) runEvaluation(ctx context.Context, p *progressReporter, request jsonObject) (jsonObject, error) {
	return t.awaitEvaluation(ctx, p, func(ctx context.Context) (*client.Evaluation, error) { return t.site.Evaluate(ctx, request) })
}

// awaitEvaluation submits a request and waits for the result. If the call is cancelled or the client disconnects, it
// cancels the evaluation.
func (t toolHandlers) awaitEvaluation(
	ctx context.Context, p *progressReporter, submit func(context.Context) (*client.Evaluation, error),
) (jsonObject, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(t.clientGone, cancel)()
	// a cancelled request would return no ID, with which the evaluation can be cancelled
	e, err := submit(context.WithoutCancel(ctx))
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
			return addReadKey(unfinishedResult(e), key), nil
		}
		if e, err = t.site.Evaluation(ctx, id, max(wait, time.Second)); err != nil {
			t.cancelEvaluation(ctx, id)
			return nil, err
		}
	}
	if e.State != "completed" {
		return nil, fmt.Errorf("the evaluation %s ended as %s. %s", id, e.State, e.Failure)
	}
	out, err := evaluationResult(e)
	if err != nil {
		return nil, err
	}
	return addReadKey(out, key), nil
}

// addReadKey adds the key that a caller without a token needs to read the evaluation later.
func addReadKey(out jsonObject, key string) jsonObject {
	if key != "" {
		out["key"] = key
	}
	return out
}

// unfinishedResult returns the tool result for an evaluation that has not ended. Most clients would abandon a longer
// call.
func unfinishedResult(e *client.Evaluation) jsonObject {
	return jsonObject{"job_id": e.ID, "status": e.State, "ended": false, "url": e.URL,
		"message": "The evaluation continues. Call get_job_status with this job_id, and with the key if there is one, until it has ended."}
}

// cancelEvaluation cancels an evaluation whose result no client waits for. It ignores an error, because the evaluation
// may have ended.
func (t toolHandlers) cancelEvaluation(ctx context.Context, id string) {
	if ctx.Err() == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelTimeout)
	defer cancel()
	_, _ = t.site.CancelEvaluation(ctx, id)
}

func evaluationResult(e *client.Evaluation) (out jsonObject, err error) {
	if e.Result == nil {
		return nil, fmt.Errorf("the evaluation %s has no result", e.ID)
	}
	if err := json.Unmarshal(*e.Result, &out); err != nil {
		return nil, fmt.Errorf("read the result of evaluation %s: %w", e.ID, err)
	}
	return out, nil
}

func (t toolHandlers) stats(ctx context.Context, _ *progressReporter, _ noInput) (any, error) {
	return t.site.Stats(ctx)
}

func (t toolHandlers) status(ctx context.Context, p *progressReporter, in jobIn) (any, error) {
	if in.Key != "" {
		t.site.SetEvaluationKey(in.Key)
	}
	wait := maxCallWait
	if in.Wait != nil {
		wait = time.Duration(*in.Wait) * time.Second
	}
	p.report(ctx, "waiting for evaluation "+in.ID)
	e, err := t.site.Evaluation(ctx, in.ID, min(max(wait, 0), defaultMaxWait))
	if err != nil {
		return nil, err
	}
	out := jsonObject{"job_id": e.ID, "status": e.State, "ended": e.Ended, "created_at": float64(e.CreatedAt.UnixMicro()) / 1e6, "error": nil, "url": e.URL}
	if e.Failure != "" {
		out["error"] = e.Failure
	}
	if e.Result != nil {
		if out["result"], err = evaluationResult(e); err != nil {
			return nil, err
		}
	}
	return out, nil
}
