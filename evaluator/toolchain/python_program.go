package toolchain

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"warpboard/evaluator/harness"
	"warpboard/evaluator/judge"
	"warpboard/evaluator/sandbox"
)

// pythonProgram runs a script's stages in a warm runner, or where that cannot be had each in an
// interpreter of its own.
type pythonProgram struct {
	builder  *Builder
	place    Place
	artifact *Artifact
	runner   *runner
	judge    *runner // of a task that has one; a warm Python under the judge's uid
	warm     bool    // the first runner was ready before it was asked for
}

func (b *Builder) openPython(ctx context.Context, a *Artifact, place Place) *pythonProgram {
	p := &pythonProgram{builder: b, place: place, artifact: a, runner: b.take(ctx, place)}
	if p.judged() {
		p.judge = b.take(ctx, place.Judges())
	}
	p.warm = p.runner != nil
	return p
}

// judged reports whether a judge of its own runs beside the submission.
func (p *pythonProgram) judged() bool { return p.artifact.layout.Runner != "" }

func (p *pythonProgram) Warm() bool { return p.warm }

// Next hands the runner over. Every stage is a fork of its pristine process, and finds what the first stages of the
// programs before it compiled; compiled extensions stay their own program's.
func (p *pythonProgram) Next(a *Artifact) Program {
	if p.runner == nil || !p.runner.alive() || len(a.extensions) > 0 || len(p.artifact.extensions) > 0 {
		return nil
	}
	next := &pythonProgram{builder: p.builder, place: p.place, artifact: a, runner: p.runner, judge: p.judge, warm: true}
	p.runner, p.judge = nil, nil
	for _, r := range []*runner{next.runner, next.judge} {
		if r != nil {
			r.served = false
		}
	}
	return next
}

