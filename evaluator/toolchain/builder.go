package toolchain

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"runtime/debug"
	"time"

	"warpboard/evaluator/harness"
	"warpboard/evaluator/job"
	"warpboard/evaluator/toolchain/warm"
	"warpboard/tasks"
)

// ErrNoCompiler means that this machine has no compiler or interpreter for the language of a job, which the site should
// not have sent.
var ErrNoCompiler = errors.New("this machine cannot build the task's language")

// Config configures a Builder.
type Config struct {
	Toolchain Toolchain
	Runner    ProcessRunner
	ObjectDir string            // directory for compiled objects; created if missing
	Libraries map[string]string // directories of include libraries, by name
	Log       *slog.Logger
}

// Builder compiles the sources of jobs, runs them, and caches compiled objects. It is safe for concurrent use.
//
// It has no state of a job. objects is on disk, and several workers of a machine may share it. fileLocks and
// warmPythons belong to this process: two workers may compile the same file at the same time, and the last one's object
// stays.
type Builder struct {
	cfg         Config
	objects     *objectStore
	fileLocks   buildLocks // serialize compiling the same file for the store
	warmPythons *warm.Pool
}

// NewBuilder returns a Builder.
func NewBuilder(cfg Config) *Builder {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Builder{cfg: cfg, objects: newObjectStore(cfg.ObjectDir), warmPythons: warm.NewPool(cfg.Runner, cfg.Log)}
}

// BuildRequest describes one build.
type BuildRequest struct {
	Job         job.Job
	Environment Environment
	// RunnerScript is the Python script for the submission's own processes, if the main script judges them. It is set
	// only for programs without a task.
	RunnerScript string
	// MaxTime limits the compilation of the extensions of each submitted file; 0 means no limit besides the environment's.
	MaxTime time.Duration
	// JudgeEnv is added to the environment of the main script.
	JudgeEnv map[string]string
	// AdditionalFiles has the files that are in the directory of a submitted file while it is built, by its name. It is
	// set only for programs without a task.
	AdditionalFiles map[string]map[string][]byte
	// OnLog receives compiler output while the build runs, from several goroutines. stream is "stdout" or "stderr". It
	// may be nil.
	OnLog func(stream string, text []byte)
}

// Artifact is the result of a build. Open makes it runnable.
type Artifact struct {
	HarnessName   string // harness.HarnessNameOfTask of the task
	BuildCommands string // the build commands as shell lines
	PTX           []byte // CUDA in mode profile: the submission's PTX; nil if not available

	lang                 tasks.Lang
	submissionExecutable []byte // CUDA and C++: the executable with the submission
	// CUDA and C++: the executable with the reference; nil without a judge
	judgeExecutable   []byte
	sources           harness.SourceSet // Python: the source files
	importsTorch      bool              // Python: the files import torch
	judgeEnv          map[string]string // Python: BuildRequest.JudgeEnv
	extensionArchives map[string][]byte // Python: archives of compiled extensions, by submitted file
	failedExtension   string            // Python: the submitted file whose extension does not compile
}

// FailedExtension returns the submitted Python file whose extension does not compile; empty if all do. The build itself
// succeeded, because a failed import does not fail it.
func (a *Artifact) FailedExtension() string { return a.failedExtension }

// extensionArchiveOf returns the archive of a submitted file. If file is "", it returns the last archive, which belongs
// to the main file (see tasks.Definition.WithFiles).
func (a *Artifact) extensionArchiveOf(file string) []byte {
	if file != "" {
		return a.extensionArchives[file]
	}
	var last []byte
	for _, name := range a.sources.SubmittedFiles {
		if archive, ok := a.extensionArchives[name]; ok {
			last = archive
		}
	}
	return last
}

// largeProgramBytes is the program size from which the memory of a build is returned to the system at once, in bytes.
const largeProgramBytes = 32 << 20

// Build compiles a job. If the submission does not compile, the error is nil, the result has the reason in Status and
// Failure, and the artifact is nil. The error is an infrastructure error (ErrNoCompiler, a broken sandbox, a full
// disk).
func (b *Builder) Build(ctx context.Context, req BuildRequest) (*Artifact, job.StageResult, error) {
	if req.OnLog == nil {
		req.OnLog = func(string, []byte) {}
	}
	result := job.StageResult{Stage: job.StageBuild, Status: job.StatusPass, StartedAt: time.Now().UTC()}
	def := req.Job.Task
	artifact := &Artifact{HarnessName: harness.HarnessNameOfTask(def), lang: def.Lang,
		sources:           harness.AssembleSources(def, req.Job.Sources),
		extensionArchives: map[string][]byte{}}
	if req.RunnerScript != "" {
		artifact.sources.RunnerScript, artifact.judgeEnv = req.RunnerScript, req.JudgeEnv
	}
	build := b.buildNative
	if def.Lang == tasks.LangPython {
		build = b.buildPython
	}
	err := build(ctx, req, artifact, &result)
	if len(artifact.submissionExecutable) > largeProgramBytes {
		debug.FreeOSMemory() // otherwise Go keeps this memory until its heap has doubled
	}
	result.EndedAt = time.Now().UTC()
	if err != nil {
		return nil, result, fmt.Errorf("build: %w", err)
	}
	result.Command = artifact.BuildCommands
	if result.Status != job.StatusPass {
		return nil, result, nil
	}
	return artifact, result, nil
}

// failBuild stores in result that the build failed because of the task or the submission.
func failBuild(result *job.StageResult, status job.Status, failure job.Failure) {
	result.Status, result.Failure = status, &failure
}

// Open makes an artifact runnable in a sandbox environment.
func (b *Builder) Open(ctx context.Context, a *Artifact, place Environment) (Program, error) {
	if a.lang == tasks.LangPython {
		return b.openPython(ctx, a, place), nil
	}
	return &nativeProgram{runner: b.cfg.Runner, environment: place, submissionExecutable: a.submissionExecutable,
		judgeExecutable: a.judgeExecutable}, nil
}

func mergeExtraKeys(result *job.StageResult, extra map[string]string) {
	if len(extra) == 0 {
		return
	}
	if result.ExtraKeys == nil {
		result.ExtraKeys = map[string]string{}
	}
	maps.Copy(result.ExtraKeys, extra)
}
