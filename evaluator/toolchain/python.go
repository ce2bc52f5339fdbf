package toolchain

import (
	"context"
	_ "embed"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"warpboard/evaluator/sandbox"
	"warpboard/internal/requirement"
)

// Python is an interpreter and the packages in it that tasks use.
type Python struct {
	Path     string // absolute, with links unresolved: a virtual environment is identified by its path
	Version  string // "3.12.3"
	Packages requirement.Packages
	Mounts   []sandbox.Mount // required directories outside /usr
}

//go:embed probe.py
var probeScript string

// packagePreference ranks interpreters by packages: one with torch is preferred to one with only NumPy.
var packagePreference = map[string]int{"torch": 4, "triton": 2, "numpy": 1}

// findPython returns the interpreter with the best packages that an unprivileged user can start, or nil. Of equal ones
// it returns the first.
func findPython(ctx context.Context) *Python {
	var best *Python
	for _, path := range pythonCandidates() {
		if p := probePython(ctx, path); p != nil && (best == nil || p.packageRank() > best.packageRank()) {
			best = p
		}
	}
	return best
}

func pythonCandidates() []string {
	var candidates []string
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if filepath.IsAbs(dir) {
			candidates = append(candidates, filepath.Join(dir, "python3"))
		}
	}
	candidates = append(candidates, "/usr/bin/python3")
	found, _ := filepath.Glob("/opt/*/.venv/bin/python3")
	return append(candidates, found...)
}

// probePython asks an interpreter for its version and packages without importing large ones. It returns nil if the
// interpreter does not respond or is in a directory that the sandbox's users cannot read. It runs outside the sandbox
// with the worker's rights, because the interpreters belong to the operator.
func probePython(ctx context.Context, path string) *Python {
	if _, err := os.Stat(path); err != nil || !isReachable(path) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "-c", probeScript).Output()
	if err != nil {
		return nil
	}
	var answer struct {
		Version  string
		Packages requirement.Packages
		Prefixes []string
	}
	if json.Unmarshal(out, &answer) != nil {
		return nil
	}
	p := &Python{Path: path, Version: answer.Version, Packages: answer.Packages}
	for _, prefix := range answer.Prefixes {
		if !isReachable(prefix) {
			return nil
		}
		p.addMount(prefix)
	}
	return p
}

// addMount adds a directory to the sandbox unless it is in /usr, which every sandbox contains.
func (p *Python) addMount(dir string) {
	if dir == "/usr" || strings.HasPrefix(dir, "/usr/") || dir == "/" {
		return
	}
	for _, m := range p.Mounts {
		if m.InsidePath == dir {
			return
		}
	}
	p.Mounts = append(p.Mounts, sandbox.Mount{HostPath: dir, InsidePath: dir})
}

func (p *Python) packageRank() int {
	sum := 0
	for name := range p.Packages {
		sum += packagePreference[name]
	}
	return sum
}

// binDir returns the directory of the interpreter and of the tools that are installed with it (ninja).
func (p *Python) binDir() string { return filepath.Dir(p.Path) }

// isReachable reports whether every user may traverse the directories to path and to the target of its links.
func isReachable(path string) bool {
	real, err := filepath.EvalSymlinks(path)
	return err == nil && isTraversable(path) && isTraversable(real)
}

// isTraversable reports whether every user may traverse the directories above path, because the sandbox's users are
// neither owner nor in the group. It does not check path itself.
func isTraversable(path string) bool {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil || info.Mode().Perm()&0o001 == 0 {
			return false
		}
		if dir == "/" {
			return true
		}
	}
}
