package machine

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

// LeastUID keeps sandboxes off the users that an operating system has for itself.
const LeastUID = 1000

// Settings are what someone may say about this machine.
type Settings struct {
	Name, Version string
	Data          string // directory; the sandbox has its root in it
	Objects       string // directory of compiled objects
	CPUSlots      int    // -1: as many as fit
	Unsandboxed   bool   // programs have this user's rights
	FirstUID      int    // of the sandboxes
	BuildNice     int    // nice value of compilers
	Libraries     map[string]string
	Log           *slog.Logger
}

// Find is a worker's configuration as far as this machine decides it: its devices, compilers and sandbox. The rest is left
// to the command.
func Find(ctx context.Context, s Settings) (evaluator.Config, *sandbox.Sandbox, error) {
	units, err := device.Detect(ctx, device.Options{CPUSlots: s.CPUSlots, Log: s.Log})
	if err != nil {
		return evaluator.Config{}, nil, fmt.Errorf("find devices: %w", err)
	}
	box := sandbox.New(sandbox.Config{Off: s.Unsandboxed, Root: filepath.Join(s.Data, "sandbox"), FirstUID: s.FirstUID, BuildNice: s.BuildNice, Log: s.Log})
	tools := toolchain.Find(ctx)
	builder := toolchain.NewBuilder(toolchain.Config{Tools: tools, Runner: box, Cache: s.Objects, Libraries: s.Libraries, Log: s.Log})
	return evaluator.Config{
		Name: s.Name, Version: s.Version, Sandbox: box, Builder: builder, Tools: tools, Slots: units, Log: s.Log,
	}, box, nil
}
