package tasks

import (
	"time"

	"warpboard/tasks/filetree"
)

// Lang is the language a task is written in; it selects the harness and the build.
type Lang string

const (
	LangCUDA   Lang = "cu"  // CUDA C++, built by nvcc
	LangPython Lang = "py"  // Python with torch, Triton or NumPy
	LangCPP    Lang = "cpp" // C++ on the CPU device, built by g++
)

// Ranking says how the benchmark cases of a ranked run become one score.
type Ranking string

const (
	RankLast Ranking = "last" // the last case alone
	RankMean Ranking = "mean" // arithmetic mean of the cases
	RankGeom Ranking = "geom" // geometric mean of the cases
)

// Form is the protocol of a task's program.
type Form string

const (
	FormEval   Form = "eval"   // the POPCORN_FD protocol (task.yml)
	FormLegacy Form = "legacy" // one reference file; one translation unit; "score:" on stdout
)

// SubmissionSource is the value of a file's source that stands for the submitted code.
const SubmissionSource = "@SUBMISSION@"

// File is one entry of task.yml's `files`: the name it has while running, and where its text comes from.
type File struct {
	Name   string `json:"name"`
	Source string `json:"source"` // SubmissionSource, or a cleaned path inside the bundle; "_up" stands there for ".."
}

// IsSubmission reports whether the submitted code takes this file's place.
func (f File) IsSubmission() bool { return f.Source == SubmissionSource }

// Define is one preprocessor definition; a nil Value is a plain -DNAME.
type Define struct {
	Name  string  `json:"name"`
	Value *string `json:"value,omitempty"`
}

// Config is task.yml's `config`: Main for Python, the rest for cu and cpp.
type Config struct {
	Main         string   `json:"main,omitempty"`
	Sources      []string `json:"sources,omitempty"`
	IncludeDirs  []string `json:"include_dirs,omitempty"`
	Defines      []Define `json:"defines,omitempty"`
	CompileFlags []string `json:"compile_flags,omitempty"`
}

// Arg is one named argument of a case. Value holds what Python's str() of the YAML value would print.
type Arg struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Case is one test or benchmark case: its arguments in file order.
type Case []Arg

// Roofline declares, as expressions over a case's arguments, what one call must move and compute.
type Roofline struct {
	Bytes string `json:"bytes,omitempty"`
	Flops string `json:"flops,omitempty"`
}

// Timeouts limit one stage's program each; building has its own limit.
type Timeouts struct {
	Test      time.Duration `json:"test"`
	Benchmark time.Duration `json:"benchmark"`
	Ranked    time.Duration `json:"ranked"`
}

// DefaultRankedBudget is for how long a ranked run of a task that does not say it starts further processes.
const DefaultRankedBudget = 4 * time.Second

// Definition is a whole task.yml, checked and with defaults filled in.
type Definition struct {
	Form        Form              `json:"form"`
	Lang        Lang              `json:"lang"`
	Title       string            `json:"title,omitempty"`   // ours; optional
	Description string            `json:"description"`       // Markdown
	Tags        []string          `json:"tags,omitempty"`    // by which tasks are found; they measure nothing
	Problem     string            `json:"problem,omitempty"` // what tasks of one author have in common that are shown together; it measures nothing
	Files       []File            `json:"files"`
	Config      Config            `json:"config"`
	Templates   map[string]string `json:"templates,omitempty"` // label (CUDA, Python, Triton, C++ …) → path in the bundle
	Baselines   map[string]string `json:"baselines,omitempty"` // name → path in the bundle of a submission that the site runs
	// SubmissionFiles are names, and patterns with *, of further files that a submission may bring beside its main one.
	SubmissionFiles []string `json:"submission_files,omitempty"`
	Tests           []Case   `json:"tests,omitempty"`
	Benchmarks      []Case   `json:"benchmarks,omitempty"`
	Timeouts        Timeouts `json:"timeouts"`
	// RankedBudget is for how long the ranked stage may start further processes of a submission to narrow the interval
	// of its score; 0 leaves that to the worker.
	RankedBudget time.Duration `json:"ranked_budget,omitempty"`
	// MemoryLimit is how many bytes of the host's memory the processes of a submission may have together; 0 leaves that to the worker.
	MemoryLimit int64     `json:"memory_limit,omitempty"`
	RankingBy   Ranking   `json:"ranking_by"`
	Seed        *int64    `json:"seed,omitempty"`
	MultiGPU    bool      `json:"multi_gpu,omitempty"`
	Libraries   []string  `json:"libraries,omitempty"`
	GPUs        []string  `json:"gpus,omitempty"`
	Roofline    *Roofline `json:"roofline,omitempty"`
	NoProfile   bool      `json:"no_profile,omitempty"` // `profile: false`
	// SanitizeFirst ranks a source on a device only after compute-sanitizer found nothing in it there: `sanitize: required`.
	SanitizeFirst bool `json:"sanitize_first,omitempty"`
	// RefuseLibrary says that kernels shall come from the source: `library: refuse`. Ranked runs whose profile has kernels of
	// libraries are flagged for a review.
	RefuseLibrary bool        `json:"refuse_library,omitempty"`
	Validation    *Validation `json:"validation,omitempty"`
	// OwnHarness is true when the bundle brings the eval program itself; otherwise
	// Warpboard's harness for Lang is used.
	OwnHarness bool `json:"own_harness"`
}

// Bundle is one task version: its definition and the files that it names, by cleaned path.
type Bundle struct {
	Name       string            // folder name; a proposal for the task's name
	Definition Definition        //
	Files      map[string][]byte // every file needed, by path inside the bundle; and task.yml as its author wrote it
	Warnings   []string          // what a creator should know before publishing
}

// Limits of what is read. A zip may hold a whole tree of tasks, so its bounds are wider than a
// single task's.
const (
	MaxYAML       = 256 << 10 // bytes of a task.yml or of a problem set
	MaxBundle     = 4 << 20   // bytes of all files that one task stores
	MaxSubmission = 1_000_000 // bytes of a submission, all its files together, and of a reference file in the legacy format
	MaxCases      = 256       // tests, and benchmarks
)

// Options are the bounds and surroundings of one reading. The zero value means the defaults.
type Options struct {
	Name   string // name of a task at the top of the upload; default "task"
	Limits filetree.Limits
}

func (o Options) withDefaults() Options {
	if o.Name == "" {
		o.Name = "task"
	}
	return o
}
