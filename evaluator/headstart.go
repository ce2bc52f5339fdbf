package evaluator

import (
	"context"
	"time"

	"warpboard/evaluator/kernel"
	"warpboard/evaluator/toolchain"
)

// benchPlace is where kernels of evaluations are compiled for slot s while something else runs there: without
// the device, and under a uid of its own.
func (w *Worker) benchPlace(s *slot) toolchain.Place {
	p := place([]*slot{s}, 0)                           // with the driver's libraries, which Triton links with
	p.Slot = len(w.slots) + w.cfg.Builds + 1 + s.number // after the builds and what is prepared
	p.Device = nil
	return p
}

// headStart is what the kernels of an evaluation were compiled to: by an earlier run, or here and now while the slot
// is somebody else's. It is nil when the run on the slot has to compile: because the slot is free, no Python waits, or
// the kernels do not compile, of which that run says more. took is what the caller is charged for it.
func (p *pipeline) headStart(ctx context.Context, request kernel.Request, artifact *toolchain.Artifact) (compiled []byte, took time.Duration) {
	if !p.slot.IsGPU() {
		return nil, 0
	}
	text := request.Kernels()
	if compiled = p.w.cfg.Builder.Recall(text, p.slot.Arch); compiled != nil || !request.CompilesAlone() || !p.w.allBusy(p.slot.Device) {
		return compiled, 0
	}
	program := p.bench(artifact)
	if program == nil {
		return nil, 0
	}
	p.stageBegins(kernel.StageCompiling)
	began := time.Now()
	compiled = p.compileAlone(ctx, program, time.Duration(request.Timeout)*time.Second/2)
	if compiled != nil {
		p.w.cfg.Builder.Remember(text, p.slot.Arch, compiled)
	}
	return compiled, time.Since(began)
}

// bench is a Python that can compile now, nil when there is none.
func (p *pipeline) bench(artifact *toolchain.Artifact) toolchain.Program {
	if left := p.slot.bench.take(p.job.Caller); left != nil {
		if next := left.Next(artifact); next != nil {
			return next
		}
		left.Close()
	}
	return p.w.cfg.Builder.OpenReady(artifact, p.w.benchPlace(p.slot))
}

func (p *pipeline) compileAlone(ctx context.Context, program toolchain.Program, limit time.Duration) []byte {
	reader := kernel.NewReader(func(string) {})
	out, err := program.RunStage(ctx, toolchain.StageRequest{
		Mode: kernel.ModeCompile, Timeout: limit, OnPipe: func(b []byte) { reader.Write(b) },
	})
	p.result.ProgramNS += out.Wall.Nanoseconds()
	if err != nil {
		p.w.log.Warn("kernels not compiled ahead of their slot", "evaluation", p.job.EvaluationID, "err", err)
	}
	clean := err == nil && out.ExitCode == 0 && out.Limit == "" && !out.Cancelled
	p.slot.bench.keep(p.job.Caller, program, clean)
	if !clean {
		return nil
	}
	return reader.Compiled()
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
