package toolchain

import (
	"context"
	"fmt"

	"warpboard/evaluator/harness"
	"warpboard/evaluator/sandbox"
)

// judgeCoreFile is the name of the judge's core beside a Python program (warpboard_core.py loads it).
const judgeCoreFile = "libwarpboard_core.so"

// judgeCore returns the judge's core of Python programs, a shared library. It is compiled once for all programs, and
// kept in the store.
func (b *Builder) judgeCore(ctx context.Context, place Environment) ([]byte, error) {
	compiler := b.cfg.Toolchain.GPP
	if compiler == nil {
		return nil, fmt.Errorf("%w: no g++ was found, which compiles the judge's core", ErrNoCompiler)
	}
	sources := harness.CoreSources()
	command := []string{compiler.Path, "-std=c++20", "-O2", "-fPIC", "-shared", "-s", "-static-libstdc++", "-static-libgcc",
		"-I.", "-o", "/out/core", "warpboard_core.cpp", "-ldl"}
	key := hashParts("core", compiler.Version, hashFiles(sources), shellLine(command))
	unlock, err := b.fileLocks.lock(ctx, key)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if library, ok := b.objects.get(key); ok {
		return library, nil
	}
	outcome, err := runProcess(ctx, b.cfg.Runner.Run, sandbox.Spec{
		SandboxSlot: place.SandboxSlot, Argv: command, WorkingDir: "/in", Files: sources, Mounts: compiler.Mounts(), Limits: place.BuildLimits,
		CollectFiles: map[string]int64{"core": maxBuildProductBytes},
	})
	if err != nil {
		return nil, fmt.Errorf("compile the judge's core: %w", err)
	}
	library := outcome.Files["core"]
	if outcome.ExitCode != 0 || outcome.ExceededLimit != "" || outcome.Cancelled || len(library) == 0 {
		_, failure := commandFailure(outcome, "compiling the judge's core")
		return nil, fmt.Errorf("%s %s", failure.Reason, outcome.Stderr)
	}
	b.keep(key, library)
	return library, nil
}
