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
)

// Python is one interpreter with the packages that matter to tasks.
type Python struct {
	Path     string            // absolute; links are kept, for a virtual environment is known by its path
	Version  string            // "3.12.3"
	Packages map[string]string // version by distribution name, of those that are there
	Mounts   []sandbox.Mount   // directories outside /usr that it needs
}

//go:embed probe.py
var probeScript string

// packageWorth orders interpreters: one with torch is more useful than one with only NumPy.
var packageWorth = map[string]int{"torch": 4, "triton": 2, "numpy": 1}

// findPython chooses the interpreter with the most useful packages, the first of equals, among
// those that an unprivileged user can start.
func findPython(ctx context.Context) *Python {
	var best *Python
	for _, path := range pythonCandidates() {
		if p := probePython(ctx, path); p != nil && (best == nil || p.worth() > best.worth()) {
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

// probePython asks an interpreter about itself without importing anything big; nil if it does not answer or is in a folder
// that the sandbox's users cannot read. It runs the interpreter outside the sandbox, with the worker's rights: the
// candidates are the operator's, not a submission's.
func probePython(ctx context.Context, path string) *Python {
	if _, err := os.Stat(path); err != nil || !reachable(path) {
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
		Packages map[string]string
		Prefixes []string
	}
	if json.Unmarshal(out, &answer) != nil {
		return nil
	}
	p := &Python{Path: path, Version: answer.Version, Packages: answer.Packages}
	for _, prefix := range answer.Prefixes {
		if !reachable(prefix) {
			return nil
		}
		p.mount(prefix)
	}
	return p
}

// mount shows a directory in the sandbox, which shows /usr anyway.
func (p *Python) mount(dir string) {
	if dir == "/usr" || strings.HasPrefix(dir, "/usr/") || dir == "/" {
		return
	}
	for _, m := range p.Mounts {
		if m.Inside == dir {
			return
		}
	}
	p.Mounts = append(p.Mounts, sandbox.Mount{Host: dir, Inside: dir})
}

func (p *Python) worth() int {
	sum := 0
	for name := range p.Packages {
		sum += packageWorth[name]
	}
	return sum
}

// bin is the directory of the interpreter and of the tools installed beside it (ninja).
func (p *Python) bin() string { return filepath.Dir(p.Path) }

// reachable reports whether everyone may pass through every directory on the way to path, and to
// where its links lead.
func reachable(path string) bool {
	real, err := filepath.EvalSymlinks(path)
	return err == nil && passable(path) && passable(real)
}

// The sandbox's users are none of the group's or the owner's: the bit for others decides. The last element itself is not
// looked at.
func passable(path string) bool {
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
