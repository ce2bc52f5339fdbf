package toolchain

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"warpboard/evaluator/harness"
	"warpboard/evaluator/job"
	"warpboard/evaluator/sandbox"
	"warpboard/tasks"
)

const (
	// maxAssemblyBytes limits one listing that is read from a tool, in bytes.
	maxAssemblyBytes = 8 << 20
	// maxInspectionTime limits all compilers together, because others wait for the same build slot.
	maxInspectionTime = time.Minute
)

// GeneratedCode is the result of compiling a submission without linking or running it.
type GeneratedCode struct {
	BuildResult job.StageResult       // the values of ptxasFacts are in its ExtraKeys
	Listings    map[string][]CodeLine // assembly by its kind: x86-64, SASS, PTX
}

// Inspect compiles the submitted files of a C++ or CUDA job, and lists the generated code. file is the source to which
// lines of the listings refer. It returns the errors of Build.
func (b *Builder) Inspect(ctx context.Context, req BuildRequest, file string) (done GeneratedCode, err error) {
	req.OnLog = func(string, []byte) {}
	done.Listings = map[string][]CodeLine{}
	done.BuildResult = job.StageResult{Stage: job.StageBuild, Status: job.StatusPass, StartedAt: time.Now().UTC()}
	defer func() { done.BuildResult.EndedAt = time.Now().UTC() }()
	def, result := req.Job.Task, &done.BuildResult
	if b.cfg.Toolchain.CompilerFor(def.Lang) == nil {
		return done, fmt.Errorf("%w: no compiler for %s was found", ErrNoCompiler, def.Lang)
	}
	sources := harness.AssembleSources(def, req.Job.Sources)
	p, err := b.newPlan(def, sources, req.Environment.Arch)
	if err != nil {
		failBuild(result, job.StatusError, job.Failure{Reason: "The task cannot be built here; its author has to fix it: " + err.Error() + "."})
		return done, nil
	}
	c := &compilation{builder: b, request: req, plan: p, startedAt: result.StartedAt}
	for _, input := range filesToInspect(sources) {
		steps, err := c.inspect(ctx, input, file, done.Listings)
		if err != nil {
			return done, err
		}
		for _, s := range steps {
			if s.product == nil && result.Status == job.StatusPass {
				c.explainFailure(result, s)
			}
		}
		if s := steps[0]; result.Status == job.StatusPass {
			result.Command += shellLine(s.argv) + "\n"
			result.Stdout, result.Stderr = result.Stdout+s.outcome.Stdout, result.Stderr+s.outcome.Stderr
		}
	}
	mergeExtraKeys(result, ptxasFacts(result.Stderr))
	return done, nil
}

// filesToInspect returns the submitted files that are compiled, or all files if a task's own program includes the
// submission.
func filesToInspect(sources harness.SourceSet) (inputs []harness.CompileInput) {
	for _, input := range sources.ToCompile {
		if input.HasSubmission && !input.IsJudge {
			inputs = append(inputs, input)
		}
	}
	if inputs == nil {
		return sources.ToCompile
	}
	return inputs
}

