package toolchain

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"

	"warpboard/evaluator/harness"
	"warpboard/evaluator/judge"
	"warpboard/evaluator/sandbox"
	"warpboard/evaluator/toolchain/warm"
)

// pythonProgram runs the stages of a script in a warm Python, or each in a new interpreter if none is available.
type pythonProgram struct {
	builder     *Builder
	environment Environment
	artifact    *Artifact
	runnerSet
	judgePython      *warm.Python   // warm Python under the judge's user ID, if the task has a judge
	alternateRunners []*runnerSet   // those of the alternate environments, in order of use
	lastProcesses    []StageProcess // processes of the last stage
	prepareLater     func()         // prepares the Pythons that switchToAlternates left; nil before its first call
	startedWarm      bool           // the first runner was ready when the program was opened
}

// runnerSet is the warm Pythons of one environment in which submitted files run, each under its own user ID.
type runnerSet struct {
	runners       []*warm.Python       // an element is nil if no stage has needed it yet
	leftProcesses *judge.LeftProcesses // processes of earlier stages that have not ended yet
}

func (b *Builder) openPython(ctx context.Context, a *Artifact, place Environment) *pythonProgram {
	p := b.newPythonProgram(a, place, b.warmPythons.TakeMatching(ctx, b.warmPythonSpec(place, a.importsTorch)))
	if p.hasJudge() {
		p.judgePython = b.warmPythons.TakeMatching(ctx, b.warmPythonSpec(p.judgeEnvironment(), a.importsTorch))
	}
	return p
}

// newPythonProgram returns a program whose first process is a fork of a warm Python, which may be nil.
func (b *Builder) newPythonProgram(a *Artifact, place Environment, first *warm.Python) *pythonProgram {
	p := &pythonProgram{builder: b, environment: place, artifact: a, startedWarm: first != nil}
	p.runners = []*warm.Python{first}
	for range place.AlternateEnvironments() {
		p.alternateRunners = append(p.alternateRunners, &runnerSet{})
	}
	return p
}

// KeepWarm keeps n warm Pythons ready in a sandbox environment until ctx ends. Open uses them.
func (b *Builder) KeepWarm(ctx context.Context, place Environment, n int) error {
	if b.cfg.Toolchain.Python == nil || n < 1 {
		<-ctx.Done()
		return ctx.Err()
	}
	return b.warmPythons.KeepPythonsReady(ctx, b.warmPythonSpec(place, false), n, place.Arch == "")
}

// OpenReady opens a Python artifact in a warm Python that is ready, or returns nil if there is none.
func (b *Builder) OpenReady(a *Artifact, place Environment) Program {
	r := b.warmPythons.TakeReady(place.SandboxSlot)
	if r == nil {
		return nil
	}
	return b.newPythonProgram(a, place, r)
}

// warmPythonSpec returns the sandbox spec of a warm Python. torch makes it import torch. There is no time limit,
// because the process waits for work.
func (b *Builder) warmPythonSpec(place Environment, torch bool) sandbox.Spec {
	python := b.cfg.Toolchain.Python
	env := b.pythonEnv(place)
	if off, ok := b.cfg.Runner.(interface{ Off() bool }); !ok || !off.Off() {
		env["WARPBOARD_ALONE"] = "1"
	}
	spec := place.sandboxSpec(StageRequest{})
	spec.Argv = append([]string{python.Path, "/in/warm.py"}, modulesToPreload(place, torch)...)
	spec.Env, spec.Files = env, harness.RunnerSources()
	spec.Mounts = append(spec.Mounts[:len(spec.Mounts):len(spec.Mounts)], python.Mounts...)
	return spec
}

