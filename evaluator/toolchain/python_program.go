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
	builder    *Builder
	place      Environment
	artifact   *Artifact
	runners    []*warm.Python // of the processes with submitted files, each under its own user ID; nil where none was needed
	judge      *warm.Python   // warm Python under the judge's user ID, if the task has a judge
	alternates []*warm.Python // runners of the alternate place
	// left is the processes that stages have left in the runners, and alternateLeft those in the alternates.
	left, alternateLeft *judge.Left
	last                []Process // processes of the last stage
	warm                bool      // the first runner was ready when the program was opened
}

func (b *Builder) openPython(ctx context.Context, a *Artifact, place Environment) *pythonProgram {
	first := b.pool.Take(ctx, b.warmSpec(place, a.importsTorch))
	p := &pythonProgram{builder: b, place: place, artifact: a, runners: []*warm.Python{first}, warm: first != nil}
	if p.judged() {
		p.judge = b.pool.Take(ctx, b.warmSpec(p.judges(), a.importsTorch))
	}
	return p
}

// KeepWarm keeps n warm Pythons ready in a sandbox environment until ctx ends. Open uses them.
func (b *Builder) KeepWarm(ctx context.Context, place Environment, n int) error {
	if b.cfg.Tools.Python == nil || n < 1 {
		<-ctx.Done()
		return ctx.Err()
	}
	return b.pool.Keep(ctx, b.warmSpec(place, false), n, place.Arch == "")
}

// OpenReady opens a Python artifact in a warm Python that is ready, or returns nil if there is none.
func (b *Builder) OpenReady(a *Artifact, place Environment) Program {
	r := b.pool.TakeReady(place.Slot)
	if r == nil {
		return nil
	}
	return &pythonProgram{builder: b, place: place, artifact: a, runners: []*warm.Python{r}, warm: true}
}

// warmSpec returns the sandbox spec of a warm Python. torch makes it import torch. There is no time limit, because the
// process waits for work.
func (b *Builder) warmSpec(place Environment, torch bool) sandbox.Spec {
	python := b.cfg.Tools.Python
	env := b.pythonEnv(place)
	if off, ok := b.cfg.Runner.(interface{ Off() bool }); !ok || !off.Off() {
		env["WARPBOARD_ALONE"] = "1"
	}
	spec := place.spec(StageRequest{})
	spec.Argv = append([]string{python.Path, "/in/warm.py"}, preloadedModules(place, torch)...)
	spec.Env, spec.Files = env, harness.RunnerSources()
	spec.Mounts = append(spec.Mounts[:len(spec.Mounts):len(spec.Mounts)], python.Mounts...)
	return spec
}

// preloadedModules returns the modules to import before a stage. As long as the job is not known, torch is included
// only on a GPU, because it takes 200 MB and a second, and many tasks for CPUs do not need it. A job that imports torch
// thus imports it once instead of in each stage.
func preloadedModules(place Environment, torch bool) []string {
	switch {
	case place.Arch != "":
		// torch imports _inductor.config, which takes seconds, when a task requests deterministic algorithms.
		// load_inline is in cpp_extension.
		return []string{"numpy", "torch", "triton", "triton.language", "torch._inductor.config", "torch.utils.cpp_extension"}
	case torch:
		return []string{"numpy", "torch"}
	}
	return []string{"numpy"}
}

// judged reports whether a separate judge runs beside the submission.
func (p *pythonProgram) judged() bool { return p.artifact.sources.Runner != "" }

// judges returns the judge's sandbox environment. Its CPU limit is doubled, because a resident judge exits after half
// of it, so that the next stage has as much as any other process.
func (p *pythonProgram) judges() Environment {
	at, env := p.place.JudgePlace(), map[string]string{}
	maps.Copy(env, at.Env)
	maps.Copy(env, p.artifact.judgeEnv)
	at.Env = env
	at.RunLimits.CPU *= 2
	return at
}

func (p *pythonProgram) Warm() bool { return p.warm }

// Next passes the warm Pythons to the next program. Every stage is a fork of such a process, and unpacks its extensions
// itself.
func (p *pythonProgram) Next(a *Artifact) Program {
	if first := p.runners[0]; first == nil || !first.IsAlive() {
		return nil
	}
	next := *p
	next.artifact, next.warm = a, true
	p.forget()
	next.alternate()
	return &next
}

// forget gives up the warm Pythons, which then belong to another program.
func (p *pythonProgram) forget() {
	p.runners, p.judge, p.alternates = []*warm.Python{nil}, nil, nil
	p.left, p.alternateLeft = nil, nil
}

