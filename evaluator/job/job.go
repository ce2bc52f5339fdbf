package job

import (
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"warpboard/tasks"
)

// WorkerPath is the path, below the site's base URL, at which workers connect over HTTP.
const WorkerPath = "/worker"

// MessageVersion is the version of the messages. A worker refuses a job of another version.
const MessageVersion = 4

// Mode is the mode of a submission, which determines its stages.
type Mode string

const (
	ModeTest      Mode = "test"      // checks the correctness only
	ModeBenchmark Mode = "benchmark" // measures times, without an entry on the board
	ModeRanked    Mode = "ranked"    // test and ranked; a task's own program has more stages
	ModeProfile   Mode = "profile"   // Nsight Compute report of each benchmark case
	ModeSanitize  Mode = "sanitize"  // compute-sanitizer on the test cases
	ModeValidate  Mode = "validate"  // only the task's validation script, which Task has as its program
	ModeCompile   Mode = "compile"   // evaluations only: runs compilers, not the program
)

// Stage is one part of a run, such as build or test.
type Stage string

const (
	StageBuild     Stage = "build"
	StageTest      Stage = "test"
	StageBenchmark Stage = "benchmark"
	StageRanked    Stage = "ranked"
	StageSecret    Stage = "secret" // second pass of a bundle's own harness with a secret seed; only pass or fail is public
	StageProfile   Stage = "profile"
	StageSanitize  Stage = "sanitize" // has a case per tool of compute-sanitizer
	StageValidate  Stage = "validate" // has one case: the script's verdict
)

// Job describes one attempt at a run on one device for a worker.
type Job struct {
	MessageVersion int              `json:"version"`
	RunID          int64            `json:"run_id"`
	AttemptID      string           `json:"attempt_id"` // unique ID of this attempt
	AttemptSecret  string           `json:"secret"`     // proves that a result belongs to this attempt
	Device         string           `json:"device"`     // board device: "H200", "CPU"
	Mode           Mode             `json:"mode"`
	TaskHash       string           `json:"task_key"` // content hash of the task version: key of the object cache
	Task           tasks.Definition `json:"task"`
	// Sources has the content of each file of Task.Files by its name in a run, including the submission's files.
	Sources map[string][]byte `json:"sources"`
	// DeclaredCases is set if the site generated secret values for ranges in Task's cases. It has the cases with their
	// ranges, by which the worker names the cases. The worker then does not forward the program's output.
	DeclaredCases *TaskCases `json:"declared,omitempty"`
	// SecretSeed is the seed of the ranked stage. It is new for each attempt and never shown.
	SecretSeed    uint64         `json:"secret_seed"`
	ProfileFilter *ProfileFilter `json:"profile_filter,omitempty"` // kernels to profile, in mode profile
	EnqueuedAt    time.Time      `json:"enqueued"`
	// EvaluationID and Evaluation make the job an evaluation of single kernels instead of a run: RunID is 0, and only
	// Lang of Task is used. Evaluation is a kernelrun.Request. ¶Caller identifies the evaluation's owner; different
	// owners have different values. Evaluations of one caller may run in the same preloaded Python process and share
	// compiled kernels. If Caller is empty, nothing is kept for another evaluation.
	EvaluationID string          `json:"evaluation_id,omitempty"`
	Evaluation   json.RawMessage `json:"evaluation,omitempty"`
	Caller       string          `json:"caller,omitempty"`
	// ExpectedTime is the time for which similar recent runs used each slot; 0 if unknown.
	ExpectedTime time.Duration `json:"expect_ns,omitempty"`
}

// TaskCases has the tests and the benchmarks of a task.
type TaskCases struct {
	Tests      []tasks.Case `json:"tests"`
	Benchmarks []tasks.Case `json:"benchmarks"`
}

