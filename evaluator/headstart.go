package evaluator

import (
	"context"
	"errors"
	"time"

	"warpboard/evaluator/kernelrun"
	"warpboard/evaluator/sandbox"
	"warpboard/evaluator/toolchain"
)

// asidePlace is where kernels of evaluations are compiled for slot s while something else runs there: without
// the device, under a uid of its own, and with no more memory than a build.
func (w *Worker) asidePlace(s *slot) toolchain.Place {
	p := w.place([]*slot{s}, 0) // with the driver's libraries, which Triton links with
	p.Slot = w.preparing() + 1 + s.number
	p.Device, p.Run.Memory = nil, min(p.Run.Memory, p.Build.Memory)
	return p
}

// compiled is what the kernels of an evaluation were compiled to before.
type compiled struct {
	key     toolchain.RecallKey // by which it is kept; zero where nothing is
	archive []byte
	known   bool          // an earlier evaluation left it
	took    time.Duration // what the caller is charged for it
}

// headStart finds what the caller's same kernels were compiled to earlier, or compiles them here and now while the
// slot is somebody else's. There is no archive when the run on the slot has to compile: because the slot is free, no
// Python waits, or the kernels do not compile, of which that run says more. A slot that falls free meanwhile waits
// for the compiler, as it would if that ran on it.
func (p *pipeline) headStart(ctx context.Context, request kernelrun.Request, artifact *toolchain.Artifact) (compiled, error) {
	if !p.slot.IsGPU() {
		return compiled{}, nil
	}
	// For the caller alone: user code shares the process that hands an archive over.
	found := compiled{key: toolchain.RecallKey{Owner: p.job.Caller, Arch: p.slot.Arch, Text: request.Kernels()}}
	if found.archive = p.w.cfg.Builder.Recall(found.key); found.archive != nil {
		found.known = true
		return found, nil
	}
	if !request.CompilesAlone() || !p.w.allBusy(p.slot.Device) {
		return found, nil
	}
	program := p.aside(artifact)
	if program == nil {
		return found, nil
	}
	p.stageBegins(kernelrun.StageCompiling)
	var err error
	found.archive, found.took, err = p.compileAside(ctx, program, time.Duration(request.Timeout)*time.Second/2)
	if found.archive != nil {
		p.w.cfg.Builder.Remember(found.archive, found.key)
	}
	return found, err
}

// aside is a Python that can compile now, nil when there is none.
func (p *pipeline) aside(artifact *toolchain.Artifact) toolchain.Program {
	if left := p.slot.aside.take(p.job.Caller); left != nil {
		if next := left.Next(artifact); next != nil {
			return next
		}
		left.Close()
	}
	return p.w.cfg.Builder.OpenReady(artifact, p.w.asidePlace(p.slot))
}

// compileAside returns an error only when the place must not be used again. What did not compile is not charged:
// whether there was a head start must not decide whether the time limit is kept.
func (p *pipeline) compileAside(ctx context.Context, program toolchain.Program, limit time.Duration) (archive []byte, took time.Duration, err error) {
	reader := kernelrun.NewReader(func(string) {})
	out, err := program.RunStage(ctx, toolchain.StageRequest{
		Mode: kernelrun.ModeCompile, Timeout: limit, OnPipe: func(b []byte) { reader.Write(b) },
	})
	p.result.ProgramNS += out.Wall.Nanoseconds()
	clean := err == nil && out.ExitCode == 0 && out.Limit == "" && !out.Cancelled
	p.slot.aside.keep(p.job.Caller, program, clean)
	switch {
	case errors.Is(err, sandbox.ErrStuck):
		return nil, 0, err
	case err != nil:
		p.w.log.Warn("kernels not compiled ahead of their slot", "evaluation", p.job.EvaluationID, "err", err)
	case clean && reader.Compiled() != nil:
		return reader.Compiled(), out.Wall, nil
	}
	return nil, 0, nil
}

// allBusy tells whether something runs on each unit of a device.
func (w *Worker) allBusy(device string) bool {
	for _, s := range w.inService(device) {
		if len(s.unit) == 0 {
			return false
		}
	}
	return true
}
