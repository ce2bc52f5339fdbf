package toolchain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"warpboard/evaluator/harness"
	"warpboard/evaluator/job"
	"warpboard/evaluator/ncu"
	"warpboard/evaluator/sandbox"
)

// maxBuildProductBytes limits one object or program, in bytes. CUTLASS kernels reach tens of megabytes. A product is in
// memory as a whole, and in the store.
const maxBuildProductBytes = 512 << 20

// maxConcurrentCompilers limits the concurrent compilers of one build to those of a program of one file (judge, runner,
// and submission), because each may use the memory of a build. All files of a build together may take maxFileCompilers
// times the time limit.
const maxConcurrentCompilers, maxFileCompilers = 3, 3

// buildStep is one finished command of a build. A nil product means that it failed.
type buildStep struct {
	file      harness.CompileInput
	argv      []string // command of an inspection
	product   []byte
	fromStore bool // the product comes from the store
	outcome   sandbox.Outcome
}

// compilation is one build in progress. steps has one element per file, each written by one goroutine, and is read
// after all have ended. logMutex prevents mixed lines in the log.
type compilation struct {
	builder   *Builder
	request   BuildRequest
	plan      *buildPlan
	steps     []buildStep
	startedAt time.Time
	logMutex  sync.Mutex
}

// compileAll concurrently compiles all files that have no product. If together is true, the task's files can include
// the submission.
func (c *compilation) compileAll(ctx context.Context, together bool) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(maxConcurrentCompilers)
	for i, file := range c.plan.sources.ToCompile {
		if c.steps[i].product != nil {
			continue
		}
		group.Go(func() (err error) {
			if file.HasSubmission || together {
				c.steps[i], err = c.compileOne(ctx, file, c.plan.sources.Files, true)
			} else {
				c.steps[i], err = c.compileTaskFile(ctx, file)
			}
			return err
		})
	}
	return group.Wait()
}

// buildJudge returns the judge's program, or a step without a product if the submission's program judges itself.
func (c *compilation) buildJudge(ctx context.Context) (buildStep, error) {
	for i, file := range c.plan.sources.ToCompile {
		if !file.IsJudge {
			continue
		}
		if c.steps[i].product != nil {
			return c.steps[i], nil
		}
		return c.compileTaskFile(ctx, file)
	}
	return buildStep{}, nil
}

// compileTaskFile compiles one of the task's files, or reads it from the store. It waits while another build compiles
// the same file. If a bundle's file does not compile without the submission, the store records that, so that later runs
// do not try again.
func (c *compilation) compileTaskFile(ctx context.Context, file harness.CompileInput) (buildStep, error) {
	files := c.plan.sources.TaskFiles()
	objectKey := hashParts("object", c.plan.baseHash, file.FileName, hashFiles(files))
	needsSubmissionKey := hashParts("needs the submission", objectKey)
	unlock, err := c.builder.fileLocks.lock(ctx, objectKey)
	if err != nil {
		// Cancelled while waiting for another build. An error here would make the run an infrastructure error.
		return buildStep{file: file, outcome: sandbox.Outcome{ExitCode: -1, Cancelled: true}}, nil
	}
	defer unlock()
	if object, ok := c.builder.objects.get(objectKey); ok {
		return buildStep{file: file, product: object, fromStore: true}, nil
	}
	if _, needs := c.builder.objects.get(needsSubmissionKey); needs {
		return buildStep{file: file}, nil
	}
	s, err := c.compileOne(ctx, file, files, false)
	switch {
	case err != nil:
		return s, err
	case s.product != nil:
		c.builder.keep(objectKey, s.product)
	case s.compilerRejected() && !c.plan.sources.HasSeparateJudge:
		// Only a rejection by the compiler is recorded. A time limit or a signal may be caused by this machine, so the
		// next build tries again.
		c.builder.keep(needsSubmissionKey)
	}
	return s, nil
}

// compilerRejected reports whether the compiler finished and rejected the source.
func (s buildStep) compilerRejected() bool {
	return s.outcome.ExitCode != 0 && s.outcome.Signal == "" && s.outcome.ExceededLimit == "" && !s.outcome.Cancelled
}

func (c *compilation) link(ctx context.Context) (buildStep, error) {
	// Callers link only if every file has a product.
	objects := map[string][]byte{}
	for i, s := range c.steps {
		if !s.file.IsJudge {
			objects[objectName(i)] = s.product
		}
	}
	spec := sandbox.Spec{Argv: c.plan.linkCommand(), WorkingDir: "/in", Files: objects,
		Limits: c.request.Environment.BuildLimits}
	return c.runCommand(ctx, harness.CompileInput{FileName: "linking", HasSubmission: true}, spec, "program", true)
}

// compileOne compiles a file, with the given files in the same directory.
func (c *compilation) compileOne(
	ctx context.Context, file harness.CompileInput, files map[string][]byte, logged bool,
) (buildStep, error) {
	spec := sandbox.Spec{Argv: c.plan.compileCommand(file), WorkingDir: "/in", Files: files,
		Limits: c.compilerLimits(file)}
	return c.runCommand(ctx, file, spec, "object", logged)
}

// compilerLimits returns the limits of a compiler. The submission's files share a time limit, of which it returns the
// rest.
func (c *compilation) compilerLimits(file harness.CompileInput) sandbox.Limits {
	limits := c.request.Environment.BuildLimits
	if file.HasSubmission {
		limits.WallTime = commandTimeout(limits.WallTime, c.startedAt)
	}
	return limits
}

