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

// Tool is an installed compiler, or another tool of the CUDA toolkit.
type Tool struct {
	Path    string // absolute
	Version string // the line of its --version that names the release
}

// Mounts returns the mount of the compiler's directory tree, or nil if it is in /usr, which every sandbox contains.
func (c *Tool) Mounts() []sandbox.Mount {
	if strings.HasPrefix(c.Path, "/usr/") || strings.HasPrefix(c.Path, "/bin/") {
		return nil
	}
	root := filepath.Dir(filepath.Dir(c.Path))
	return []sandbox.Mount{{HostPath: root, InsidePath: root}}
}

// Toolchain lists a machine's tools; missing ones are nil.
type Toolchain struct {
	NVCC             *Tool
	GPP              *Tool
	Python           *Python
	ComputeSanitizer *Tool // compute-sanitizer, which comes with nvcc
}

// probeTimeout limits asking one program for its version. nvcc on a slow network file system takes seconds. A tool that
// does not respond counts as missing until the worker restarts.
const probeTimeout = 20 * time.Second

// FindToolchain searches for nvcc and compute-sanitizer (PATH, CUDA_HOME, /usr/local/cuda), g++ (PATH), and python3
// (PATH, then /opt/*/.venv). A tool that does not print its version counts as missing.
func FindToolchain(ctx context.Context) Toolchain {
	cuda := []string{os.Getenv("CUDA_HOME"), "/usr/local/cuda"}
	return Toolchain{
		NVCC:             findCompiler(ctx, "nvcc", cuda...),
		GPP:              findCompiler(ctx, "g++"),
		Python:           findPython(ctx),
		ComputeSanitizer: findCompiler(ctx, "compute-sanitizer", cuda...),
	}
}

func findCompiler(ctx context.Context, name string, homes ...string) *Tool {
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
			return &Tool{Path: path, Version: version}
		}
	}
	return nil
}

// compilerVersion returns the line with the release of nvcc, or the first line of other compilers; "" if the program
// fails.
func compilerVersion(ctx context.Context, path string) string {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	// The program runs outside the sandbox with the worker's rights, because PATH and CUDA_HOME belong to the operator.
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

// CompilerFor returns the compiler of a language, or nil if the machine has none.
func (t Toolchain) CompilerFor(lang tasks.Lang) *Tool {
	switch lang {
	case tasks.LangCUDA:
		return t.NVCC
	case tasks.LangCPP:
		return t.GPP
	default:
		return nil
	}
}

// RecordSoftware stores in m the software that builds and runs jobs of a language.
func (t Toolchain) RecordSoftware(lang tasks.Lang, m *job.Machine) {
	if c := t.CompilerFor(lang); c != nil {
		m.CompilerVersion = c.Version
	}
	if lang == tasks.LangPython && t.Python != nil {
		m.Python = t.Python.Version
		m.Torch = t.Python.Packages["torch"]
		m.Triton = t.Python.Packages["triton"]
		if t.NVCC != nil {
			m.CompilerVersion = t.NVCC.Version
		}
	}
}