// WorkRequest is a worker's request for its next job, or for a task to precompile. Worker and Device come from the
// message's subject.
type WorkRequest struct {
	MessageVersion int      `json:"version"` // version of the messages that the worker reads
	Worker         string   `json:"-"`
	Device         string   `json:"-"`
	IsSlotBusy     bool     `json:"busy,omitempty"` // the slot has a job: another one could only be built
	Attempts       []string `json:"held,omitempty"` // IDs of attempts that arrived and have not ended
	// BuildingCount is the number of Attempts that are being built and do not need a slot now.
	BuildingCount int `json:"building,omitempty"`
	// SlotJobCount is the number of jobs that use the slot or wait for it after their build.
	SlotJobCount int `json:"slot_jobs,omitempty"`
	// Caller is the Job.Caller of the slot's last job, and CallerTime the time since the first of its jobs in a row
	// ended. An evaluation of another caller would need new processes.
	Caller     string        `json:"caller,omitempty"`
	CallerTime time.Duration `json:"caller_time,omitempty"`
	// CompileOnly requests an evaluation that only compiles. On a GPU no other request gets one, because it needs no
	// slot.
	CompileOnly bool `json:"compile,omitempty"`
	// WantsPrecompileJob requests an open task to precompile instead of a job. CompiledVersions lists the versions that
	// the worker already has.
	WantsPrecompileJob bool    `json:"ahead,omitempty"`
	CompiledVersions   []int64 `json:"known,omitempty"`
}

// Status is the outcome of a case or a stage.
type Status string

const (
	StatusPass          Status = "pass"
	StatusFail          Status = "fail"      // ran, and the answer was wrong
	StatusError         Status = "error"     // did not complete: exit code, signal, exception, compiler error
	StatusTimeout       Status = "timeout"   // exceeded the limit of wall-clock time
	StatusLimitExceeded Status = "limit"     // exceeded a limit of memory, processes, output, or others
	StatusCancelled     Status = "cancelled" //
)

// CaseResult is the result of one case. Times are in nanoseconds.
type CaseResult struct {
	Index             int       `json:"index"`
	SpecLine          string    `json:"spec"` // the case's line, as passed to the program
	Status            Status    `json:"status"`
	Message           string    `json:"message,omitempty"` // the checker's text on a pass or a failure
	Runs              int       `json:"runs,omitempty"`
	Mean              float64   `json:"mean,omitempty"`
	StandardDeviation float64   `json:"std,omitempty"` // sample standard deviation
	StandardError     float64   `json:"err,omitempty"` // standard error of the mean
	Best              float64   `json:"best,omitempty"`
	Worst             float64   `json:"worst,omitempty"`
	Median            float64   `json:"median,omitempty"`
	P95               float64   `json:"p95,omitempty"`
	Times             []float64 `json:"times,omitempty"` // every repeat, if the harness reports them
	// SetupNS is the time of the submission's setup function before the case, the longest of several processes. No
	// other time contains it.
	SetupNS    float64    `json:"setup_ns,omitempty"`
	ClockTimes ClockTimes `json:"clocks,omitzero"` // set if a judge timed the case
	// ProcessMedians has the median times of the processes that timed a ranked case. Median is then the median of
	// these; all other values cover the repeats of all processes.
	ProcessMedians []float64 `json:"processes,omitempty"`
	// of a test case, if the task has a reference in double precision
	NumericError *NumericError `json:"numerics,omitempty"`
	Kernels      []Kernel      `json:"kernels,omitempty"` // of a profiled case, in the order of their first launches
}

// ExitFailed is the exit code of a task's program if the submission's answer is wrong.
const ExitFailed = 112

// ExitBadSpec is the exit code of a task's program if it cannot parse the arguments of a case.
const ExitBadSpec = 113

// Failure describes why a stage or run did not pass.
type Failure struct {
	Reason string `json:"reason"` // one sentence: what happened, where, what to do
	// IsInfrastructureError means that the submitter did not cause the failure. The run is tried again and does not
	// count for limits.
	IsInfrastructureError bool `json:"ours,omitempty"`
	// CausedByTask means that the task's generator, reference, or checker failed, not the submission.
	CausedByTask bool `json:"task_failed,omitempty"`

	// Stage is the stage that failed; empty if unknown.
	Stage Stage `json:"stage,omitempty"`
	// File is the submitted Python file whose build failed. It stays on the worker.
	File string `json:"-"`

	ExitCode int    `json:"exit_code,omitempty"`
	Signal   string `json:"signal,omitempty"` // signal that ended the process, such as "SIGSEGV"
	// Limit is the exceeded limit: "wall", "memory", "processes", "output", "cpu", or "file size".
	Limit string `json:"limit,omitempty"`
}

