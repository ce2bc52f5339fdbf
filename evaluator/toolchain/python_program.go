package toolchain

import (
	"context"
	"maps"
	"os"

	"warpboard/evaluator/harness"
	"warpboard/evaluator/judge"
	"warpboard/evaluator/sandbox"
	"warpboard/evaluator/toolchain/warm"
)

// pythonProgram runs a script's stages in a warm runner, or where that cannot be had each in an
// interpreter of its own.
type pythonProgram struct {
	builder  *Builder
	place    Place
	artifact *Artifact
	runner   *warm.Python
	judge    *warm.Python // of a task that has one; a warm Python under the judge's uid
	warm     bool         // the first runner was ready before it was asked for
}

func (b *Builder) openPython(ctx context.Context, a *Artifact, place Place) *pythonProgram {
	p := &pythonProgram{builder: b, place: place, artifact: a, runner: b.pool.Take(ctx, b.warmSpec(place))}
	if p.judged() {
		p.judge = b.pool.Take(ctx, b.warmSpec(place.Judges()))
	}
	p.warm = p.runner != nil
	return p
}

// KeepWarm keeps n warm Pythons ready at a place until ctx ends; Open takes them.
func (b *Builder) KeepWarm(ctx context.Context, place Place, n int) error {
	if b.cfg.Tools.Python == nil || n < 1 {
		<-ctx.Done()
		return ctx.Err()
	}
	return b.pool.Keep(ctx, b.warmSpec(place), n, place.Arch == "")
}

// OpenReady opens a Python artifact in a warm Python that waits at the place; nil when none does.
func (b *Builder) OpenReady(a *Artifact, place Place) Program {
	r := b.pool.TakeReady(place.Slot)
	if r == nil {
		return nil
	}
	return &pythonProgram{builder: b, place: place, artifact: a, runner: r, warm: true}
}

// warmSpec is the warm process. No limit on its wall time: it waits for work.
func (b *Builder) warmSpec(place Place) sandbox.Spec {
	python := b.cfg.Tools.Python
	env := b.pythonEnv(place)
	if off, ok := b.cfg.Runner.(interface{ Off() bool }); !ok || !off.Off() {
		env["WARPBOARD_ALONE"] = "1"
	}
	spec := place.spec(StageRequest{})
	spec.Argv = append([]string{python.Path, "/in/warm.py"}, b.preloads(place)...)
	spec.Env, spec.Files = env, harness.RunnerSources()
	spec.Mounts = append(spec.Mounts[:len(spec.Mounts):len(spec.Mounts)], python.Mounts...)
	return spec
}

// preloads are the modules worth importing before a job is known: torch only where there is a GPU.
func (b *Builder) preloads(place Place) []string {
	names := []string{"numpy"}
	if place.Arch != "" {
		// torch imports the last one, for seconds, when a task asks for deterministic algorithms.
		names = append(names, "torch", "triton", "triton.language", "torch._inductor.config")
	}
	return names
}

// judged reports whether a judge of its own runs beside the submission.
func (p *pythonProgram) judged() bool { return p.artifact.sources.Runner != "" }

func (p *pythonProgram) Warm() bool { return p.warm }

// Next hands the runner over. Every stage is a fork of its pristine process, and finds what the first stages of the
// programs before it compiled; compiled extensions stay their own program's.
func (p *pythonProgram) Next(a *Artifact) Program {
	if p.runner == nil || !p.runner.Alive() || len(a.extensions) > 0 || len(p.artifact.extensions) > 0 {
		return nil
	}
	next := &pythonProgram{builder: p.builder, place: p.place, artifact: a, runner: p.runner, judge: p.judge, warm: true}
	p.runner, p.judge = nil, nil
	for _, r := range []*warm.Python{next.runner, next.judge} {
		if r != nil {
			r.Fresh()
		}
	}
	return next
}

func (p *pythonProgram) Close() error {
	for _, r := range []*warm.Python{p.runner, p.judge} {
		if r != nil {
			r.Stop()
		}
	}
	p.runner, p.judge = nil, nil
	return nil
}

// spec runs the script in an interpreter of its own.
func (p *pythonProgram) spec(req StageRequest) sandbox.Spec {
	spec := p.builder.pythonSpec(p.place, req, p.script(req), p.files(req))
	return p.withExtensions(spec)
}

// runnerSpec is the process beside a judge as an interpreter of its own.
func (p *pythonProgram) runnerSpec(req StageRequest) sandbox.Spec {
	sources := p.artifact.sources
	return p.withExtensions(p.builder.pythonSpec(p.place, req, []string{sources.Runner}, sources.Files))
}

func (b *Builder) pythonSpec(place Place, req StageRequest, script []string, files map[string][]byte) sandbox.Spec {
	python := b.cfg.Tools.Python
	spec := place.spec(req)
	maps.Copy(spec.Env, b.pythonEnv(place))
	spec.Mounts = append(spec.Mounts[:len(spec.Mounts):len(spec.Mounts)], python.Mounts...)
	spec.Dir, spec.Work = "/out", files
	spec.Argv = append([]string{python.Path}, script...)
	return spec
}

