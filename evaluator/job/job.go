package job

import (
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"warpboard/tasks"
)

// WorkerPath is where a site lets workers in over HTTP, below its base URL.
const WorkerPath = "/worker"

// Version is the version of the messages; a worker refuses a job of another version.
const Version = 4

// Mode is what a person asked for.
type Mode string

const (
	ModeTest      Mode = "test"      // correctness only
	ModeBenchmark Mode = "benchmark" // time, without a place on the board
	ModeRanked    Mode = "ranked"    // test and ranked; with a bundle's own program test, benchmark and ranked, and again with a secret seed
	ModeProfile   Mode = "profile"   // Nsight Compute of each benchmark case
	ModeSanitize  Mode = "sanitize"  // compute-sanitizer on the test cases
	ModeValidate  Mode = "validate"  // the task's validation script, which is the program of Task then
)

// Stage is one part of a run.
type Stage string

const (
	StageBuild     Stage = "build"
	StageTest      Stage = "test"
	StageBenchmark Stage = "benchmark"
	StageRanked    Stage = "ranked"
	StageSecret    Stage = "secret" // the second, secret pass of a bundle's own harness; nothing but pass/fail leaves it
	StageProfile   Stage = "profile"
	StageSanitize  Stage = "sanitize" // its cases are the tools of compute-sanitizer
	StageValidate  Stage = "validate" // its one case is what the script said
)

// Job asks a worker for one attempt at a run on one device.
type Job struct {
	Version   int              `json:"version"`
	RunID     int64            `json:"run_id"`
	AttemptID string           `json:"attempt_id"` // unique
	Secret    string           `json:"secret"`     // proves that a result belongs to this attempt
	Device    string           `json:"device"`     // board device: "H200", "CPU"
	Mode      Mode             `json:"mode"`
	TaskKey   string           `json:"task_key"` // content hash of the task version: key of the object cache
	Task      tasks.Definition `json:"task"`
	// Sources holds the text of every file of Task.Files by its run-time name, the submission's included.
	Sources map[string][]byte `json:"sources"`
	// Declared is set where the values in Task's cases were drawn and are secret: the cases as the task declares them. The worker
	// names cases by these, and passes on no text of the program.
	Declared *Cases `json:"declared,omitempty"`
	// SecretSeed seeds the ranked stage; fresh for every attempt, never shown.
	SecretSeed uint64         `json:"secret_seed"`
	Filter     *ProfileFilter `json:"profile_filter,omitempty"` // of mode profile
	Enqueued   time.Time      `json:"enqueued"`
	// EvaluationID and Evaluation make the job an evaluation of single kernels instead of a run: its
	// RunID is 0, and of Task only Lang counts. Evaluation is a kernel.Request.
	// Caller names whose it is, and never two callers at once: evaluations of one caller may follow each other in
	// one warm runner and find what was compiled before. Empty: nothing is kept for it.
	EvaluationID string          `json:"evaluation_id,omitempty"`
	Evaluation   json.RawMessage `json:"evaluation,omitempty"`
	Caller       string          `json:"caller,omitempty"`
	// Expect is for how long runs like it held their units lately, each; 0: not known.
	Expect time.Duration `json:"expect_ns,omitempty"`
}

// Cases are both lists of a task.
type Cases struct {
	Tests      []tasks.Case `json:"tests"`
	Benchmarks []tasks.Case `json:"benchmarks"`
}

// Ask is a worker's request for its next job, or for a task to precompile. Worker and device follow from the address that it was sent to.
type Ask struct {
	Version int      `json:"version"` // of the messages that the worker reads
	Worker  string   `json:"-"`
	Device  string   `json:"-"`
	Busy    bool     `json:"busy,omitempty"` // the slot has a job, and would build the next one
	Held    []string `json:"held,omitempty"` // attempts that have arrived and not ended
	// Building is how many of these are being built, on places that the slots do not need.
	Building int `json:"building,omitempty"`
	// Ahead asks for an open task instead, of which the worker does not know the current version.
	Ahead bool    `json:"ahead,omitempty"`
	Known []int64 `json:"known,omitempty"`
}

// Status is how a case or a stage ended.
type Status string

const (
	StatusPass      Status = "pass"
	StatusFail      Status = "fail"      // ran, and the answer was wrong
	StatusError     Status = "error"     // did not run to its end: exit code, signal, exception, compiler error
	StatusTimeout   Status = "timeout"   // wall-clock limit
	StatusLimit     Status = "limit"     // memory, processes, output or another limit
	StatusCancelled Status = "cancelled" //
)