// PublicReason returns the reason of the failure for readers who may not see the source. The judge's messages about
// tests are public. For a build, a profile, an infrastructure error, or an unknown stage it returns only KindSentence,
// because other messages may quote the source.
func (f Failure) PublicReason() string {
	judged := f.Stage == StageTest || f.Stage == StageBenchmark || f.Stage == StageRanked || f.Stage == StageSecret
	if judged && !f.IsInfrastructureError {
		return f.Reason
	}
	return f.KindSentence()
}

// KindSentence describes the failure in a sentence without text from a compiler or a program.
func (f Failure) KindSentence() string {
	switch {
	case f.CausedByTask:
		return "The task failed, not the submission."
	case f.IsInfrastructureError:
		return "An infrastructure error stopped it."
	}
	what := map[Stage]string{StageBuild: "The build", StageProfile: "The profile", StageSanitize: "The check with compute-sanitizer", StageValidate: "The validation script"}[f.Stage]
	if what == "" {
		what = "It"
	}
	switch {
	case f.Limit == "wall":
		return what + " reached its time limit."
	case f.Limit != "":
		return what + " hit its " + f.Limit + " limit."
	case f.Signal != "":
		return what + " was killed by " + f.Signal + "."
	case f.ExitCode != 0:
		return fmt.Sprintf("%s ended with exit code %d.", what, f.ExitCode)
	}
	return what + " failed."
}

// StageResult is the result of one stage. It is kept even if a later stage fails.
type StageResult struct {
	Stage       Stage             `json:"stage"`
	Status      Status            `json:"status"`
	StartedAt   time.Time         `json:"started"`
	EndedAt     time.Time         `json:"ended"`
	Command     string            `json:"command,omitempty"`
	Stdout      string            `json:"stdout,omitempty"` // valid UTF-8; if too long, cut in the middle with a note
	Stderr      string            `json:"stderr,omitempty"`
	Failure     *Failure          `json:"failure,omitempty"`
	Cases       []CaseResult      `json:"cases,omitempty"`
	ExtraKeys   map[string]string `json:"extra,omitempty"`  // keys from the result pipe without a field here
	FromCache   bool              `json:"cached,omitempty"` // build stage: nothing had to be compiled
	ReusedFiles []string          `json:"reused,omitempty"` // build stage: files of the task compiled earlier
	Overhead    time.Duration     `json:"overhead,omitempty"`
	Findings    []Finding         `json:"findings,omitempty"` // only in the sanitize stage
	// MemoryPeak is the peak memory of the submission's processes and their children in bytes. It is set only on a CPU.
	MemoryPeak int64 `json:"memory_peak,omitempty"`
}

// Machine describes the hardware, the software, and the conditions of a run.
type Machine struct {
	Worker          string         `json:"worker"`
	Device          string         `json:"device"`
	DeviceName      string         `json:"name"`      // "NVIDIA H200", or the CPU's model name
	UUIDHash        string         `json:"uuid_hash"` // first 12 hex digits of the SHA-256 of the device's UUID
	Driver          string         `json:"driver,omitempty"`
	CUDA            string         `json:"cuda,omitempty"`
	CompilerVersion string         `json:"compiler,omitempty"` // first line of `nvcc --version`, `g++ --version`
	Python          string         `json:"python,omitempty"`
	Torch           string         `json:"torch,omitempty"`
	Triton          string         `json:"triton,omitempty"`
	HarnessDigest   string         `json:"harness,omitempty"` // hash of the judge's and the runner's programs
	KernelRelease   string         `json:"kernel,omitempty"`
	SandboxName     string         `json:"sandbox"`         // "bubblewrap", or "off"
	SlotBenchmark   *SlotBenchmark `json:"gauge,omitempty"` // nil if the device has no benchmark yet
	// GPUConditions has clock rates, temperature, power, and throttle reasons during timing.
	GPUConditions map[string]string `json:"conditions,omitempty"`
	// Disturbances has the conditions that can disturb a measurement; nil if the worker did not record them.
	Disturbances *Disturbances `json:"disturbances,omitempty"`
}