func (p *pythonProgram) Close() error {
	for _, r := range []*runner{p.runner, p.judge} {
		if r != nil {
			r.stop()
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
	layout := p.artifact.layout
	return p.withExtensions(p.builder.pythonSpec(p.place, req, []string{layout.Runner}, layout.Files))
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
	return []string{p.artifact.layout.Main, req.Mode, casesName}
}

func (p *pythonProgram) files(req StageRequest) map[string][]byte {
	files := maps.Clone(p.artifact.layout.Files)
	files[casesName] = harness.CasesFile(req.Cases)
	maps.Copy(files, req.Files)
	return files
}

func (p *pythonProgram) RunStage(ctx context.Context, req StageRequest) (judge.Ending, error) {
	if p.judged() {
		return p.runJudged(ctx, req, nil)
	}
	outcome, err := p.process(ctx, &p.runner, p.place, req, p.spec(req), request{
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

// runJudged runs a stage as two processes. The judge has the task's files and the cases; the runner has the
// submission beside the task's files, which everybody may read, and no cases.
func (p *pythonProgram) runJudged(ctx context.Context, req StageRequest, wrapped Wrapped) (judge.Ending, error) {
	wires, err := judge.NewWires()
	if err != nil {
		return judge.Ending{}, err
	}
	layout := p.artifact.layout
	cases := StageRequest{Cases: req.Cases, Timeout: req.Timeout, OnPipe: req.OnPipe}
	own := layout.TaskFiles()
	own[casesName] = harness.CasesFile(req.Cases)
	maps.Copy(own, req.Files)
	at := p.place.Judges()
	judging := func(ctx context.Context, started func()) (sandbox.Outcome, error) {
		spec := p.builder.pythonSpec(at, cases, p.script(req), own)
		return p.process(ctx, &p.judge, at, cases, spec, request{Argv: p.script(req), Files: own, Report: true}, wires.Judge(), started)
	}
	running := func(ctx context.Context, started func()) (sandbox.Outcome, error) {
		theirs := StageRequest{Timeout: req.Timeout, OnStdout: req.OnStdout, OnStderr: req.OnStderr}
		cold := p.runnerSpec(theirs)
		if wrapped != nil {
			cold.ExtraFiles = wires.Runner()
			return wrapped(ctx, cold)
		}
		return p.process(ctx, &p.runner, p.place, theirs, cold, request{
			Argv: []string{layout.Runner}, Files: layout.Files, Extensions: p.artifact.extensions}, wires.Runner(), started)
	}
	return judge.Run(ctx, wires, judging, running)
}

// process runs one process of a stage to its end: in the warm runner at r, which is started where there is none, or
// where that fails in an interpreter of its own.
func (p *pythonProgram) process(ctx context.Context, r **runner, place Place, req StageRequest, cold sandbox.Spec,
	asked request, wires []*os.File, started func()) (sandbox.Outcome, error) {
	if *r != nil && !(*r).alive() {
		(*r).stop()
		*r = nil
	}
	if *r == nil {
		// One import for the stages to come beats one for each.
		fresh, err := p.builder.warmRunner(ctx, place)
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
	asked.Keep, (*r).served = !(*r).served, true
	s := &stage{runner: *r, req: req, limits: place.Run, log: p.builder.cfg.Log}
	return s.run(ctx, asked, wires, started)
}

// stage is one stage in a warm runner.
type stage struct {
	runner         *runner
	req            StageRequest
	limits         sandbox.Limits
	log            *slog.Logger
	stdout, stderr kept
	output         int64
}

// run sends the request and follows the stage to its end, which may be the runner's too.
func (s *stage) run(ctx context.Context, req request, wires []*os.File, started func()) (sandbox.Outcome, error) {
	begun := time.Now()
	frames := make(chan frame)
	go s.receive(req, wires, started, frames)
	cut := ""
	timeout := ctx.Done()
	var wall <-chan time.Time
	if s.req.Timeout > 0 {
		timer := time.NewTimer(s.req.Timeout)
		defer timer.Stop()
		wall = timer.C
	}
	stop := func(why string) {
		cut, timeout, wall = why, nil, nil
		s.runner.kill()
	}
	var ended *ending
	for open := true; open; {
		select {
		case f, ok := <-frames:
			if open = ok; ok && cut == "" {
				ended = s.see(f)
				if s.limits.Output > 0 && s.output > s.limits.Output {
					stop("output")
				}
			}
		case <-timeout:
			stop("cancelled")
		case <-wall:
			stop("wall")
		}
	}
	took := time.Since(begun)
	if ended != nil && ended.Kept != nil && ended.Kept.Files > 0 {
		s.log.Debug("later stages find what this one compiled", "files", ended.Kept.Files, "bytes", ended.Kept.Bytes, "sha256", ended.Kept.SHA256)
	}
	if ended != nil && ended.Spent {
		s.log.Info("a stage left what cannot be removed; the next one gets another Python")
		s.runner.stop()
	}
	return s.conclude(ended, cut, took)
}

// receive asks for the stage and hands on its frames, to the last one of the stage or the runner.
func (s *stage) receive(req request, wires []*os.File, started func(), frames chan<- frame) {
	defer close(frames)
	if err := s.runner.send(req, wires); err != nil {
		return // the runner is gone; its outcome says why
	}
	started()
	for {
		f, err := readFrame(s.runner.control)
		if err != nil {
			return
		}
		frames <- f
		if f.kind == frameEnded {
			return
		}
	}
}

// see takes one frame; the stage has ended when it returns something.
func (s *stage) see(f frame) *ending {
	switch f.kind {
	case frameStdout:
		s.output += int64(len(f.data))
		s.stdout.write(f.data)
		call(s.req.OnStdout, f.data)
	case frameStderr:
		s.output += int64(len(f.data))
		s.stderr.write(f.data)
		call(s.req.OnStderr, f.data)
	case frameResult:
		call(s.req.OnPipe, f.data)
	case frameEnded:
		var e ending
		if json.Unmarshal(f.data, &e) == nil {
			return &e
		}
	}
	return nil
}

func call(see func([]byte), data []byte) {
	if see != nil {
		see(data)
	}
}

// conclude says how the stage ended. A stage that failed takes its runner with it: what the
// sandbox counted meanwhile (memory, processes) tells why.
func (s *stage) conclude(ended *ending, cut string, wall time.Duration) (sandbox.Outcome, error) {
	var o sandbox.Outcome
	if ended == nil || ended.Signal != 0 || (ended.ExitCode != 0 && ended.ExitCode != exitValidateFail) {
		s.runner.stop()
		if s.runner.err != nil && cut == "" {
			return o, s.runner.err
		}
		o = s.runner.outcome
		s.stderr.write([]byte(o.Stderr)) // the runner's own last words, if it had any
	}
	if ended != nil {
		o.ExitCode, o.CPU, o.MemoryMax = ended.ExitCode, time.Duration(ended.CPU), max(o.MemoryMax, ended.MaxRSS)
		o.Signal = ""
		if ended.Signal != 0 {
			o.ExitCode, o.Signal = 128+ended.Signal, unix.SignalName(syscall.Signal(ended.Signal))
		}
		o.Limit = limitOf(o)
	}
	o.Cancelled = cut == "cancelled"
	if cut != "" && !o.Cancelled {
		o.Limit = cut
	}
	o.Wall, o.Stdout, o.Stderr = wall, s.stdout.String(), s.stderr.String()
	return o, nil
}

// exitValidateFail is the exit code of a program that ran in order and found a wrong answer.
const exitValidateFail = 112

// limitOf keeps the limit that the sandbox saw, and adds those that a signal tells.
func limitOf(o sandbox.Outcome) string {
	switch {
	case o.Limit != "":
		return o.Limit
	case o.Signal == "SIGXCPU":
		return "cpu"
	case o.Signal == "SIGXFSZ":
		return "file size"
	}
	return ""
}