// modulesToPreload returns the modules to import before a stage. As long as the job is not known, torch is included
// only on a GPU, because it takes 200 MB and a second, and many tasks for CPUs do not need it. A job that imports torch
// thus imports it once instead of in each stage.
func modulesToPreload(place Environment, torch bool) []string {
	switch {
	case place.Arch != "" && len(place.DeviceNodes) == 0: // a sidecar, which compiles kernels
		return []string{"numpy", "torch", "triton", "triton.language"}
	case place.Arch != "":
		// torch imports _inductor.config, which takes seconds, when a task requests deterministic algorithms.
		// load_inline is in cpp_extension.
		return []string{"numpy", "torch", "triton", "triton.language", "torch._inductor.config", "torch.utils.cpp_extension"}
	case torch:
		return []string{"numpy", "torch"}
	}
	return []string{"numpy"}
}

// hasJudge reports whether a separate judge runs beside the submission.
func (p *pythonProgram) hasJudge() bool { return p.artifact.sources.RunnerScript != "" }

// judgeEnvironment returns the judge's sandbox environment. Its CPU limit is doubled, because a resident judge exits
// after half of it, so that the next stage has as much as any other process.
func (p *pythonProgram) judgeEnvironment() Environment {
	at, env := p.environment.JudgeEnvironment(), map[string]string{}
	maps.Copy(env, at.Env)
	maps.Copy(env, p.artifact.judgeEnv)
	at.Env = env
	at.RunLimits.CPU *= 2
	return at
}

func (p *pythonProgram) IsWarm() bool { return p.startedWarm }

// Next passes the warm Pythons to the next program. Every stage is a fork of such a process, and unpacks its extensions
// itself.
func (p *pythonProgram) Next(a *Artifact) Program {
	if first := p.runners[0]; first == nil || !first.IsAlive() {
		return nil
	}
	p.PrepareLater()
	next := *p
	next.artifact, next.startedWarm = a, true
	if next.switchToAlternates() != nil {
		return nil // Close returns the error
	}
	p.giveUpPythons()
	return &next
}

func (p *pythonProgram) PrepareLater() {
	if p.prepareLater != nil {
		p.prepareLater()
	}
}

// giveUpPythons gives up the warm Pythons, which then belong to another program.
func (p *pythonProgram) giveUpPythons() {
	p.runnerSet, p.judgePython, p.alternateRunners = runnerSet{runners: []*warm.Python{nil}}, nil, nil
}

// switchToAlternates continues in the warm Pythons of the next alternate environment if as many are ready there. Their
// next processes were prepared while earlier programs were running; the Pythons that it leaves prepare theirs in
// PrepareLater. It does nothing if not enough are ready. The error is warm.Python.Stop's.
func (p *pythonProgram) switchToAlternates() error {
	at, ok := p.environment.AlternateEnvironment()
	if !ok {
		return nil
	}
	next, ready := p.alternateRunners[0], true
	next.runners = append(next.runners, make([]*warm.Python, max(0, len(p.runners)-len(next.runners)))...)
	for number, r := range next.runners {
		if r != nil && !r.IsAlive() {
			if err := r.Stop(); err != nil {
				return err
			}
			r = nil
		}
		if r == nil && number < len(p.runners) && p.runners[number] != nil {
			r = p.builder.warmPythons.TakeReady(p.environment.AlternateSandboxSlots[number])
			ready = ready && r != nil
		}
		next.runners[number] = r
	}
	if !ready {
		return nil
	}
	last, sources, processes := p.runnerSet, p.artifact.sources, p.lastProcesses
	p.prepareLater = sync.OnceFunc(func() { last.prepareStages(sources, processes) })
	p.environment, p.runnerSet, p.alternateRunners = at, *next, append(p.alternateRunners[1:], &last)
	return nil
}

// prepareStages makes each Python prepare the process of its next stage, for the same purpose as that of its last one.
func (s *runnerSet) prepareStages(sources harness.SourceSet, last []StageProcess) {
	for number, r := range s.runners {
		if r == nil {
			continue
		}
		var process StageProcess
		if number < len(last) {
			process = last[number]
		}
		argv := append([]string{sources.RunnerScript}, process.PrepareArguments...)
		// This fails if the Python has ended, which its next user detects.
		_ = r.PrepareStage(argv, sources.TaskFiles(), process.UsesOneStream)
	}
}

