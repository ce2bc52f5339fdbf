package kernelrun

import (
	"cmp"
	"encoding/json"
	"slices"
)

// Stages of an evaluation, as the program names them.
const (
	StageCompiling  = "compiling"
	StageValidating = "validating"
	StageProfiling  = "profiling"
)

// FaultReference is the Fault of a report whose reference failed.
const FaultReference = "reference"

// Report has the findings of the evaluation program. Steps that were not reached are absent. Numbers that JSON cannot
// represent (NaN, infinity) are names. Fields may only be added, because stored results of older versions are decoded
// into it, and clients of the foreign API use the names.
type Report struct {
	Compiled            bool                          `json:"compiled" jsonschema:"whether the custom kernel compiles"`
	Correctness         bool                          `json:"correctness" jsonschema:"whether every trial passed: its outputs agree with the reference's, or without a reference it ran"`
	CompilationError    string                        `json:"compilation_error,omitempty" jsonschema:"why the custom kernel does not compile"`
	RefCompilationError string                        `json:"ref_compilation_error,omitempty" jsonschema:"why the reference does not"`
	ValidationError     string                        `json:"validation_error,omitempty" jsonschema:"why it is not correct"`
	Fault               string                        `json:"fault,omitempty" jsonschema:"reference: the reference failed, or its inputs, so that nothing is known of the custom kernel"`
	Vacuous             bool                          `json:"vacuous,omitempty" jsonschema:"the check would pass an answer that computes nothing: zeros, the mean, the largest number of the type, a copy of an input, or the answer to other inputs"`
	VacuousReason       string                        `json:"vacuous_reason,omitempty" jsonschema:"which of them, by output"`
	Deterministic       *bool                         `json:"deterministic,omitempty" jsonschema:"whether two calls of the custom kernel with the same inputs gave the same bits; absent: not tried"`
	Remarks             []string                      `json:"remarks,omitempty" jsonschema:"what to know about the request and how it was carried out, such as unknown fields that were ignored"`
	ProfilingError      string                        `json:"profiling_error,omitempty" jsonschema:"why there are no times although it is correct"`
	CompileSeconds      map[string]float64            `json:"compile_seconds,omitempty" jsonschema:"by kernel: custom, ref"`
	TotalTrials         int                           `json:"total_trials,omitempty" jsonschema:"trials of the check, each with fresh inputs"`
	TrialsPassed        *int                          `json:"trials_passed,omitempty" jsonschema:"how many of them passed"`
	MaxDifference       any                           `json:"max_difference,omitempty" jsonschema:"largest difference of two elements"`
	AvgDifference       any                           `json:"avg_difference,omitempty" jsonschema:"largest mean difference of two outputs"`
	FirstMismatch       map[string]any                `json:"first_mismatch,omitempty" jsonschema:"output, element, expected, actual"`
	ProfilingMethod     string                        `json:"profiling_method,omitempty" jsonschema:"events on a GPU, wall_clock on a CPU; cuda_graph of older versions, which timed in the kernel's own process"`
	GraphError          string                        `json:"graph_error,omitempty" jsonschema:"of older versions: why CUDA graphs were not used"`
	ClockTimes          map[string]ClockTimes         `json:"clocks,omitempty" jsonschema:"by kernel, custom and ref: the judge's clocks, and which of them counts"`
	FreshInputs         *bool                         `json:"fresh_inputs,omitempty" jsonschema:"whether each call had inputs of its own; false where the request gives them word for word, or beside a kept reference, so that a kernel may remember its answers"`
	RuntimeStats        *Stats                        `json:"runtime_stats,omitempty" jsonschema:"times of the custom kernel, ms"`
	RefRuntime          *Stats                        `json:"ref_runtime,omitempty" jsonschema:"times of the reference, ms"`
	Speedup             *float64                      `json:"speedup,omitempty" jsonschema:"the reference's median time by the custom kernel's"`
	SpeedupInterval     []float64                     `json:"speedup_interval,omitempty" jsonschema:"interval of the speedup, with room for the error of the judge's clock and for work that it may not have seen"`
	Confidence          float64                       `json:"confidence,omitempty" jsonschema:"of speedup_interval, where stop_when was given: its confidence, less the error that each look adds; absent: 0.95"`
	EarlyStop           *EarlyStop                    `json:"stopped,omitempty" jsonschema:"why stop_when ended the timed calls before num_trials; absent: it did not"`
	Times               []float64                     `json:"times,omitempty" jsonschema:"ms, of every timed call of the custom kernel"`
	SetupNS             float64                       `json:"setup_ns,omitempty" jsonschema:"time of the kernel's setup(meta), of all cases together, which no other time contains; absent: none was called"`
	Baselines           map[string]BaselineComparison `json:"baselines,omitempty" jsonschema:"of a request with baselines: the kernel's times beside each of them"`
	Cases               []CaseReport                  `json:"cases,omitempty" jsonschema:"of a request with cases: each that was begun; the times and the speedup beside it are geometric means"`
	Compilation         *CompilationResult            `json:"compilation,omitempty" jsonschema:"of a request to compile: the compilers' messages and code"`
	ReusedReference     *ReusedReference              `json:"reused_reference,omitempty" jsonschema:"what was kept of the reference, because of reuse_reference; absent: it ran"`
}

