package tasks

import (
	"time"

	"warpboard/internal/requirement"
	"warpboard/tasks/filetree"
	"warpboard/tasks/importing"
)

// Lang is a task's language; it selects the harness and the build.
type Lang string

const (
	LangCUDA   Lang = "cu"  // CUDA C++, built by nvcc
	LangPython Lang = "py"  // Python with torch, Triton or NumPy
	LangCPP    Lang = "cpp" // C++ on the CPU device, built by g++
)

// Ranking is the rule that combines the benchmark cases of a ranked run into a score.
type Ranking string

const (
	RankLastCase      Ranking = "last" // only the last case
	RankMean          Ranking = "mean" // arithmetic mean of the cases
	RankGeometricMean Ranking = "geom" // geometric mean of the cases
)

// Protocol is the protocol between Warpboard and the program that runs and measures a submission.
type Protocol string

const (
	ProtocolEval   Protocol = "eval"   // KernelBot's, over the file descriptor in POPCORN_FD
	ProtocolLegacy Protocol = "legacy" // one reference file; it prints "score:" to stdout
)

// SubmissionSource is the Source of a File that stands for the submission.
const SubmissionSource = "@SUBMISSION@"

// File is one entry of the key files in task.yml: its name at run time and its source.
type File struct {
	Name   string `json:"name"`
	Source string `json:"source"` // SubmissionSource, or a cleaned path inside the bundle, with "_up" for ".."
}

// IsSubmission reports whether the file stands for the submission.
func (f File) IsSubmission() bool { return f.Source == SubmissionSource }

// Define is one preprocessor definition; with a nil Value it is -DNAME.
type Define struct {
	Name  string  `json:"name"`
	Value *string `json:"value,omitempty"`
}

// BuildConfig is the key config of task.yml: MainFile for Python, the other fields for cu and cpp.
type BuildConfig struct {
	MainFile     string   `json:"main,omitempty"`
	Sources      []string `json:"sources,omitempty"`
	IncludeDirs  []string `json:"include_dirs,omitempty"`
	Defines      []Define `json:"defines,omitempty"`
	CompileFlags []string `json:"compile_flags,omitempty"`
}

// Arg is one named argument of a case. Value is the YAML value as str() of Python writes it.
type Arg struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Case is one test or benchmark: arguments in file order.
type Case []Arg

// Roofline has the bytes and the floating-point operations of one call, as expressions with the arguments of a case.
type Roofline struct {
	Bytes string `json:"bytes,omitempty"`
	Flops string `json:"flops,omitempty"`
}

// Timeouts limit the duration of each stage; the build has a separate limit.
type Timeouts struct {
	Test      time.Duration `json:"test"`
	Benchmark time.Duration `json:"benchmark"`
	Ranked    time.Duration `json:"ranked"`
}

// DefaultRankedBudget is the RankedBudget of a task that sets none.
const DefaultRankedBudget = 4 * time.Second

// Definition is a complete task.yml, checked and with default values.
type Definition struct {
	Protocol    Protocol `json:"form"`
	Lang        Lang     `json:"lang"`
	Title       string   `json:"title,omitempty"` // optional; not a key of KernelBot
	Description string   `json:"description"`     // Markdown
	Tags        []string `json:"tags,omitempty"`  // for finding tasks; no effect on measurements
	// ProblemGroup groups the tasks of an author on pages; it has no effect on measurements
	ProblemGroup string      `json:"problem,omitempty"`
	Files        []File      `json:"files"`
	Config       BuildConfig `json:"config"`
	// Templates are paths in the bundle by label (CUDA, Python, Triton, C++ …)
	Templates map[string]string `json:"templates,omitempty"`
	// Baselines are paths in the bundle, by name, of the submissions that the site runs itself for comparison
	Baselines map[string]string `json:"baselines,omitempty"`
	// SubmissionFiles are the names, and patterns with *, of additional files that a submission may have.
	SubmissionFiles []string `json:"submission_files,omitempty"`
	// AllowSetup allows a submission to have a function setup(meta), which is called before each case and is not timed.
	AllowSetup bool `json:"setup,omitempty"`
	// Tolerance has the limits within which the harness of Warpboard accepts differences from ref_kernel, if the
	// reference has no checker; nil for none.
	Tolerance  *Tolerances `json:"tolerance,omitempty"`
	Tests      []Case      `json:"tests,omitempty"`
	Benchmarks []Case      `json:"benchmarks,omitempty"`
	Timeouts   Timeouts    `json:"timeouts"`
	// RankedBudget is the time during which the ranked stage may start additional processes of a submission to narrow
	// the confidence interval of its score. 0: the worker decides
	RankedBudget time.Duration `json:"ranked_budget,omitempty"`
	// MemoryLimit limits the host memory of all processes of a submission together, in bytes. 0: the worker decides
	MemoryLimit int64    `json:"memory_limit,omitempty"`
	RankingBy   Ranking  `json:"ranking_by"`
	Seed        *int64   `json:"seed,omitempty"`
	MultiGPU    bool     `json:"multi_gpu,omitempty"`
	Libraries   []string `json:"libraries,omitempty"`
	GPUs        []string `json:"gpus,omitempty"`
	// RequiredPackages lists the Python packages that a worker must have.
	RequiredPackages requirement.List `json:"require,omitempty"`
	Roofline         *Roofline        `json:"roofline,omitempty"`
	DisableProfile   bool             `json:"no_profile,omitempty"` // true for `profile: false` in task.yml
	// RequiresCleanSanitizerRun is true for `sanitize: required`: a source is ranked on a device only after a clean run
	// of compute-sanitizer there.
	RequiresCleanSanitizerRun bool `json:"sanitize_first,omitempty"`
	// RefuseLibraryKernels is true for `library: refuse`: kernels must come from the source. Ranked runs whose profile
	// has kernels of libraries are flagged for a review.
	RefuseLibraryKernels bool              `json:"refuse_library,omitempty"`
	Validation           *ValidationScript `json:"validation,omitempty"`
	// HasOwnHarness is true if the bundle has its own eval program. Otherwise, the harness of Warpboard for Lang is
	// used.
	HasOwnHarness bool `json:"own_harness"`
}

// Bundle is one version of a task: the definition and the files named in it, by cleaned path.
type Bundle struct {
	Name       string            // folder name; suggested as the task's name
	Definition Definition        //
	Files      map[string][]byte // every needed file, by path inside the bundle; and the original task.yml
	Warnings   []string          // warnings for the author, shown before publishing
}

// Limits of reading. A zip may contain many tasks, so its limits are higher than those of one task.
const (
	MaxYAML   = 256 << 10 // bytes of a task.yml or of a problem set
	MaxBundle = 4 << 20   // bytes of all files that one task stores
	// MaxSubmission limits the bytes of all files of a submission together, and of a reference file in the legacy
	// format
	MaxSubmission = 1_000_000
	MaxCases      = 256 // limit for the tests of a task, and for its benchmarks
)

// ReadOptions configure reading an upload. The zero value means the defaults.
type ReadOptions struct {
	Name          string // name of a task at the top of the upload; default "task"
	Limits        filetree.Limits
	ImportOptions importing.ImportOptions // options for problems of other benchmark collections
}

func (o ReadOptions) withDefaults() ReadOptions {
	if o.Name == "" {
		o.Name = "task"
	}
	return o
}