// warmPythons returns the existing warm Pythons.
func (p *pythonProgram) warmPythons() (all []*warm.Python) {
	all = []*warm.Python{p.judgePython}
	for _, set := range p.runnerSets() {
		all = append(all, set.runners...)
	}
	return slices.DeleteFunc(all, func(r *warm.Python) bool { return r == nil })
}

// runnerSets returns the runners of all environments.
func (p *pythonProgram) runnerSets() []*runnerSet {
	return append(slices.Clone(p.alternateRunners), &p.runnerSet)
}

// lastAlternate returns the runners of the program before this one, or empty ones if all use the same.
func (p *pythonProgram) lastAlternate() *runnerSet {
	if len(p.alternateRunners) == 0 {
		return &runnerSet{}
	}
	return p.alternateRunners[len(p.alternateRunners)-1]
}

func (p *pythonProgram) Close() error {
	var err error
	for _, set := range p.runnerSets() {
		err = errors.Join(err, set.leftProcesses.Wait(context.Background()))
	}
	pythons := p.warmPythons()
	stuck := make([]error, len(pythons))
	var stopping sync.WaitGroup
	for i, r := range pythons {
		stopping.Go(func() { stuck[i] = r.Stop() }) // concurrently, because a CUDA context takes time to end
	}
	stopping.Wait()
	p.giveUpPythons()
	return errors.Join(append(stuck, err)...)
}

// spec returns the spec that runs the script in a new interpreter.
func (p *pythonProgram) spec(req StageRequest) sandbox.Spec {
	spec := p.builder.pythonSpec(p.environment, req, p.scriptCommand(req), p.stageFiles(req))
	return mountExtensions(spec, p.extensionsFor(req, 0))
}

func (b *Builder) pythonSpec(
	place Environment, req StageRequest, script []string, files map[string][]byte,
) sandbox.Spec {
	python := b.cfg.Toolchain.Python
	spec := place.sandboxSpec(req)
	maps.Copy(spec.Env, b.pythonEnv(place))
	spec.Mounts = append(spec.Mounts[:len(spec.Mounts):len(spec.Mounts)], python.Mounts...)
	spec.WorkingDir, spec.WritableFiles = "/out", files
	spec.Argv = append([]string{python.Path}, script...)
	return spec
}

func (p *pythonProgram) scriptCommand(req StageRequest) []string {
	if req.WithoutJudge {
		return p.runnerCommand(req, 0)
	}
	return []string{p.artifact.sources.MainScript, req.Mode, casesFileName}
}

// runnerCommand returns the command line of the submission's process with the given number.
func (p *pythonProgram) runnerCommand(req StageRequest, number int) []string {
	script := []string{p.artifact.sources.RunnerScript}
	if len(req.Processes) > 0 {
		script = append(script, req.Processes[number].Arguments...)
	}
	return script
}

// extensionsFor returns the compiled extensions for the submission's process with the given number.
func (p *pythonProgram) extensionsFor(req StageRequest, number int) []byte {
	file := ""
	if len(req.Processes) > 0 {
		file = req.Processes[number].SubmittedFile
	}
	return p.artifact.extensionArchiveOf(file)
}

// stageFiles returns the files for a stage that has one process.
func (p *pythonProgram) stageFiles(req StageRequest) map[string][]byte {
	if len(req.Processes) > 0 {
		return p.runnerFiles(req, 0)
	}
	files := maps.Clone(p.artifact.sources.Files)
	files[casesFileName] = harness.CasesFile(req.Cases)
	maps.Copy(files, req.Files)
	return files
}

// runnerFiles returns the files of the submission's process with the given number.
func (p *pythonProgram) runnerFiles(req StageRequest, number int) map[string][]byte {
	sources := p.artifact.sources
	if len(req.Processes) == 0 {
		return sources.Files
	}
	files := sources.TaskFiles()
	maps.Copy(files, req.Processes[number].Files)
	return files
}

func (p *pythonProgram) RunStage(ctx context.Context, req StageRequest) (judge.StageEnding, error) {
	return p.runAfterEarlierStages(ctx, req, nil)
}