// alternate continues in the warm Pythons of the alternate environment if as many are ready there. They prepared their
// next processes while the previous program was running; now the others prepare theirs. None do so after a stage
// without a second kernel, whose judge measures in its own processes.
func (p *pythonProgram) alternate() {
	at, ok := p.place.AlternatePlace()
	if !ok {
		return
	}
	p.alternates = append(p.alternates, make([]*warm.Python, max(0, len(p.runners)-len(p.alternates)))...)
	ready := true
	for number, r := range p.alternates {
		if r != nil && !r.IsAlive() {
			r.Stop()
			r = nil
		}
		if r == nil && number < len(p.runners) && p.runners[number] != nil {
			r = p.builder.pool.TakeReady(p.place.AlternateSlots[number])
			ready = ready && r != nil
		}
		p.alternates[number] = r
	}
	if !ready {
		return
	}
	for number, r := range p.runners {
		if r == nil {
			continue
		}
		argv := []string{p.artifact.sources.Runner}
		if number < len(p.last) {
			argv = append(argv, p.last[number].Prepare...)
		}
		_ = r.Prepare(argv, p.artifact.sources.TaskFiles()) // fails if the Python has ended, which its user notices
	}
	p.place, p.runners, p.alternates = at, p.alternates, p.runners
	p.left, p.alternateLeft = p.alternateLeft, p.left
}

// pythons returns the existing warm Pythons.
func (p *pythonProgram) pythons() (all []*warm.Python) {
	for _, r := range slices.Concat(p.runners, []*warm.Python{p.judge}, p.alternates) {
		if r != nil {
			all = append(all, r)
		}
	}
	return all
}

func (p *pythonProgram) Close() error {
	err := errors.Join(p.left.Wait(context.Background()), p.alternateLeft.Wait(context.Background()))
	var stopping sync.WaitGroup
	for _, r := range p.pythons() {
		stopping.Go(r.Stop) // a context takes its time to end
	}
	stopping.Wait()
	p.forget()
	return err
}

// spec returns the spec that runs the script in a new interpreter.
func (p *pythonProgram) spec(req StageRequest) sandbox.Spec {
	spec := p.builder.pythonSpec(p.place, req, p.script(req), p.files(req))
	return mountExtensions(spec, p.extensions(req, 0))
}

func (b *Builder) pythonSpec(
	place Environment, req StageRequest, script []string, files map[string][]byte,
) sandbox.Spec {
	python := b.cfg.Tools.Python
	spec := place.spec(req)
	maps.Copy(spec.Env, b.pythonEnv(place))
	spec.Mounts = append(spec.Mounts[:len(spec.Mounts):len(spec.Mounts)], python.Mounts...)
	spec.Dir, spec.WritableFiles = "/out", files
	spec.Argv = append([]string{python.Path}, script...)
	return spec
}

func (p *pythonProgram) script(req StageRequest) []string {
	if req.WithoutJudge {
		return p.runnerScript(req, 0)
	}
	return []string{p.artifact.sources.Main, req.Mode, casesFileName}
}

// runnerScript returns the command line of the submission's process with the given number.
func (p *pythonProgram) runnerScript(req StageRequest, number int) []string {
	script := []string{p.artifact.sources.Runner}
	if len(req.Processes) > 0 {
		script = append(script, req.Processes[number].Arguments...)
	}
	return script
}

// extensions returns the compiled extensions for the submission's process with the given number.
func (p *pythonProgram) extensions(req StageRequest, number int) []byte {
	file := ""
	if len(req.Processes) > 0 {
		file = req.Processes[number].File
	}
	return p.artifact.extensionArchiveOf(file)
}

