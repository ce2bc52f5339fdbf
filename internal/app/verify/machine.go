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

// LeastUID is the lowest user ID for sandboxes: the operating system uses lower ones.
const LeastUID = 1000

// Machine has the settings of a machine that runs programs.
type Machine struct {
	Name, Version string
	Data          string // directory with the sandbox's root
	Objects       string // directory of compiled objects
	CPUSlots      int    // -1 for as many as fit
	Unsandboxed   bool   // programs have this user's rights
	FirstUID      int    // first user ID of the sandboxes
	BuildNice     int    // nice value of compilers
	Libraries     map[string]string
	Log           *slog.Logger
}

// FindMachine returns the configuration of a worker with the devices, compilers, and sandbox of this machine. The
// caller sets the other fields.
func FindMachine(ctx context.Context, s Machine) (evaluator.Config, *sandbox.Sandbox, error) {
	detected, err := device.Detect(ctx, device.Options{CPUSlots: s.CPUSlots, Log: s.Log})
	if err != nil {
		return evaluator.Config{}, nil, fmt.Errorf("find devices: %w", err)
	}
	box := sandbox.New(sandbox.Config{
		Disabled: s.Unsandboxed, Root: filepath.Join(s.Data, "sandbox"), FirstUID: s.FirstUID, BuildNice: s.BuildNice, Log: s.Log,
	})
	tools := toolchain.FindToolchain(ctx)
	builder := toolchain.NewBuilder(toolchain.Config{
		Tools:     tools,
		Runner:    box,
		Cache:     s.Objects,
		Libraries: s.Libraries,
		Log:       s.Log,
	})
	return evaluator.Config{
		Name: s.Name, Version: s.Version, Sandbox: box, Builder: builder, Tools: tools, Slots: detected, Log: s.Log,
	}, box, nil
}