// RunWrapped runs the submission's process in a new interpreter.
func (p *pythonProgram) RunWrapped(ctx context.Context, req StageRequest, wrapped ProcessWrapper) (judge.StageEnding,
	error) {
	return p.runAfterEarlierStages(ctx, req, wrapped)
}

// runAfterEarlierStages runs a stage after the processes of earlier ones have ended. Those of the program before may
// still be ending, because a judge waits for them before it measures anything, but not inside a tool, which measures by
// itself.
func (p *pythonProgram) runAfterEarlierStages(ctx context.Context, req StageRequest, wrapped ProcessWrapper) (end judge.StageEnding, err error) {
	before, last := p.runnerSets(), p.lastAlternate()
	if wrapped == nil {
		before = slices.DeleteFunc(before, func(set *runnerSet) bool { return set == last })
	}
	killed, err := waitForEarlierStages(ctx, before...)
	if err != nil {
		return end, err
	}
	beside := !last.leftProcesses.HasEnded()
	switch {
	case p.hasJudge() && !req.WithoutJudge:
		end, err = p.runWithJudge(ctx, req, wrapped)
	case wrapped != nil:
		end.Outcome, err = wrapped(ctx, p.spec(req))
	default:
		end.Outcome, err = p.runProcess(ctx, &p.runners[0], p.environment, req, p.spec(req), warm.Stage{
			Argv: p.scriptCommand(req), Files: p.stageFiles(req), Extensions: p.extensionsFor(req, 0), HasResultPipe: true}, nil, judge.ProcessCallbacks{})
	}
	if err == nil && last.leftProcesses.HasEnded() {
		end.EarlierProcessKilled, err = waitForEarlierStages(ctx, last)
	}
	end.BesideEarlier, end.EarlierProcessKilled = beside, end.EarlierProcessKilled || killed
	return end, err
}

// waitForEarlierStages waits until nothing is left of earlier stages, and reports whether a process had to be killed.
func waitForEarlierStages(ctx context.Context, sets ...*runnerSet) (killed bool, err error) {
	for _, set := range sets {
		switch err := set.leftProcesses.Wait(ctx); {
		case errors.Is(err, judge.ErrKilledLate):
			killed = true
		case err != nil:
			return killed, err
		}
		set.leftProcesses = nil
	}
	return killed, nil
}

// runWithJudge runs a stage with a judge and runners. The judge has the task's files and the cases. A runner has the
// submission and the task's files, which are public, and no cases. Successive runners are forks of one warm process,
// which cleans up between them.
func (p *pythonProgram) runWithJudge(ctx context.Context, req StageRequest, wrapped ProcessWrapper) (judge.StageEnding,
	error) {
	sources := p.artifact.sources
	cases := StageRequest{Cases: req.Cases, Timeout: req.Timeout, OnResultPipe: req.OnResultPipe}
	own := sources.TaskFiles()
	own[casesFileName] = harness.CasesFile(req.Cases)
	maps.Copy(own, req.Files)
	at := p.judgeEnvironment()
	judging := func(ctx context.Context, files []*os.File, on judge.ProcessCallbacks) (sandbox.Outcome, error) {
		if len(req.Processes) > 0 {
			earlier, err := p.lastAlternate().leftProcesses.LifeLine()
			if err != nil {
				return sandbox.Outcome{}, fmt.Errorf("pass on the life line of an earlier stage: %w", err)
			}
			defer earlier.Close()
			files = append(files, earlier)
		}
		spec := p.builder.pythonSpec(at, cases, p.scriptCommand(req), own)
		return p.runProcess(ctx, &p.judgePython, at, cases, spec, warm.Stage{
			Argv: p.scriptCommand(req), Files: own, HasResultPipe: true, KeepsProcess: req.KeepsJudge}, files, on)
	}
	places, warms := p.stageProcesses(req)
	runners := req.runners(p.environment.GPUCount, func(number int) judge.ProcessFunc {
		return func(ctx context.Context, files []*os.File, on judge.ProcessCallbacks) (sandbox.Outcome, error) {
			asked, script, theirs, at := req.forRunner(number), p.runnerCommand(req, number), p.runnerFiles(req, number), 0
			var process StageProcess
			if len(req.Processes) > 0 {
				at, process = number, req.Processes[number]
			}
			cold := mountExtensions(p.builder.pythonSpec(places[at], asked, script, theirs),
				p.extensionsFor(req, number))
			if wrapped != nil && number == 0 {
				cold.ExtraFiles = files
				return wrapped(ctx, cold)
			}
			return p.runProcess(ctx, warms[at], places[at], asked, cold, warm.Stage{
				Argv: script, Files: theirs, Extensions: p.extensionsFor(req, number),
				NeedsNewProcess: process.NeedsNewProcess, UsesOneStream: process.UsesOneStream}, files, on)
		}
	})
	// The stage returns early only if the next program can have other Pythons, because the last processes keep these
	// busy.
	p.lastProcesses, runners.ReturnEarly = req.Processes, req.KeepsJudge && len(p.environment.AlternateSandboxSlots) > 0
	if len(req.Processes) > 0 {
		runners.MemoryShare = p.environment.RunLimits.Memory
	}
	end, err := judge.Run(ctx, judging, runners)
	p.leftProcesses = end.LeftProcesses
	return end, err
}