// commandTimeout returns the time limit of a command that starts now, in a build that began at begun and has limit per
// command.
func commandTimeout(limit time.Duration, begun time.Time) time.Duration {
	return max(time.Second, min(limit, maxFileCompilers*limit-time.Since(begun)))
}

// compilePTX compiles the submission to PTX for a profile, because the profiled program has only machine code. The
// result is cached. A failure is not an error, because a profile is useful without PTX.
func (c *compilation) compilePTX(ctx context.Context) ([]byte, error) {
	ptxKey := hashParts("ptx", c.plan.baseHash, hashFiles(c.plan.sources.Files))
	if kept, ok := c.builder.objects.get(ptxKey); ok {
		return kept, nil
	}
	var all []byte
	for _, file := range c.plan.sources.ToCompile {
		if !file.HasSubmission || file.IsJudge {
			continue
		}
		s, err := c.runCommand(ctx, file, sandbox.Spec{Argv: c.plan.ptxCommand(file), WorkingDir: "/in", Files: c.plan.sources.Files, Limits: c.compilerLimits(file)}, "ptx", false)
		if err != nil || s.product == nil || len(all)+len(s.product) > ncu.MaxPTX {
			return nil, err
		}
		all = append(all, s.product...)
	}
	c.builder.keep(ptxKey, all)
	return all, nil
}

// runCommand runs one build command in the sandbox and collects its product from /out.
func (c *compilation) runCommand(
	ctx context.Context, file harness.CompileInput, spec sandbox.Spec, product string, logged bool,
) (buildStep, error) {
	spec.SandboxSlot, spec.Mounts = c.request.Environment.SandboxSlot, c.plan.mounts
	spec.CollectFiles = map[string]int64{product: maxBuildProductBytes}
	if logged {
		spec.OnStdout = func(b []byte) { c.sendToLog("stdout", b) }
		spec.OnStderr = func(b []byte) { c.sendToLog("stderr", b) }
	}
	outcome, err := runProcess(ctx, c.builder.cfg.Runner.Run, spec)
	if err != nil {
		return buildStep{}, fmt.Errorf("run the compiler: %w", err)
	}
	s := buildStep{file: file, outcome: outcome}
	if outcome.ExitCode == 0 && outcome.ExceededLimit == "" && !outcome.Cancelled {
		s.product = outcome.Files[product]
	}
	return s, nil
}

func (c *compilation) sendToLog(stream string, text []byte) {
	c.logMutex.Lock()
	defer c.logMutex.Unlock()
	c.request.OnLog(stream, text)
}

// hasFailedTaskFile reports whether one of the bundle's own files failed, perhaps because it includes the submission.
func (c *compilation) hasFailedTaskFile() bool {
	for _, s := range c.steps {
		if s.product == nil && !s.file.HasSubmission && !s.outcome.Cancelled && !c.plan.sources.HasSeparateJudge {
			return true
		}
	}
	return false
}

// reusedFiles returns the names of the files that came from the store.
func (c *compilation) reusedFiles() []string {
	var names []string
	for _, s := range c.steps {
		if s.fromStore {
			names = append(names, s.file.FileName)
		}
	}
	return names
}

// failedStep returns the failed step to report, or nil. A failure of the submission takes precedence over one of the
// task.
func (c *compilation) failedStep() *buildStep {
	var failed *buildStep
	for i := range c.steps {
		s := &c.steps[i]
		if s.product == nil && (failed == nil || s.file.HasSubmission && !failed.file.HasSubmission) {
			failed = s
		}
	}
	return failed
}

// joinOutput joins the output of compiling and linking the submission.
func (c *compilation) joinOutput(linked buildStep) (stdout, stderr string) {
	for _, s := range append(c.steps, linked) {
		if s.file.HasSubmission {
			stdout += s.outcome.Stdout
			stderr += s.outcome.Stderr
		}
	}
	return stdout, stderr
}

// PrecompileTask compiles a task's own files into the store, one after the other. Every build for the task with the
// same tools uses them. It returns the number of newly compiled files. The error is the context's, an infrastructure
// error, or a fault of the task.
func (b *Builder) PrecompileTask(ctx context.Context, p job.PrecompileJob, place Environment) (made int, err error) {
	sources := harness.AssembleSources(p.Task, p.Sources)
	files := slices.DeleteFunc(slices.Clone(sources.ToCompile), func(u harness.CompileInput) bool { return u.HasSubmission })
	if len(files) == 0 {
		return 0, nil
	}
	if b.cfg.Toolchain.CompilerFor(p.Task.Lang) == nil {
		return 0, fmt.Errorf("%w: no compiler for %s was found", ErrNoCompiler, p.Task.Lang)
	}
	plan, err := b.newPlan(p.Task, sources, place.Arch)
	if err != nil {
		return 0, err
	}
	c := &compilation{builder: b, request: BuildRequest{Environment: place}, plan: plan, startedAt: time.Now()}
	for _, file := range files {
		s, err := c.compileTaskFile(ctx, file)
		switch {
		case err != nil:
			return made, err
		case ctx.Err() != nil:
			return made, ctx.Err()
		case s.product == nil && sources.HasSeparateJudge:
			_, failure := commandFailure(s.outcome, "compiling "+file.FileName)
			return made, errors.New(failure.Reason)
		case s.product != nil && !s.fromStore:
			made++
		}
	}
	return made, nil
}