// inspect compiles one file, adds its listing to code, and returns the steps of the compilation. The caller shows the
// compiler's messages of the first step.
func (c *compilation) inspect(
	ctx context.Context, input harness.CompileInput, file string, code map[string][]CodeLine,
) ([]buildStep, error) {
	if c.request.Job.Task.Lang != tasks.LangCUDA {
		s, err := c.runTool(ctx, input, c.plan.assemblyCommand(input), c.plan.sources.Files, "assembly")
		if why := s.outcome.RefusedFiles["assembly"]; why != "" && s.outcome.ExitCode == 0 {
			s.product = []byte{} // not nil, because the file compiled
			code[assemblyArchitecture] = append(code[assemblyArchitecture], omittedListing(why))
		}
		code[assemblyArchitecture] = append(code[assemblyArchitecture], readX86Assembly(string(s.product), file)...)
		return []buildStep{s}, err
	}
	// The object has the messages of all of nvcc's compilers and the used resources; the cubin has only the GPU's code.
	// A build slot allows two compilers at a time.
	steps := make([]buildStep, 2)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		steps[0], err = c.runTool(ctx, input, c.plan.compileCommand(input), c.plan.sources.Files, "object")
		return err
	})
	ptx := strings.TrimSuffix(filepath.Base(input.FileName), filepath.Ext(input.FileName)) + ".ptx"
	group.Go(func() (err error) {
		steps[1], err = c.runTool(ctx, input, c.plan.cubinCommand(input), c.plan.sources.Files, "cubin", ptx)
		return err
	})
	if err := group.Wait(); err != nil || steps[1].product == nil {
		return steps, err
	}
	if why := steps[1].outcome.RefusedFiles[ptx]; why != "" {
		code["PTX"] = append(code["PTX"], omittedListing(why))
	}
	code["PTX"] = append(code["PTX"], readPTXListing(string(steps[1].outcome.Files[ptx]), file)...)
	disassembler := filepath.Join(filepath.Dir(c.plan.compiler.Path), "nvdisasm")
	if _, err := os.Stat(disassembler); err != nil {
		return steps, nil // without nvdisasm, only PTX is listed
	}
	s, err := c.runTool(ctx, input, []string{disassembler, "-g", "-c", "cubin"}, map[string][]byte{"cubin": steps[1].product})
	code["SASS"] = append(code["SASS"], readSASSListing(string(s.product), file)...)
	return steps, err
}

// omittedListing returns the line that replaces an omitted listing.
func omittedListing(why string) CodeLine {
	return CodeLine{Text: "This code is not shown: " + why + "."}
}

// runTool runs a command on files. Its product is the first collected file, or else its output.
func (c *compilation) runTool(
	ctx context.Context, input harness.CompileInput, argv []string, files map[string][]byte, collect ...string,
) (buildStep, error) {
	spec := sandbox.Spec{
		Argv: argv, WorkingDir: "/in", Files: files, Limits: c.compilerLimits(input), SandboxSlot: c.request.Environment.SandboxSlot,
		Mounts: c.plan.mounts,
	}
	spec.CollectFiles = map[string]int64{}
	for _, name := range collect {
		spec.CollectFiles[name] = maxBuildProductBytes
		if name == "assembly" || strings.HasSuffix(name, ".ptx") {
			spec.CollectFiles[name] = maxAssemblyBytes
		}
	}
	spec.Limits.WallTime = max(time.Second, min(spec.Limits.WallTime, maxInspectionTime-time.Since(c.startedAt)))
	var printed []byte
	spec.OnStdout = func(text []byte) {
		printed = append(printed, text[:min(len(text), maxAssemblyBytes-len(printed))]...)
	}
	outcome, err := runProcess(ctx, c.builder.cfg.Runner.Run, spec)
	if err != nil {
		return buildStep{}, fmt.Errorf("run the compiler: %w", err)
	}
	s := buildStep{file: input, argv: argv, outcome: outcome}
	switch {
	case outcome.ExitCode != 0 || outcome.ExceededLimit != "" || outcome.Cancelled:
	case len(collect) > 0:
		s.product = outcome.Files[collect[0]]
	default:
		s.product = printed
	}
	return s, nil
}

// assemblyArchitecture has the name of g++'s assembly on this machine.
var assemblyArchitecture = map[string]string{"amd64": "x86-64", "arm64": "AArch64"}[runtime.GOARCH]

// assemblyCommand returns the command that compiles a file in /in to assembly with source lines, with the flags of
// compileCommand.
func (p *buildPlan) assemblyCommand(file harness.CompileInput) []string {
	flags := []string{"-S", "-g1", "-fno-asynchronous-unwind-tables"}
	if runtime.GOARCH == "amd64" {
		flags = append(flags, "-masm=intel")
	}
	return p.compileCommandWith(file, "/out/assembly", flags...)
}

// cubinCommand returns the command that compiles a file in /in to the GPU's code and keeps its PTX.
func (p *buildPlan) cubinCommand(file harness.CompileInput) []string {
	return p.compileCommandWith(file, "/out/cubin", "-cubin", "--keep", "--keep-dir=/out")
}
