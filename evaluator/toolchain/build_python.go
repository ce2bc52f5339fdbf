package toolchain

import (
	"context"
	_ "embed"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	processors "golang.org/x/sys/cpu"

	"warpboard/evaluator/harness"
	"warpboard/evaluator/job"
	"warpboard/evaluator/sandbox"
	"warpboard/tasks"
)

//go:embed syntax.py
var syntaxScript string

var extensionBuilderPattern = regexp.MustCompile(`\b(load_inline|cpp_extension)\b`)

// CompilesExtension guesses from the text whether importing a Python source compiles a C++ or CUDA extension. If it
// wrongly returns false, each process compiles the extension within its stage's time limit.
func CompilesExtension(source []byte) bool { return extensionBuilderPattern.Match(source) }

var torchImportPattern = regexp.MustCompile(`(?m)^(import\s[^#\n]*\btorch\b|from\s+torch\b)`)

// importsTorch guesses from the text whether importing one of the files imports torch. If it wrongly returns true, the
// import is wasted; if it wrongly returns false, each stage imports torch itself.
func importsTorch(files map[string][]byte) bool {
	for name, text := range files {
		if filepath.Ext(name) == ".py" && torchImportPattern.Match(text) {
			return true
		}
	}
	return false
}

// Paths of built extensions. They are equal in every sandbox, because ninja's files contain them.
const (
	extensionsDir     = "/tmp/cache/torch_extensions"
	extensionsArchive = "extensions.tar"
	extensionsScript  = "warpboard_extensions.py"
)

// maxArchiveBytes limits the archive of a file's extensions, in bytes. It has objects and libraries, of tens of
// megabytes for CUTLASS. The submission's code writes it, and it is in memory several times.
const maxArchiveBytes = 64 << 20

// extensionErrorText is PyTorch's message for an extension that does not compile. Other import errors on a machine
// without the device mean nothing.
const extensionErrorText = "Error building extension"

// minExtensionsTimeout is the minimum time limit for importing torch and compiling a small extension. A build of many
// files gets three times as much. The limits of an ordinary build are for a compiler without the import of torch.
const minExtensionsTimeout = 2 * time.Minute

// buildPython checks the submission's syntax. It imports a submission that compiles extensions once, as KernelBot does,
// so that nothing is compiled while a stage is timed. Compiled extensions are cached for later runs of the same
// submission; those of an evaluation only for its caller.
func (b *Builder) buildPython(ctx context.Context, req BuildRequest, a *Artifact, result *job.StageResult) error {
	if b.cfg.Toolchain.Python == nil {
		return fmt.Errorf("%w: no python3 was found", ErrNoCompiler)
	}
	if a.sources.RunnerScript != "" {
		core, err := b.judgeCore(ctx, req.Environment)
		if err != nil {
			return err
		}
		a.sources.Files[judgeCoreFile] = core
	}
	a.importsTorch = importsTorch(a.sources.Files)
	for _, name := range a.sources.SubmittedFiles {
		if filepath.Ext(name) != ".py" {
			continue
		}
		ok, err := b.checkSyntax(ctx, req, a, name, result)
		if err != nil || !ok {
			return err
		}
	}
	for _, name := range a.sources.SubmittedFiles {
		texts := append(slices.Collect(maps.Values(req.AdditionalFiles[name])), a.sources.Files[name])
		if filepath.Ext(name) != ".py" || !slices.ContainsFunc(texts, CompilesExtension) {
			continue
		}
		err := b.buildExtensions(ctx, req, a, name, result)
		if err != nil || result.Status != job.StatusPass || a.failedExtension != "" {
			return err
		}
	}
	return nil
}

// checkSyntax fails the build if Python cannot parse a file. The output has the line, with a caret below it.
func (b *Builder) checkSyntax(
	ctx context.Context, req BuildRequest, a *Artifact, name string, result *job.StageResult,
) (bool, error) {
	python := b.cfg.Toolchain.Python
	a.BuildCommands = shellLine([]string{python.Path, "-m", "py_compile", name})
	limits := req.Environment.BuildLimits
	limits.WallTime = commandTimeout(limits.WallTime, result.StartedAt)
	outcome, err := runProcess(ctx, b.cfg.Runner.Run, sandbox.Spec{
		SandboxSlot: req.Environment.SandboxSlot, Argv: []string{python.Path, "-I", "-S", "-c", syntaxScript,
			name}, WorkingDir: "/in",
		Files: map[string][]byte{name: a.sources.Files[name]}, Mounts: python.Mounts, Limits: limits,
		OnStderr: func(text []byte) { req.OnLog("stderr", text) },
	})
	if err != nil {
		return false, fmt.Errorf("check the submission's syntax: %w", err)
	}
	if outcome.ExitCode == 0 && outcome.ExceededLimit == "" && !outcome.Cancelled {
		return true, nil
	}
	status, failure := commandFailure(outcome, "reading "+name)
	failure.File = name
	result.Stderr = outcome.Stderr
	failBuild(result, status, failure)
	return false, nil
}

