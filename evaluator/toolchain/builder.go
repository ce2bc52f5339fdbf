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

// ErrMissing means that this machine has no compiler or interpreter for a job's language: it should not have got the job.
var ErrMissing = errors.New("this machine cannot build the task's language")

// Config is what a Builder needs.
type Config struct {
	Tools     Toolchain
	Runner    Runner
	Cache     string            // directory for compiled objects; made when missing
	Libraries map[string]string // include libraries: name → directory of headers
	Log       *slog.Logger
}

// Builder turns a job's sources into something that runs, and keeps what it compiled. It is safe
// for use by several goroutines.
//
// It holds no state of a job. store is on disk and may be shared by several workers of a machine; units and pool are this
// process's, so that two workers may compile the same unit at once, and the last one's object stays.
type Builder struct {
	cfg   Config
	store *store
	units keyLocks // of units that are being compiled for the store
	pool  *warm.Pool
}

// NewBuilder returns a builder.
func NewBuilder(cfg Config) *Builder {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Builder{cfg: cfg, store: newStore(cfg.Cache), pool: warm.NewPool(cfg.Runner, cfg.Log)}
}

// BuildRequest asks for one build.
type BuildRequest struct {
	Job   job.Job
	Place Place
	// Runner is the Python script of the submission's own processes, beside the main one as their judge, of programs
	// that no task describes.
	Runner string
	// JudgeEnv is what the main script beside such processes finds in its environment before it imports anything.
	JudgeEnv map[string]string
	// OnLog sees compiler output as it comes, from several goroutines; stream is "stdout" or
	// "stderr". It may be nil.
	OnLog func(stream string, text []byte)
}

// Artifact is a finished build; Open makes it run.
type Artifact struct {
	Harness string // what will measure: harness.Name of the task
	Command string // the build commands, one per line, as one would type them
	PTX     []byte // cu, of a profile: what the compiler made of the submission before the machine code; nil where it was not kept

	lang       tasks.Lang
	program    []byte            // cu, cpp: the executable that has the submission
	judge      []byte            // cu, cpp: the one that has the reference; nil if program judges itself
	sources    harness.SourceSet // py
	torch      bool              // py: its files import it
	judgeEnv   map[string]string // py: BuildRequest.JudgeEnv
	extensions map[string][]byte // py: by submitted file, an archive of what its import compiled
}

// extensionsOf is the archive for a process: that of one submitted file, or without a name the last one that exists.
// Definition.With puts the main file last.
func (a *Artifact) extensionsOf(file string) []byte {
	if file != "" {
		return a.extensions[file]
	}
	var last []byte
	for _, name := range a.sources.Submitted {
		if archive, ok := a.extensions[name]; ok {
			last = archive
		}
	}
	return last
}

// largeProgram is the size in bytes from which a build's memory is returned at once.
const largeProgram = 32 << 20

// Build compiles the job. A submission that does not compile is not an error: the stage result's
// Status and Failure say so, and the artifact is nil. The error is an infrastructure error (ErrMissing, a broken
// sandbox, a full disk).
func (b *Builder) Build(ctx context.Context, req BuildRequest) (*Artifact, job.StageResult, error) {
	if req.OnLog == nil {
		req.OnLog = func(string, []byte) {}
	}
	result := job.StageResult{Stage: job.StageBuild, Status: job.StatusPass, Started: time.Now().UTC()}
	def := req.Job.Task
	artifact := &Artifact{Harness: harness.Name(def), lang: def.Lang, sources: harness.Assemble(def, req.Job.Sources),
		extensions: map[string][]byte{}}
	if req.Runner != "" {
		artifact.sources.Runner, artifact.judgeEnv = req.Runner, req.JudgeEnv
	}
	build := b.buildNative
	if def.Lang == tasks.LangPython {
		build = b.buildPython
	}
	err := build(ctx, req, artifact, &result)
	if len(artifact.program) > largeProgram {
		debug.FreeOSMemory() // its objects: else they stay until as much has been allocated again
	}
	result.Ended = time.Now().UTC()
	if err != nil {
		return nil, result, fmt.Errorf("build: %w", err)
	}
	result.Command = artifact.Command
	if result.Status != job.StatusPass {
		return nil, result, nil
	}
	return artifact, result, nil
}

// refuse ends a build for a reason that lies in the task or the submission.
func refuse(result *job.StageResult, status job.Status, failure job.Failure) {
	result.Status, result.Failure = status, &failure
}

// Open readies an artifact for its stages at a place.
func (b *Builder) Open(ctx context.Context, a *Artifact, place Place) (Program, error) {
	if a.lang == tasks.LangPython {
		return b.openPython(ctx, a, place), nil
	}
	return &nativeProgram{runner: b.cfg.Runner, place: place, program: a.program, judge: a.judge}, nil
}

func mergeExtra(result *job.StageResult, extra map[string]string) {
	if len(extra) == 0 {
		return
	}
	if result.Extra == nil {
		result.Extra = map[string]string{}
	}
	maps.Copy(result.Extra, extra)
}
