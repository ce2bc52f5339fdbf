package toolchain

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"warpboard/evaluator/job"
	"warpboard/evaluator/sandbox"
	"warpboard/tasks"
)

// Compiler is one compiler driver.
type Compiler struct {
	Path    string // absolute
	Version string // the line of its --version that names the release
}

// Mounts shows a compiler that is not below /usr, its whole tree; every sandbox has the others.
func (c *Compiler) Mounts() []sandbox.Mount {
	if strings.HasPrefix(c.Path, "/usr/") || strings.HasPrefix(c.Path, "/bin/") {
		return nil
	}
	root := filepath.Dir(filepath.Dir(c.Path))
	return []sandbox.Mount{{Host: root, Inside: root}}
}

// Toolchain has a machine's tools; nil for each that is missing.
type Toolchain struct {
	NVCC      *Compiler
	GPP       *Compiler
	Python    *Python
	Sanitizer *Compiler // compute-sanitizer, which comes with nvcc
}

// probeTimeout bounds asking one program for its version.
// nvcc on a cold network file system takes seconds. What does not answer counts as missing until the worker starts again.
const probeTimeout = 20 * time.Second

// Find looks for nvcc and compute-sanitizer (PATH, CUDA_HOME, /usr/local/cuda), g++ (PATH) and python3 (PATH, then
// /opt/*/.venv). What is found but does not answer for its version counts as missing.
func Find(ctx context.Context) Toolchain {
	cuda := []string{os.Getenv("CUDA_HOME"), "/usr/local/cuda"}
	return Toolchain{
		NVCC:      findCompiler(ctx, "nvcc", cuda...),
		GPP:       findCompiler(ctx, "g++"),
		Python:    findPython(ctx),
		Sanitizer: findCompiler(ctx, "compute-sanitizer", cuda...),
	}
}

func findCompiler(ctx context.Context, name string, homes ...string) *Compiler {
	var candidates []string
	if path, err := exec.LookPath(name); err == nil {
		candidates = append(candidates, path)
	}
	for _, home := range homes {
		if home != "" {
			candidates = append(candidates, filepath.Join(home, "bin", name))
		}
	}
	for _, path := range candidates {
		if version := compilerVersion(ctx, path); version != "" {
			return &Compiler{Path: path, Version: version}
		}
	}
	return nil
}

// compilerVersion is g++'s first line, or nvcc's line with the release.
func compilerVersion(ctx context.Context, path string) string {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	// Outside the sandbox, with the worker's rights: PATH and CUDA_HOME are the operator's.
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "release") {
			return strings.TrimSpace(line)
		}
	}
	first, _, _ := strings.Cut(string(out), "\n")
	return strings.TrimSpace(first)
}

// For returns the compiler of a language, nil when the machine has none.
func (t Toolchain) For(lang tasks.Lang) *Compiler {
	switch lang {
	case tasks.LangCUDA:
		return t.NVCC
	case tasks.LangCPP:
		return t.GPP
	default:
		return nil
	}
}

// Describe records in m the software that a job of the given language is built and run with.
func (t Toolchain) Describe(lang tasks.Lang, m *job.Machine) {
	if c := t.For(lang); c != nil {
		m.Compiler = c.Version
	}
	if lang == tasks.LangPython && t.Python != nil {
		m.Python = t.Python.Version
		m.Torch = t.Python.Packages["torch"]
		m.Triton = t.Python.Packages["triton"]
		if t.NVCC != nil {
			m.Compiler = t.NVCC.Version
		}
	}
}