// CaseResult is what is known of one case. Times are in nanoseconds.
type CaseResult struct {
	Index   int       `json:"index"`
	Spec    string    `json:"spec"` // the case's line, as the program was given it
	Status  Status    `json:"status"`
	Message string    `json:"message,omitempty"` // the checker's text on a pass or a failure
	Runs    int       `json:"runs,omitempty"`
	Mean    float64   `json:"mean,omitempty"`
	Std     float64   `json:"std,omitempty"` // sample standard deviation
	Err     float64   `json:"err,omitempty"` // standard error of the mean
	Best    float64   `json:"best,omitempty"`
	Worst   float64   `json:"worst,omitempty"`
	Median  float64   `json:"median,omitempty"`
	P95     float64   `json:"p95,omitempty"`
	Times   []float64 `json:"times,omitempty"` // every repeat, where the harness reports them
	Clocks  Clocks    `json:"clocks,omitzero"` // where a judge timed the case
	// Processes are the medians of the fresh processes of the submission in which a ranked case was timed; Median is
	// theirs then, and all else is about the repeats of all of them.
	Processes []float64 `json:"processes,omitempty"`
	Numerics  *Numerics `json:"numerics,omitempty"` // of a test case, if the task has a reference in double precision
	Kernels   []Kernel  `json:"kernels,omitempty"`  // of a profiled case: what ran, in the order of the first launches
}

// ExitFailed is the exit code of a task's program whose check failed: the answer is wrong.
const ExitFailed = 112

// ExitBadSpec is the exit code of a task's program that could not read the arguments of a case.
const ExitBadSpec = 113

// Failure says why a stage or run did not pass, for a person.
type Failure struct {
	Reason string `json:"reason"` // one sentence: what happened, where, what to do
	// Infrastructure is true when the site or worker is to blame: the run is retried and costs the person nothing.
	Infrastructure bool `json:"ours,omitempty"`
	// Task is true when the task's generator, reference or checker failed: the submission is not held to it.
	Task bool `json:"task_failed,omitempty"`

	// Stage is where it happened; empty: the site does not know.
	Stage Stage `json:"stage,omitempty"`

	ExitCode int    `json:"exit_code,omitempty"`
	Signal   string `json:"signal,omitempty"` // "SIGSEGV"
	Limit    string `json:"limit,omitempty"`  // which limit was hit: "wall", "memory", "processes", "output", "cpu", "file size"
}

// Public is why it did not pass for those who may not read the source. What a judge says of a test is public; of a build, of a profile
// and of an infrastructure error only the kind is, and of a stage that is not known.
func (f Failure) Public() string {
	judged := f.Stage == StageTest || f.Stage == StageBenchmark || f.Stage == StageRanked || f.Stage == StageSecret
	if judged && !f.Infrastructure {
		return f.Reason
	}
	return f.Kind()
}