// withExtensions unpacks what the submission compiled when it was built before the script starts.
func (p *pythonProgram) withExtensions(spec sandbox.Spec) sandbox.Spec {
	if len(p.artifact.extensions) == 0 {
		return spec
	}
	spec.Env["TORCH_EXTENSIONS_DIR"] = extensionsDir
	spec.Files = harness.RunnerSources()
	spec.Files[extensionsArchive] = p.artifact.extensions
	spec.Argv = append([]string{spec.Argv[0], "/in/" + extensionsScript, "run", "/in/" + extensionsArchive}, spec.Argv[1:]...)
	return spec
}

func (p *pythonProgram) script(req StageRequest) []string {
	return []string{p.artifact.sources.Main, req.Mode, casesName}
}

func (p *pythonProgram) files(req StageRequest) map[string][]byte {
	files := maps.Clone(p.artifact.sources.Files)
	files[casesName] = harness.CasesFile(req.Cases)
	maps.Copy(files, req.Files)
	return files
}

func (p *pythonProgram) RunStage(ctx context.Context, req StageRequest) (judge.Ending, error) {
	if p.judged() {
		return p.runJudged(ctx, req, nil)
	}
	outcome, err := p.process(ctx, &p.runner, p.place, req, p.spec(req), warm.Stage{
		Argv: p.script(req), Files: p.files(req), Extensions: p.artifact.extensions, Report: true}, nil, func() {})
	return judge.Ending{Outcome: outcome}, err
}

// RunWrapped starts the submission's process in an interpreter of its own.
func (p *pythonProgram) RunWrapped(ctx context.Context, req StageRequest, wrapped Wrapped) (judge.Ending, error) {
	if p.judged() {
		return p.runJudged(ctx, req, wrapped)
	}
	outcome, err := wrapped(ctx, p.spec(req))
	return judge.Ending{Outcome: outcome}, err
}

// runJudged runs a stage as a judge and runners. The judge has the task's files and the cases; a runner has the
// submission beside the task's files, which everybody may read, and no cases. Runners that follow each other are forks
// of one warm process, which clears up between them.
func (p *pythonProgram) runJudged(ctx context.Context, req StageRequest, wrapped Wrapped) (judge.Ending, error) {
	sources := p.artifact.sources
	cases := StageRequest{Cases: req.Cases, Timeout: req.Timeout, OnPipe: req.OnPipe}
	own := sources.TaskFiles()
	own[casesName] = harness.CasesFile(req.Cases)
	maps.Copy(own, req.Files)
	at := p.place.Judges()
	judging := func(ctx context.Context, files []*os.File, started func()) (sandbox.Outcome, error) {
		spec := p.builder.pythonSpec(at, cases, p.script(req), own)
		return p.process(ctx, &p.judge, at, cases, spec, warm.Stage{Argv: p.script(req), Files: own, Report: true}, files, started)
	}
	return judge.Run(ctx, judging, req.runners(func(number int) judge.Side {
		return func(ctx context.Context, files []*os.File, started func()) (sandbox.Outcome, error) {
			theirs := req.ofRunner(number)
			cold := p.runnerSpec(theirs)
			if wrapped != nil {
				cold.ExtraFiles = files
				return wrapped(ctx, cold)
			}
			return p.process(ctx, &p.runner, p.place, theirs, cold, warm.Stage{
				Argv: []string{sources.Runner}, Files: sources.Files, Extensions: p.artifact.extensions}, files, started)
		}
	}))
}

// process runs one process of a stage to its end: in the warm runner at r, which is started where there is none, or
// where that fails in an interpreter of its own.
func (p *pythonProgram) process(ctx context.Context, r **warm.Python, place Place, req StageRequest, cold sandbox.Spec,
	asked warm.Stage, wires []*os.File, started func()) (sandbox.Outcome, error) {
	if *r != nil && !(*r).Alive() {
		(*r).Stop()
		*r = nil
	}
	if *r == nil {
		// One import for the stages to come beats one for each.
		fresh, err := p.builder.pool.Start(ctx, p.builder.warmSpec(place))
		switch {
		case ctx.Err() != nil && err != nil:
			return sandbox.Outcome{ExitCode: -1, Cancelled: true}, nil
		case err != nil:
			p.builder.cfg.Log.Warn("running a stage without a warm Python", "slot", place.Slot, "err", err)
			cold.ExtraFiles, cold.Started = wires, started
			return runWithPipe(ctx, p.builder.cfg.Runner, cold, req.OnPipe)
		}
		*r = fresh
	}
	asked.Env = place.environment(req)
	maps.Copy(asked.Env, p.builder.pythonEnv(place))
	asked.Wires, asked.Started = wires, started
	asked.Timeout, asked.Output, asked.Log = req.Timeout, place.Run.Output, p.builder.cfg.Log
	asked.OnPipe, asked.OnStdout, asked.OnStderr = req.OnPipe, req.OnStdout, req.OnStderr
	return (*r).Run(ctx, asked)
}