// files returns the files for a stage that has one process.
func (p *pythonProgram) files(req StageRequest) map[string][]byte {
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

func (p *pythonProgram) RunStage(ctx context.Context, req StageRequest) (judge.Ending, error) {
	return p.run(ctx, req, nil, &p.left)
}

// RunWrapped runs the submission's process in a new interpreter.
func (p *pythonProgram) RunWrapped(ctx context.Context, req StageRequest, wrapped Wrapper) (judge.Ending, error) {
	return p.run(ctx, req, wrapped, &p.left, &p.alternateLeft)
}

// run runs a stage after these processes have ended. A judge waits for the others before it measures anything.
func (p *pythonProgram) run(
	ctx context.Context, req StageRequest, wrapped Wrapper, before ...**judge.Left,
) (end judge.Ending, err error) {
	killed, err := waitForEarlierStages(ctx, before...)
	if err != nil {
		return end, err
	}
	switch {
	case p.judged() && !req.WithoutJudge:
		end, err = p.runJudged(ctx, req, wrapped)
	case wrapped != nil:
		end.Outcome, err = wrapped(ctx, p.spec(req))
	default:
		end.Outcome, err = p.process(ctx, &p.runners[0], p.place, req, p.spec(req), warm.Stage{
			Argv: p.script(req), Files: p.files(req), Extensions: p.extensions(req, 0), HasReport: true}, nil, judge.Observer{})
	}
	if err == nil && p.alternateLeft.HasEnded() {
		end.EarlierKilled, err = waitForEarlierStages(ctx, &p.alternateLeft)
	}
	end.EarlierKilled = end.EarlierKilled || killed
	return end, err
}

// waitForEarlierStages waits until nothing is left of earlier stages, and reports whether a process had to be killed.
func waitForEarlierStages(ctx context.Context, lefts ...**judge.Left) (killed bool, err error) {
	for _, left := range lefts {
		switch err := (*left).Wait(ctx); {
		case errors.Is(err, judge.ErrKilledLate):
			killed = true
		case err != nil:
			return killed, err
		}
		*left = nil
	}
	return killed, nil
}

// runJudged runs a stage with a judge and runners. The judge has the task's files and the cases. A runner has the
// submission and the task's files, which are public, and no cases. Successive runners are forks of one warm process,
// which cleans up between them.
func (p *pythonProgram) runJudged(ctx context.Context, req StageRequest, wrapped Wrapper) (judge.Ending, error) {
	sources := p.artifact.sources
	cases := StageRequest{Cases: req.Cases, Timeout: req.Timeout, OnPipe: req.OnPipe}
	own := sources.TaskFiles()
	own[casesFileName] = harness.CasesFile(req.Cases)
	maps.Copy(own, req.Files)
	at := p.judges()
	judging := func(ctx context.Context, files []*os.File, on judge.Observer) (sandbox.Outcome, error) {
		if len(req.Processes) > 0 {
			earlier, err := p.alternateLeft.LifeLine()
			if err != nil {
				return sandbox.Outcome{}, fmt.Errorf("pass on the life line of an earlier stage: %w", err)
			}
			defer earlier.Close()
			files = append(files, earlier)
		}
		spec := p.builder.pythonSpec(at, cases, p.script(req), own)
		return p.process(ctx, &p.judge, at, cases, spec, warm.Stage{
			Argv: p.script(req), Files: own, HasReport: true, Resident: req.KeepJudge}, files, on)
	}
	places, warms := p.processes(req)
	runners := req.runners(p.place.GPUs, func(number int) judge.Side {
		return func(ctx context.Context, files []*os.File, on judge.Observer) (sandbox.Outcome, error) {
			asked, script, theirs, at := req.ofRunner(number), p.runnerScript(req, number), p.runnerFiles(req, number), 0
			unprepared := false
			if len(req.Processes) > 0 {
				at, unprepared = number, req.Processes[number].Unprepared
			}
			cold := mountExtensions(p.builder.pythonSpec(places[at], asked, script, theirs), p.extensions(req, number))
			if wrapped != nil && number == 0 {
				cold.ExtraFiles = files
				return wrapped(ctx, cold)
			}
			return p.process(ctx, warms[at], places[at], asked, cold, warm.Stage{
				Argv: script, Files: theirs, Extensions: p.extensions(req, number), Unprepared: unprepared}, files, on)
		}
	})
	// The next program has other Pythons, if these are still busy with the last processes.
	p.last, runners.LetGo = req.Processes, req.KeepJudge && len(p.place.AlternateSlots) > 0
	end, err := judge.Run(ctx, judging, runners)
	p.left = end.Left
	return end, err
}

// processes returns the sandbox environments of the processes besides the judge, and the warm Pythons there: one for
// successive processes, or one each for concurrent ones.
func (p *pythonProgram) processes(req StageRequest) (places []Environment, pythons []**warm.Python) {
	for len(p.runners) < len(req.Processes) {
		p.runners = append(p.runners, nil)
	}
	places, pythons = []Environment{p.place}, []**warm.Python{&p.runners[0]}
	for number := 1; number < len(req.Processes); number++ {
		places, pythons = append(places, p.place.ExtraPlace(number)), append(pythons, &p.runners[number])
	}
	return places, pythons
}

// process runs one process of a stage in the warm Python at r, which it starts if needed. If that fails, it uses a new
// interpreter.
func (p *pythonProgram) process(ctx context.Context, r **warm.Python, place Environment, req StageRequest, cold sandbox.Spec,
	asked warm.Stage, wires []*os.File, on judge.Observer) (sandbox.Outcome, error) {
	if *r != nil && !(*r).IsAlive() {
		(*r).Stop()
		*r = nil
	}
	if *r == nil {
		// One import for all remaining stages is cheaper than one for each.
		fresh, err := p.builder.pool.Ready(ctx, p.builder.warmSpec(place, p.artifact.importsTorch))
		switch {
		case ctx.Err() != nil && err != nil:
			return sandbox.Outcome{ExitCode: -1, Cancelled: true}, nil
		case err != nil:
			p.builder.cfg.Log.Warn("running a stage without a warm Python", "slot", place.Slot, "err", err)
			cold.ExtraFiles, cold.OnStarted = wires, on.Started
			return runWithPipe(ctx, p.builder.cfg.Runner, cold, req.OnPipe)
		}
		*r = fresh
	}
	asked.Env = place.environment(req)
	maps.Copy(asked.Env, p.builder.pythonEnv(place))
	asked.ExtraFiles, asked.Started, asked.Silent = wires, on.Started, on.Silent
	asked.Timeout, asked.Output, asked.Log = req.Timeout, place.RunLimits.Output, p.builder.cfg.Log
	asked.OnPipe, asked.OnStdout, asked.OnStderr = req.OnPipe, req.OnStdout, req.OnStderr
	return (*r).Run(ctx, asked)
}
