package toolchain

import (
	"context"
	"encoding/json"
	"maps"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"warpboard/evaluator/harness"
	"warpboard/evaluator/sandbox"
)

// pythonProgram runs a script's stages in a warm runner, or where that cannot be had each in an
// interpreter of its own.
type pythonProgram struct {
	builder  *Builder
	place    Place
	artifact *Artifact
	runner   *runner
	warm     bool // the first runner was ready before it was asked for
}

func (b *Builder) openPython(ctx context.Context, a *Artifact, place Place) *pythonProgram {
	p := &pythonProgram{builder: b, place: place, artifact: a, runner: b.take(ctx, place)}
	p.warm = p.runner != nil
	return p
}

func (p *pythonProgram) Warm() bool { return p.warm }

// Next hands the runner over. Every stage is a fork of its pristine process, and finds what the stages
// before it compiled; compiled extensions are unpacked only once, and so need a runner of their own.
func (p *pythonProgram) Next(a *Artifact) Program {
	if p.runner == nil || !p.runner.alive() || len(a.extensions) > 0 || len(p.artifact.extensions) > 0 {
		return nil
	}
	next := &pythonProgram{builder: p.builder, place: p.place, artifact: a, runner: p.runner, warm: true}
	p.runner = nil
	return next
}

func (p *pythonProgram) Close() error {
	if p.runner != nil {
		p.runner.stop()
		p.runner = nil
	}
	return nil
}

// Spec runs the script in an interpreter of its own.
func (p *pythonProgram) Spec(req StageRequest) sandbox.Spec {
	python := p.builder.cfg.Tools.Python
	spec := p.place.spec(req)
	maps.Copy(spec.Env, p.builder.pythonEnv(p.place))
	spec.Mounts = append(spec.Mounts[:len(spec.Mounts):len(spec.Mounts)], python.Mounts...)
	spec.Dir, spec.Work = "/out", p.files(req)
	script := p.script(req)
	if len(p.artifact.extensions) == 0 {
		spec.Argv = append([]string{python.Path}, script...)
		return spec
	}
	spec.Env["TORCH_EXTENSIONS_DIR"] = extensionsDir
	spec.Files = harness.RunnerSources()
	spec.Files[extensionsArchive] = p.artifact.extensions
	spec.Argv = append([]string{python.Path, "/in/" + extensionsScript, "run", "/in/" + extensionsArchive}, script...)
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

func (p *pythonProgram) RunStage(ctx context.Context, req StageRequest) (sandbox.Outcome, error) {
	if p.runner != nil && !p.runner.alive() {
		p.runner.stop()
		p.runner = nil
	}
	if p.runner == nil {
		// One import for the stages to come beats one for each.
		r, err := p.builder.warmRunner(ctx, p.place)
		switch {
		case ctx.Err() != nil && err != nil:
			return sandbox.Outcome{ExitCode: -1, Cancelled: true}, nil
		case err != nil:
			p.builder.cfg.Log.Warn("running a stage without a warm Python", "slot", p.place.Slot, "err", err)
			return runWithPipe(ctx, p.builder.cfg.Runner, p.Spec(req), req.OnPipe)
		}
		p.runner = r
	}
	env := p.place.environment(req)
	maps.Copy(env, p.builder.pythonEnv(p.place))
	s := &stage{runner: p.runner, req: req, limits: p.place.Run}
	return s.run(ctx, request{Argv: p.script(req), Env: env, Files: p.files(req), Extensions: p.artifact.extensions})
}

// stage is one stage in a warm runner.
type stage struct {
	runner         *runner
	req            StageRequest
	limits         sandbox.Limits
	stdout, stderr kept
	output         int64
}

// run sends the request and follows the stage to its end, which may be the runner's too.
func (s *stage) run(ctx context.Context, req request) (sandbox.Outcome, error) {
	begun := time.Now()
	frames := make(chan frame)
	go s.receive(req, frames)
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
	return s.conclude(ended, cut, time.Since(begun))
}

// receive asks for the stage and hands on its frames, to the last one of the stage or the runner.
func (s *stage) receive(req request, frames chan<- frame) {
	defer close(frames)
	if err := s.runner.send(req); err != nil {
		return // the runner is gone; its outcome says why
	}
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