// buildExtensions imports one submitted file to compile its extensions. A failed import does not fail the build,
// because it may only need a GPU, and the stages report the error better.
func (b *Builder) buildExtensions(
	ctx context.Context, req BuildRequest, a *Artifact, name string, result *job.StageResult,
) error {
	python := b.cfg.Toolchain.Python
	env := b.pythonEnv(req.Environment)
	env["TORCH_EXTENSIONS_DIR"] = extensionsDir
	// The key contains the caller. The submission's own code writes the archive and can put anything into it, so no
	// other caller may get it.
	archiveKey := hashParts("extensions", python.Version, fmt.Sprint(python.Packages), env["TORCH_CUDA_ARCH_LIST"],
		b.nvccVersion(), marchTarget(), name, hashFiles(a.sources.Files), hashFiles(req.AdditionalFiles[name]), req.Job.Caller)
	keep := req.Job.EvaluationID == "" || req.Job.Caller != ""
	a.BuildCommands += "\n" + shellLine([]string{python.Path, name})
	if data, ok := b.objects.get(archiveKey); ok && keep {
		a.extensionArchives[name], result.FromCache = data, true
		return nil
	}
	work := a.sources.Files
	if req.Job.EvaluationID != "" { // without the source of the other kernel of a comparison
		work = a.sources.TaskFiles()
		work[name] = a.sources.Files[name]
		maps.Copy(work, req.AdditionalFiles[name])
	}
	outcome, err := runProcess(ctx, b.cfg.Runner.Run, sandbox.Spec{
		SandboxSlot: req.Environment.SandboxSlot, Argv: []string{python.Path, "/in/" + extensionsScript, "build", name,
			extensionsArchive},
		WorkingDir: "/out", Env: env, Files: harness.RunnerSources(), WritableFiles: work,
		Mounts: python.Mounts, Limits: extensionLimits(req, result.StartedAt), CollectFiles: map[string]int64{extensionsArchive: maxArchiveBytes},
		OnStdout: func(text []byte) { req.OnLog("stdout", text) }, OnStderr: func(text []byte) { req.OnLog("stderr", text) },
	})
	if err != nil {
		return fmt.Errorf("compile the submission's extensions: %w", err)
	}
	result.Stdout, result.Stderr = outcome.Stdout, outcome.Stderr
	if outcome.ExceededLimit != "" || outcome.Cancelled {
		status, failure := commandFailure(outcome, "compiling the extensions of "+name)
		failure.File = name
		failBuild(result, status, failure)
		return nil
	}
	if outcome.ExitCode != 0 && strings.Contains(outcome.Stderr, extensionErrorText) {
		a.failedExtension = name
		return nil
	}
	if why := outcome.RefusedFiles[extensionsArchive]; why != "" && outcome.ExitCode == 0 {
		result.Stderr += "The compiled extensions are not kept, so each stage compiles them: " + why + ".\n"
	}
	archive := outcome.Files[extensionsArchive]
	// A failed import does not fail the build: it may need a GPU, which a build does not have.
	if len(archive) == 0 {
		return nil
	}
	a.extensionArchives[name] = archive
	if keep && outcome.ExitCode == 0 {
		b.keep(archiveKey, archive)
	}
	return nil
}

// extensionLimits returns the limits of a build, raised to at least those of a run, except for the remaining time,
// because the submission is imported and compiles during the import.
func extensionLimits(req BuildRequest, begun time.Time) sandbox.Limits {
	place, limits := req.Environment, req.Environment.BuildLimits
	limits.WallTime, limits.CPU = max(limits.WallTime, minExtensionsTimeout), max(limits.CPU, minExtensionsTimeout)
	limits.WallTime = commandTimeout(limits.WallTime, begun)
	if req.MaxTime > 0 {
		limits.WallTime = min(limits.WallTime, req.MaxTime)
	}
	limits.OpenFiles = max(limits.OpenFiles, place.RunLimits.OpenFiles)
	limits.Processes = max(limits.Processes, place.RunLimits.Processes)
	limits.Memory = max(limits.Memory, place.RunLimits.Memory)
	return limits
}

func (b *Builder) nvccVersion() string {
	if c := b.cfg.Toolchain.CompilerFor(tasks.LangCUDA); c != nil {
		return c.Version
	}
	return ""
}

// pythonEnv returns the environment of every Python process in a sandbox environment.
func (b *Builder) pythonEnv(place Environment) map[string]string {
	env := map[string]string{
		"PATH":                    b.cfg.Toolchain.Python.binDir() + ":/usr/local/cuda/bin:/usr/local/bin:/usr/bin:/bin",
		"PYTHONUNBUFFERED":        "1",
		"PYTHONDONTWRITEBYTECODE": "1",
		// With this setting torch asks NVML whether there is a GPU, so that the process can still fork afterwards.
		"PYTORCH_NVML_BASED_CUDA_CHECK": "1",
	}
	if nvcc := b.cfg.Toolchain.NVCC; nvcc != nil {
		env["CUDA_HOME"] = filepath.Dir(filepath.Dir(nvcc.Path))
	}
	if place.Arch != "" {
		env["TORCH_CUDA_ARCH_LIST"] = torchArchList(place.Arch)
	} else if processors.X86.HasAVX2 && processors.X86.HasFMA {
		env["ATEN_CPU_CAPABILITY"] = "avx2" // without /proc/cpuinfo, torch would not use AVX
	}
	maps.Copy(env, place.Env)
	return env
}

// torchArchList formats a compute capability for torch: "90" becomes "9.0a", with the architecture-specific features
// from Hopper on.
func torchArchList(arch string) string {
	n, err := strconv.Atoi(arch)
	if err != nil {
		return arch
	}
	text := fmt.Sprintf("%d.%d", n/10, n%10)
	if n >= 90 {
		text += "a"
	}
	return text
}

// mountExtensions makes an interpreter unpack the extensions that the build compiled before it runs the script.
func mountExtensions(spec sandbox.Spec, extensions []byte) sandbox.Spec {
	if len(extensions) == 0 {
		return spec
	}
	spec.Env["TORCH_EXTENSIONS_DIR"] = extensionsDir
	spec.Files = harness.RunnerSources()
	spec.Files[extensionsArchive] = extensions
	spec.Argv = append([]string{spec.Argv[0], "/in/" + extensionsScript, "run", "/in/" + extensionsArchive}, spec.Argv[1:]...)
	return spec
}