// Kind is the failure in a sentence that holds no word of a compiler or a program, which may quote the source.
func (f Failure) Kind() string {
	switch {
	case f.Task:
		return "The task failed, not the submission."
	case f.Infrastructure:
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

// StageResult is what one stage left, kept even if a later one dies.
type StageResult struct {
	Stage    Stage             `json:"stage"`
	Status   Status            `json:"status"`
	Started  time.Time         `json:"started"`
	Ended    time.Time         `json:"ended"`
	Command  string            `json:"command,omitempty"`
	Stdout   string            `json:"stdout,omitempty"` // valid UTF-8; cut in the middle with a note
	Stderr   string            `json:"stderr,omitempty"`
	Failure  *Failure          `json:"failure,omitempty"`
	Cases    []CaseResult      `json:"cases,omitempty"`
	Extra    map[string]string `json:"extra,omitempty"`  // keys of the result pipe that have no field here
	Cached   bool              `json:"cached,omitempty"` // build: nothing had to be compiled
	Reused   []string          `json:"reused,omitempty"` // build: the task's own files that were compiled before
	Overhead time.Duration     `json:"overhead,omitempty"`
	Findings []Finding         `json:"findings,omitempty"` // sanitize
	// MemoryPeak is the memory in bytes that the submission's processes had at most, with all that they started; only on a CPU.
	MemoryPeak int64 `json:"memory_peak,omitempty"`
}

// Machine is where and under which conditions a run was made.
type Machine struct {
	Worker     string            `json:"worker"`
	Device     string            `json:"device"`
	Name       string            `json:"name"`      // "NVIDIA H200", or the CPU's model name
	UUIDHash   string            `json:"uuid_hash"` // first 12 hex digits of the SHA-256 of the device's UUID
	Driver     string            `json:"driver,omitempty"`
	CUDA       string            `json:"cuda,omitempty"`
	Compiler   string            `json:"compiler,omitempty"` // first line of `nvcc --version`, `g++ --version`
	Python     string            `json:"python,omitempty"`
	Torch      string            `json:"torch,omitempty"`
	Triton     string            `json:"triton,omitempty"`
	Harness    string            `json:"harness,omitempty"` // a hash of the judge's and the runner's programs
	Kernel     string            `json:"kernel,omitempty"`
	Sandbox    string            `json:"sandbox"`              // "bubblewrap", or "off"
	Gauge      *Gauge            `json:"gauge,omitempty"`      // nil while the unit was not gauged
	Conditions map[string]string `json:"conditions,omitempty"` // clocks, temperature, power, throttle reasons while timing
	// Disturbances are what of them can be bad; nil of a worker that did not look.
	Disturbances *Disturbances `json:"disturbances,omitempty"`
}

// Outcome is how a whole attempt ended.
type Outcome string

const (
	OutcomeDone      Outcome = "done"      // every stage passed
	OutcomeFailed    Outcome = "failed"    // the submission failed
	OutcomeCancelled Outcome = "cancelled" //
	OutcomeLost      Outcome = "lost"      // an infrastructure error: retry
	OutcomeReturned  Outcome = "returned"  // handed back before its end: retry, and count nothing
)

// Result ends an attempt.
type Result struct {
	RunID     int64    `json:"run_id"`
	AttemptID string   `json:"attempt_id"`
	Secret    string   `json:"secret"`
	Outcome   Outcome  `json:"outcome"`
	Failure   *Failure `json:"failure,omitempty"`
	// Suspect says of a lost attempt that the run itself may have brought it down: after a few of these
	// it is given up. Other losses do not count against it.
	Suspect bool          `json:"suspect,omitempty"`
	Stages  []StageResult `json:"stages"`
	// ScoreNS is the ranked score in nanoseconds, smaller is better; nil unless the ranked stage passed.
	// The dispatcher computes it again from Stages and refuses a result that disagrees.
	ScoreNS *float64 `json:"score_ns,omitempty"`
	// Unfinished is what a ranked stage measured that began and did not pass; nil where its program measures itself.
	Unfinished *Unfinished `json:"unfinished,omitempty"`
	Machine    Machine     `json:"machine"`
	Artifacts  []Artifact  `json:"artifacts,omitempty"`
	// Harness names what measured: "warpboard/cpp", "warpboard/cu", "warpboard/py", "bundle", "legacy".
	Harness string `json:"harness"`
	// WallNS is the attempt's wall time on the worker; ProgramNS the part spent in compilers and programs.
	WallNS    int64 `json:"wall_ns"`
	ProgramNS int64 `json:"program_ns"`
	// UnitNS is for how long the attempt held units of its device, times their number.
	UnitNS int64 `json:"unit_ns,omitempty"`
	// EvaluationID and Evaluation are those of an evaluation; Evaluation is a kernel.Result.
	EvaluationID string          `json:"evaluation_id,omitempty"`
	Evaluation   json.RawMessage `json:"evaluation,omitempty"`
}

// Unfinished is what the fresh processes of a ranked stage measured before it failed or was cancelled. One more was under way.
type Unfinished struct {
	Cases [][]float64 `json:"cases"` // for each case the medians of the processes that came to their end; none: no process did
}

// LeaveOut drops the content of an artifact and says why in the stage that made it, the last one.
func (r *Result) LeaveOut(i int, why string) {
	r.Artifacts[i].Data = nil
	if len(r.Stages) == 0 {
		return
	}
	last := &r.Stages[len(r.Stages)-1]
	extra := maps.Clone(last.Extra)
	if extra == nil {
		extra = map[string]string{}
	}
	extra[r.Artifacts[i].Name] = fmt.Sprintf("This file of %.1f MB (packed) was not kept: %s.", float64(r.Artifacts[i].Size)/1e6, why)
	last.Extra = extra
}

// Artifact names a file that the run left, sent apart from the result.
type Artifact struct {
	Name string `json:"name"` // "profile.0.ncu-rep.gz"
	Size int64  `json:"size"`
	Type string `json:"type"` // media type
	Data []byte `json:"data,omitempty"`
}