// CaseReport has the findings about one case of a request.
type CaseReport struct {
	Arguments       map[string]any        `json:"arguments" jsonschema:"the case, as it was requested"`
	Correctness     bool                  `json:"correctness"`
	ValidationError string                `json:"validation_error,omitempty" jsonschema:"why it is not correct"`
	ProfilingError  string                `json:"profiling_error,omitempty" jsonschema:"why there are no times although it is correct"`
	TotalTrials     int                   `json:"total_trials,omitempty"`
	TrialsPassed    *int                  `json:"trials_passed,omitempty"`
	MaxDifference   any                   `json:"max_difference,omitempty"`
	AvgDifference   any                   `json:"avg_difference,omitempty"`
	FirstMismatch   map[string]any        `json:"first_mismatch,omitempty" jsonschema:"output, element, expected, actual"`
	Vacuous         bool                  `json:"vacuous,omitempty"`
	VacuousReason   string                `json:"vacuous_reason,omitempty"`
	Deterministic   *bool                 `json:"deterministic,omitempty"`
	SetupNS         float64               `json:"setup_ns,omitempty" jsonschema:"time of the kernel's setup(meta)"`
	ClockTimes      map[string]ClockTimes `json:"clocks,omitempty"`
	RuntimeStats    *Stats                `json:"runtime_stats,omitempty" jsonschema:"times of the custom kernel, ms"`
	RefRuntime      *Stats                `json:"ref_runtime,omitempty" jsonschema:"times of the reference, ms"`
	Speedup         *float64              `json:"speedup,omitempty"`
	SpeedupInterval []float64             `json:"speedup_interval,omitempty"`
	Confidence      float64               `json:"confidence,omitempty"`
	EarlyStop       *EarlyStop            `json:"stopped,omitempty"`
	Times           []float64             `json:"times,omitempty" jsonschema:"ms, of every timed call of the custom kernel"`
}

// BaselineComparison has the result of comparing the custom kernel with a baseline.
type BaselineComparison struct {
	RuntimeStats    *Stats    `json:"runtime_stats,omitempty" jsonschema:"times of the baseline, ms"`
	Speedup         *float64  `json:"speedup,omitempty" jsonschema:"the baseline's median time by the custom kernel's"`
	SpeedupInterval []float64 `json:"speedup_interval,omitempty"`
	Error           string    `json:"error,omitempty" jsonschema:"why there is no speedup"`
	Fault           string    `json:"fault,omitempty" jsonschema:"reference: the baseline itself failed, so that error says nothing of the custom kernel"`
}

// ComparisonWithBaseline returns a result's comparison with its reference as the comparison with a baseline: the
// baseline was the reference of that stage.
func ComparisonWithBaseline(r Result) BaselineComparison {
	b := BaselineComparison{RuntimeStats: r.RefRuntime, Speedup: r.Speedup, SpeedupInterval: r.SpeedupInterval}
	if r.Speedup == nil {
		b.Fault = r.Fault
		b.Error = cmp.Or(r.RefCompilationError, r.CompilationError, r.ValidationError, r.ProfilingError, "The time limit was reached.")
	}
	return b
}

// ReusedReference describes measurements of a reference that were reused.
type ReusedReference struct {
	AgeSeconds float64 `json:"seconds_old" jsonschema:"since it ran"`
	TimedCalls int     `json:"calls" jsonschema:"timed calls of it"`
}

// EarlyStop describes how stop_when ended the timed calls.
type EarlyStop struct {
	Reason     string `json:"reason" jsonschema:"half_width, speedup_above or speedup_below; not confirmed where the clocks that count do not show what the kernel's own did"`
	TimedCalls int    `json:"calls" jsonschema:"timed calls of each kernel"`
}

