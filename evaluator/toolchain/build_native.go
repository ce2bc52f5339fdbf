package toolchain

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"

	"warpboard/evaluator/harness"
	"warpboard/evaluator/job"
	"warpboard/tasks"
)

// nativeBuild is the stored result of a finished native build: the length of its JSON in eight bytes, the JSON, then
// the program. If a field is renamed, stored entries decode as empty unless the base key in newPlan changes, too.
type nativeBuild struct {
	Program   []byte `json:"-"`
	Stdout    string
	Stderr    string
	ExtraKeys map[string]string `json:"Extra"`
}

func (b *Builder) storeBuild(key string, done nativeBuild) error {
	header, err := json.Marshal(done)
	if err == nil {
		b.keep(key, binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header, done.Program)
	}
	return err
}

func (b *Builder) loadBuild(key string) (done nativeBuild, ok bool) {
	data, ok := b.objects.get(key)
	if !ok || len(data) < 8 {
		return done, false
	}
	size, rest := binary.LittleEndian.Uint64(data), data[8:]
	if size > uint64(len(rest)) || json.Unmarshal(rest[:size], &done) != nil {
		return done, false
	}
	done.Program = rest[size:]
	return done, true
}

func (b *Builder) buildNative(ctx context.Context, req BuildRequest, a *Artifact, result *job.StageResult) error {
	def := req.Job.Task
	if b.cfg.Toolchain.CompilerFor(def.Lang) == nil {
		return fmt.Errorf("%w: no compiler for %s was found", ErrNoCompiler, def.Lang)
	}
	p, err := b.newPlan(def, a.sources, req.Environment.Arch)
	if err != nil {
		failBuild(result, job.StatusError, job.Failure{Reason: "The task cannot be built here; its author has to fix it: " + err.Error() + "."})
		return nil
	}
	a.BuildCommands = p.String()
	c := &compilation{
		builder:   b,
		request:   req,
		plan:      p,
		steps:     make([]buildStep, len(p.sources.ToCompile)),
		startedAt: result.StartedAt,
	}
	// PTX is compiled concurrently on the same build slot, which allows two compilers at a time.
	beside, besideCtx := errgroup.WithContext(ctx)
	if req.Job.Mode == job.ModeProfile && def.Lang == tasks.LangCUDA {
		beside.Go(func() (err error) {
			a.PTX, err = c.compilePTX(besideCtx)
			return err
		})
	}
	err = c.buildAll(ctx, a, result)
	return errors.Join(err, beside.Wait())
}

// buildAll builds the submission's program and the judge's, or reads them from the store.
func (c *compilation) buildAll(ctx context.Context, a *Artifact, result *job.StageResult) error {
	b, p := c.builder, c.plan
	// The key contains everything that determines the program: compiler and flags (baseHash), all files, and their
	// order. It omits the submitter, because equal sources compile to the same program.
	programKey := hashParts("program", p.baseHash, hashFiles(a.sources.Files), strings.Join(objectNames(a.sources), "\n"))
	var err error
	done, ok := b.loadBuild(programKey)
	if result.FromCache = ok; !ok {
		if done, err = c.makeProgram(ctx, result); err != nil || result.Status != job.StatusPass {
			return err
		}
		if err := b.storeBuild(programKey, done); err != nil {
			return err
		}
	}
	judge, err := c.buildJudge(ctx)
	if err != nil {
		return err
	}
	// The judge is built after the submission. If the judge does not compile, the task is at fault, and the failure
	// says so.
	if judge.product == nil && a.sources.HasSeparateJudge {
		c.explainFailure(result, judge)
		return nil
	}
	a.judgeExecutable, a.submissionExecutable, result.Stdout, result.Stderr = judge.product, done.Program, done.Stdout, done.Stderr
	mergeExtraKeys(result, done.ExtraKeys)
	return nil
}

func objectNames(l harness.SourceSet) []string {
	names := make([]string, len(l.ToCompile))
	for i, file := range l.ToCompile {
		names[i] = file.FileName
	}
	return names
}

// makeProgram compiles and links the submission's program. The task's own files are compiled without the submission and
// cached. If that fails because they include it (as a bundle's eval program may), all files are compiled together, and
// none is cached.
func (c *compilation) makeProgram(ctx context.Context, result *job.StageResult) (nativeBuild, error) {
	if err := c.compileAll(ctx, false); err != nil {
		return nativeBuild{}, err
	}
	if c.hasFailedTaskFile() {
		if err := c.compileAll(ctx, true); err != nil {
			return nativeBuild{}, err
		}
	}
	if failed := c.failedStep(); failed != nil {
		c.explainFailure(result, *failed)
		return nativeBuild{}, nil
	}
	result.ReusedFiles = c.reusedFiles()
	linked, err := c.link(ctx)
	if err != nil {
		return nativeBuild{}, err
	}
	if linked.product == nil {
		c.explainFailure(result, linked)
		return nativeBuild{}, nil
	}
	stdout, stderr := c.joinOutput(linked)
	return nativeBuild{Program: linked.product, Stdout: stdout, Stderr: stderr, ExtraKeys: ptxasFacts(stderr)}, nil
}
