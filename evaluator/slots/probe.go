package slots

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"warpboard/evaluator/device"
	"warpboard/evaluator/sandbox"
	"warpboard/evaluator/toolchain"
)

//go:embed probe.cu
var probeSource []byte

// expectedProbeOutput is the output of probe.cu on a working GPU if it is the only visible one.
const expectedProbeOutput = "549756338176 on 1: no error"

// CUDAProbe checks GPUs with a small program in the sandbox.
type CUDAProbe struct {
	Runner toolchain.ProcessRunner
	NVCC   *toolchain.Tool

	mu            sync.Mutex
	programByArch map[string][]byte // by architecture; compiled on first use
}

// Check runs the program on a slot's GPU, and returns an error if the output is wrong. On the CPU it does nothing.
func (p *CUDAProbe) Check(ctx context.Context, s device.Slot) error {
	if !s.IsGPU() {
		return nil
	}
	at := runEnvironment([]*Slot{newSlot(s, s.Index)}, 0)
	program, err := p.compiledProgram(ctx, at)
	if err != nil {
		return err
	}
	limits := at.RunLimits
	limits.WallTime = 10 * time.Second
	out, err := p.Runner.Run(ctx, sandbox.Spec{
		SandboxSlot: at.SandboxSlot, Argv: []string{"/in/probe"}, Files: map[string][]byte{"probe": program},
		Env: at.Env, Mounts: at.Mounts, DeviceNodes: at.DeviceNodes, MountProc: true, Limits: limits,
	})
	if err != nil {
		return fmt.Errorf("start the GPU check: %w", err)
	}
	if got := strings.TrimSpace(out.Stdout); got != expectedProbeOutput {
		return fmt.Errorf("the GPU check answered %q (exit code %d, limit %q), not %q", got, out.ExitCode, out.ExceededLimit, expectedProbeOutput)
	}
	return nil
}

func (p *CUDAProbe) compiledProgram(ctx context.Context, at toolchain.Environment) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if program, ok := p.programByArch[at.Arch]; ok {
		return program, nil
	}
	out, err := p.Runner.Run(ctx, sandbox.Spec{
		SandboxSlot: at.SandboxSlot, Limits: sandbox.DefaultBuildLimits(), Files: map[string][]byte{"probe.cu": probeSource},
		Argv: []string{p.NVCC.Path, "-arch=sm_" + at.Arch, "-o", "/out/probe", "/in/probe.cu"}, Mounts: p.NVCC.Mounts(),
		CollectFiles: map[string]int64{"probe": 64 << 20},
	})
	if err != nil {
		return nil, fmt.Errorf("compile the GPU check: %w", err)
	}
	program, ok := out.Files["probe"]
	if !ok {
		return nil, errors.New("compile the GPU check: " + out.Stderr)
	}
	if p.programByArch == nil {
		p.programByArch = map[string][]byte{}
	}
	p.programByArch[at.Arch] = program
	return program, nil
}
