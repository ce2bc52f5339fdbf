package verify

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"

	"warpboard/evaluator"
	"warpboard/evaluator/device"
	"warpboard/evaluator/sandbox"
	"warpboard/evaluator/toolchain"
)

// MinSandboxUID is the lowest user ID for sandboxes: the operating system uses lower ones.
const MinSandboxUID = 1000

// MachineSettings has the settings of a machine that runs programs.
type MachineSettings struct {
	Name, Version     string
	DataDir           string // directory with the sandbox's root
	ObjectDir         string // directory of compiled objects
	CPUSlots          int    // number of CPU slots; -1 for as many as fit
	IsSandboxDisabled bool   // if true, programs have the rights of this user
	FirstUID          int    // first user ID of the sandboxes
	BuildNice         int    // nice value of compilers
	Libraries         map[string]string
	Log               *slog.Logger
}

// DetectMachine returns the configuration of a worker with the devices, compilers, and sandbox of this machine. The
// caller sets the other fields.
func DetectMachine(ctx context.Context, s MachineSettings) (evaluator.Config, *sandbox.Sandbox, error) {
	detected, err := device.Detect(ctx, device.Options{CPUSlots: s.CPUSlots, Log: s.Log})
	if err != nil {
		return evaluator.Config{}, nil, fmt.Errorf("find devices: %w", err)
	}
	box := sandbox.New(sandbox.Config{
		Disabled: s.IsSandboxDisabled, RunDir: filepath.Join(s.DataDir, "sandbox"), FirstUID: s.FirstUID, BuildNice: s.BuildNice, Log: s.Log,
	})
	tools := toolchain.FindToolchain(ctx)
	builder := toolchain.NewBuilder(toolchain.Config{
		Toolchain: tools,
		Runner:    box,
		ObjectDir: s.ObjectDir,
		Libraries: s.Libraries,
		Log:       s.Log,
	})
	return evaluator.Config{
		Name: s.Name, Version: s.Version, Sandbox: box, Builder: builder, Toolchain: tools, Slots: detected, Log: s.Log,
	}, box, nil
}