// Outcome is the outcome of a whole attempt.
type Outcome string

const (
	OutcomePassed     Outcome = "done"      // every stage passed
	OutcomeFailed     Outcome = "failed"    // the submission failed
	OutcomeCancelled  Outcome = "cancelled" //
	OutcomeLost       Outcome = "lost"      // an infrastructure error: the site retries the work
	OutcomeHandedBack Outcome = "returned"  // handed back before its end: retry, without counting it
)

// Result is the result of an attempt.
type Result struct {
	RunID         int64    `json:"run_id"`
	AttemptID     string   `json:"attempt_id"`
	AttemptSecret string   `json:"secret"`
	Outcome       Outcome  `json:"outcome"`
	Failure       *Failure `json:"failure,omitempty"`
	// CausedByJob marks a lost attempt whose loss the run itself may have caused. After a few of these the run ends
	// with an infrastructure error. Other losses do not count.
	CausedByJob bool          `json:"suspect,omitempty"`
	Stages      []StageResult `json:"stages"`
	// ScoreNS is the score in nanoseconds, lower is better; nil unless the ranked stage passed. The dispatcher
	// recomputes it from Stages and refuses a result with another score.
	ScoreNS *float64 `json:"score_ns,omitempty"`
	// UnfinishedRanking has the measurements of a ranked stage that started and did not pass; nil if the task's own
	// program measures.
	UnfinishedRanking *UnfinishedRanking `json:"unfinished,omitempty"`
	Machine           Machine            `json:"machine"`
	Artifacts         []Artifact         `json:"artifacts,omitempty"`
	// HarnessName is the name of the harness that measured: "warpboard/cpp", "warpboard/cu", "warpboard/py", "bundle",
	// "legacy".
	HarnessName string `json:"harness"`
	// WallNS is the duration of the attempt on the worker. ProgramNS is the part of it spent in compilers and programs.
	WallNS    int64 `json:"wall_ns"`
	ProgramNS int64 `json:"program_ns"`
	// SlotNS is the time for which the attempt used slots, multiplied by their number, without some seconds in which an
	// evaluation waited for its processes.
	SlotNS int64 `json:"unit_ns,omitempty"`
	// EvaluationID and Evaluation are set for an evaluation. Evaluation is a kernelrun.Result.
	EvaluationID string          `json:"evaluation_id,omitempty"`
	Evaluation   json.RawMessage `json:"evaluation,omitempty"`
}

// UnfinishedRanking has the measurements of a ranked stage that failed or was cancelled: those of the processes that
// had completed, without the one that was still running.
type UnfinishedRanking struct {
	// for each case, the medians of the completed processes; empty if there are none
	CaseMedians [][]float64 `json:"cases"`
}

// DropArtifact removes the data of an artifact and appends the reason to the output of the last stage.
func (r *Result) DropArtifact(i int, why string) {
	r.Artifacts[i].Data = nil
	if len(r.Stages) == 0 {
		return
	}
	last := &r.Stages[len(r.Stages)-1]
	extra := maps.Clone(last.ExtraKeys)
	if extra == nil {
		extra = map[string]string{}
	}
	extra[r.Artifacts[i].Name] = fmt.Sprintf("This file of %.1f MB (packed) was not kept: %s.", float64(r.Artifacts[i].Size)/1e6, why)
	last.ExtraKeys = extra
}

// Artifact is a file that the run produced. It is sent separately from the result.
type Artifact struct {
	Name string `json:"name"` // for example "profile.0.ncu-rep.gz"
	Size int64  `json:"size"`
	Type string `json:"type"` // media type
	Data []byte `json:"data,omitempty"`
}
