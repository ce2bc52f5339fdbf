package toolchain

import (
	"context"
	_ "embed"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	processors "golang.org/x/sys/cpu"

	"warpboard/evaluator/harness"
	"warpboard/evaluator/job"
	"warpboard/evaluator/sandbox"
	"warpboard/tasks"
)

//go:embed syntax.py
var syntaxScript string

var extensionBuilder = regexp.MustCompile(`\b(load_inline|cpp_extension)\b`)

// CompilesExtension reports whether a Python source seems to compile a C++ or CUDA extension when it is imported.
// A guess from the text. Where it is wrong the extension is compiled in the first stage, under that stage's limit of
// time.
func CompilesExtension(source []byte) bool { return extensionBuilder.Match(source) }

var torchImport = regexp.MustCompile(`(?m)^(import\s[^#\n]*\btorch\b|from\s+torch\b)`)

// importsTorch guesses from the text whether importing a file imports torch; the harness does so only for tensors. If the
// guess is wrong, stages import torch themselves, or not at all.
func importsTorch(files map[string][]byte) bool {
	for name, text := range files {
		if filepath.Ext(name) == ".py" && torchImport.Match(text) {
			return true
		}
	}
	return false
}

// Where extensions are built: the same path in every sandbox, for ninja's files name it.
const (
	extensionsDir     = "/tmp/cache/torch_extensions"
	extensionsArchive = "extensions.tar"
	extensionsScript  = "warpboard_extensions.py"
)

// extensionsTime is what importing torch and compiling a small extension may take; those of many files have the time of three.
// A build's own limits are for a compiler; here a whole import of torch comes on top.
const extensionsTime = 2 * time.Minute

// buildPython checks the submission's syntax and, as the original does, imports a submission that
// compiles extensions once, so that they are compiled before anything is timed. What they became is
// kept for the next run of the same submission; an evaluation's for its caller alone.
func (b *Builder) buildPython(ctx context.Context, req BuildRequest, a *Artifact, result *job.StageResult) error {
	if b.cfg.Tools.Python == nil {
		return fmt.Errorf("%w: no python3 was found", ErrMissing)
	}
	a.torch = importsTorch(a.sources.Files)
	for _, name := range a.sources.Submitted {
		if filepath.Ext(name) != ".py" {
			continue
		}
		ok, err := b.checkSyntax(ctx, req, a, name, result)
		if err != nil || !ok {
			return err
		}
	}
	for _, name := range a.sources.Submitted {
		if filepath.Ext(name) != ".py" || !CompilesExtension(a.sources.Files[name]) {
			continue
		}
		if err := b.buildExtensions(ctx, req, a, name, result); err != nil || result.Status != job.StatusPass {
			return err
		}
	}
	return nil
}

// checkSyntax refuses what no Python can read, with the line and a caret below it.
func (b *Builder) checkSyntax(ctx context.Context, req BuildRequest, a *Artifact, name string, result *job.StageResult) (bool, error) {
	python := b.cfg.Tools.Python
	a.Command = quote([]string{python.Path, "-m", "py_compile", name})
	limits := req.Place.Build
	limits.Wall = inTurn(limits.Wall, result.Started)
	outcome, err := run(ctx, b.cfg.Runner, sandbox.Spec{
		Slot: req.Place.Slot, Argv: []string{python.Path, "-I", "-S", "-c", syntaxScript, name}, Dir: "/in",
		Files: map[string][]byte{name: a.sources.Files[name]}, Mounts: python.Mounts, Limits: limits,
		OnStderr: func(text []byte) { req.OnLog("stderr", text) },
	})
	if err != nil {
		return false, fmt.Errorf("check the submission's syntax: %w", err)
	}
	if outcome.ExitCode == 0 && outcome.Limit == "" && !outcome.Cancelled {
		return true, nil
	}
	status, failure := failedCommand(outcome, "reading "+name)
	result.Stderr = outcome.Stderr
	refuse(result, status, failure)
	return false, nil
}