// stageProcesses returns the sandbox environments of the processes besides the judge, and the warm Pythons there: one
// for successive processes, or one each for concurrent ones.
func (p *pythonProgram) stageProcesses(req StageRequest) (places []Environment, pythons []**warm.Python) {
	for len(p.runners) < len(req.Processes) {
		p.runners = append(p.runners, nil)
	}
	places, pythons = []Environment{p.environment}, []**warm.Python{&p.runners[0]}
	for number := 1; number < len(req.Processes); number++ {
		places, pythons = append(places, p.environment.ExtraEnvironment(number)), append(pythons, &p.runners[number])
	}
	return places, pythons
}

// runProcess runs one process of a stage in the warm Python at r, which it starts if needed. If that fails, it uses a
// new interpreter.
func (p *pythonProgram) runProcess(ctx context.Context, r **warm.Python, place Environment, req StageRequest, cold sandbox.Spec,
	asked warm.Stage, wires []*os.File, on judge.ProcessCallbacks) (sandbox.Outcome, error) {
	if *r != nil && !(*r).IsAlive() {
		if err := (*r).Stop(); err != nil {
			return sandbox.Outcome{}, err
		}
		*r = nil
	}
	if *r == nil {
		// Starting a warm Python is worthwhile: its imports serve all remaining stages.
		fresh, err := p.builder.warmPythons.ReadyOrNew(ctx, p.builder.warmPythonSpec(place, p.artifact.importsTorch))
		switch {
		case errors.Is(err, sandbox.ErrProcessStuck):
			return sandbox.Outcome{}, err
		case ctx.Err() != nil && err != nil:
			return sandbox.Outcome{ExitCode: -1, Cancelled: true}, nil
		case err != nil:
			p.builder.cfg.Log.Warn("running a stage without a warm Python", "slot", place.SandboxSlot, "err", err)
			cold.ExtraFiles, cold.OnStarted = wires, on.OnStarted
			return runWithResultPipe(ctx, p.builder.cfg.Runner, cold, req.OnResultPipe)
		}
		*r = fresh
	}
	asked.Env = place.environmentVariables(req)
	maps.Copy(asked.Env, p.builder.pythonEnv(place))
	asked.ExtraFiles, asked.OnStarted, asked.OnOutputClosed = wires, on.OnStarted, on.OnOutputClosed
	asked.Timeout, asked.MaxOutputBytes, asked.Log = req.Timeout, place.RunLimits.OutputBytes, p.builder.cfg.Log
	asked.OnResultPipe, asked.OnStdout, asked.OnStderr = req.OnResultPipe, req.OnStdout, req.OnStderr
	return (*r).Run(ctx, asked)
}