// ClockTimes has the median times of one kernel's calls by three clocks, in ms: that of the kernel's own process, and
// the judge's until the call has ended and until the answer has arrived, each minus the time of an empty call.
type ClockTimes struct {
	CountedClock string  `json:"counts" jsonschema:"event, wall or snapshot: the clock of runtime_stats"`
	EventTime    float64 `json:"event"`
	WallTime     float64 `json:"wall"`
	SnapshotTime float64 `json:"snapshot"`
	Tolerance    float64 `json:"tolerance" jsonschema:"by how much the judge's clocks may err; much where calls wait for the device on the host"`
}

// Stats has statistics of timed calls, in ms. Std is the standard deviation of the population.
type Stats struct {
	Mean         float64 `json:"mean"`
	Std          float64 `json:"std"`
	Min          float64 `json:"min"`
	Max          float64 `json:"max"`
	Median       float64 `json:"median"`
	Percentile95 float64 `json:"percentile_95"`
	Percentile99 float64 `json:"percentile_99"`
}

// Result is the result of an evaluation on a worker.
type Result struct {
	Report
	LastStage     string `json:"stage,omitempty"` // the last stage that started
	TimedOut      bool   `json:"timed_out,omitempty"`
	ExitCode      int    `json:"exit_code,omitempty"`
	Signal        string `json:"signal,omitempty"` // signal that ended the program, such as "SIGSEGV"
	ExceededLimit string `json:"limit,omitempty"`  // limit that ended the program: "memory", "processes", …

	Stdout string `json:"stdout,omitempty"` // the end of the kernels' output
	Stderr string `json:"stderr,omitempty"`

	Device         string  `json:"device"`         // board device: "H200"
	DeviceName     string  `json:"name,omitempty"` // "NVIDIA H200"
	CUDA           string  `json:"cuda,omitempty"`
	SlotIndex      int     `json:"slot"`    // index on its worker
	Worker         string  `json:"worker"`  //
	RunnerWasReady bool    `json:"warm"`    // a runner with its imports done was ready
	SlotSeconds    float64 `json:"seconds"` // time on the slot
	WaitSeconds    float64 `json:"waited"`  // seconds of waiting for the slot
	// StageSeconds has the duration of each stage, including an incomplete last one.
	StageSeconds  map[string]float64 `json:"stage_seconds,omitempty"`
	KernelsCached *bool              `json:"cached,omitempty"` // whether an earlier request had compiled the kernels

	Metrics map[string]KernelMetrics `json:"metrics,omitempty"` // by the kernel's label: "custom", "ref"
	// MetricsError is the reason for missing device metrics if they were requested.
	MetricsError string `json:"metrics_error,omitempty"`
}

// KernelMetrics has the hardware counters of one kernel.
type KernelMetrics struct {
	Kernels       []Kernel                  `json:"kernels,omitempty"`
	DeviceMetrics map[string]map[string]any `json:"device"` // by category and name, as in the API
	// the complete report of Nsight Compute: ncu.Report
	NsightReport json.RawMessage `json:"report,omitempty"`
}

// Kernel is a kernel that the call launched under Nsight Compute, with its origin. The program chooses the name, from
// which the origin is derived.
type Kernel struct {
	Name        string  `json:"name" jsonschema:"without parameters; shortened"`
	Origin      string  `json:"origin" jsonschema:"source, if it declares a kernel of this name; a library, by its name, like cuBLAS; unknown"`
	FromLibrary bool    `json:"library,omitempty" jsonschema:"the origin is a library"`
	Launches    int     `json:"launches" jsonschema:"of the first 16 of the call"`
	DurationNS  float64 `json:"ns,omitempty" jsonschema:"time of these launches under Nsight Compute; absent: not measured"`
	Share       float64 `json:"share,omitempty" jsonschema:"of the time of all kernels, from 0 to 1; absent: not measured"`
}

// WithoutDetails returns the result without its least important data: reports, single times, and output. It does not
// modify the receiver's maps.
func (r Result) WithoutDetails() Result {
	metrics := map[string]KernelMetrics{}
	for label, m := range r.Metrics {
		metrics[label] = KernelMetrics{Kernels: m.Kernels, DeviceMetrics: m.DeviceMetrics}
	}
	r.Metrics, r.Times, r.Stdout, r.Stderr = metrics, nil, "", ""
	r.Cases = slices.Clone(r.Cases)
	for i := range r.Cases {
		r.Cases[i].Times = nil
	}
	return r
}