// buildExtensions imports one submission. A failure is not a verdict: without a GPU it may, and
// the stages will say so better.
func (b *Builder) buildExtensions(ctx context.Context, req BuildRequest, a *Artifact, name string, result *job.StageResult) error {
	python := b.cfg.Tools.Python
	env := b.pythonEnv(req.Place)
	env["TORCH_EXTENSIONS_DIR"] = extensionsDir
	// Caller is in it: an archive is made by running the submission's own code, which may put anything there. No one else
	// may be given it.
	archiveKey := key("extensions", python.Version, fmt.Sprint(python.Packages), env["TORCH_CUDA_ARCH_LIST"],
		b.nvccVersion(), processor(), name, filesKey(a.sources.Files), req.Job.Caller)
	keep := req.Job.EvaluationID == "" || req.Job.Caller != ""
	a.Command += "\n" + quote([]string{python.Path, name})
	if data, ok := b.store.get(archiveKey); ok && keep {
		a.extensions[name], result.Cached = data, true
		return nil
	}
	work := a.sources.Files
	if req.Job.EvaluationID != "" { // of two kernels none finds the other
		work = a.sources.TaskFiles()
		work[name] = a.sources.Files[name]
	}
	outcome, err := run(ctx, b.cfg.Runner, sandbox.Spec{
		Slot: req.Place.Slot, Argv: []string{python.Path, "/in/" + extensionsScript, "build", name, extensionsArchive},
		Dir: "/out", Env: env, Files: harness.RunnerSources(), Work: work,
		Mounts: python.Mounts, Limits: extensionLimits(req.Place, result.Started), Collect: map[string]int64{extensionsArchive: maxProduct},
		OnStdout: func(text []byte) { req.OnLog("stdout", text) }, OnStderr: func(text []byte) { req.OnLog("stderr", text) },
	})
	if err != nil {
		return fmt.Errorf("compile the submission's extensions: %w", err)
	}
	result.Stdout, result.Stderr = outcome.Stdout, outcome.Stderr
	if outcome.Limit != "" || outcome.Cancelled {
		status, failure := failedCommand(outcome, "compiling the extensions of "+name)
		refuse(result, status, failure)
		return nil
	}
	archive := outcome.Files[extensionsArchive]
	// Not kept, and not a verdict: an import that needs a GPU fails here, because there is none.
	if outcome.ExitCode != 0 || len(archive) == 0 {
		return nil
	}
	a.extensions[name] = archive
	if !keep {
		return nil
	}
	return b.store.put(archiveKey, archive)
}

// extensionLimits are a build's limits, but not below a run's except for the time that is left: the submission is imported,
// and compiles during the import.
func extensionLimits(place Place, begun time.Time) sandbox.Limits {
	limits := place.Build
	limits.Wall, limits.CPU = max(limits.Wall, extensionsTime), max(limits.CPU, extensionsTime)
	limits.Wall = inTurn(limits.Wall, begun)
	limits.OpenFiles = max(limits.OpenFiles, place.Run.OpenFiles)
	limits.Processes = max(limits.Processes, place.Run.Processes)
	limits.Memory = max(limits.Memory, place.Run.Memory)
	return limits
}

func (b *Builder) nvccVersion() string {
	if c := b.cfg.Tools.For(tasks.LangCUDA); c != nil {
		return c.Version
	}
	return ""
}

// pythonEnv is what every Python of a place gets.
func (b *Builder) pythonEnv(place Place) map[string]string {
	env := map[string]string{
		"PATH":                    b.cfg.Tools.Python.bin() + ":/usr/local/cuda/bin:/usr/local/bin:/usr/bin:/bin",
		"PYTHONUNBUFFERED":        "1",
		"PYTHONDONTWRITEBYTECODE": "1",
		// torch then asks NVML whether there is a GPU; the process can still fork after that.
		"PYTORCH_NVML_BASED_CUDA_CHECK": "1",
	}
	if nvcc := b.cfg.Tools.NVCC; nvcc != nil {
		env["CUDA_HOME"] = filepath.Dir(filepath.Dir(nvcc.Path))
	}
	if place.Arch != "" {
		env["TORCH_CUDA_ARCH_LIST"] = torchArch(place.Arch)
	} else if processors.X86.HasAVX2 && processors.X86.HasFMA {
		env["ATEN_CPU_CAPABILITY"] = "avx2" // torch reads /proc/cpuinfo, which is not there, and would use no AVX
	}
	maps.Copy(env, place.Env)
	return env
}

// torchArch writes "90" in torch's form: "9.0a", with the architecture's own features from Hopper on.
func torchArch(arch string) string {
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

// withExtensions unpacks what the submission compiled during its build, before the script starts.
func withExtensions(spec sandbox.Spec, extensions []byte) sandbox.Spec {
	if len(extensions) == 0 {
		return spec
	}
	spec.Env["TORCH_EXTENSIONS_DIR"] = extensionsDir
	spec.Files = harness.RunnerSources()
	spec.Files[extensionsArchive] = extensions
	spec.Argv = append([]string{spec.Argv[0], "/in/" + extensionsScript, "run", "/in/" + extensionsArchive}, spec.Argv[1:]...)
	return spec
}
