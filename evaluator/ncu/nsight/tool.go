package nsight

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"warpboard/evaluator/ncu"
)

// ErrNoTool means that ncu is not installed. Ranked results then have no profiles.
//
//lint:ignore ST1005 a proper name has its capital
var ErrNoTool = errors.New("Nsight Compute (ncu) was not found on this worker: install it or put it on PATH; ranked results stand without a profile")

// Tool is an installed ncu.
type Tool struct {
	ProgramPath  string   // path of the program, with symlinks resolved
	RequiredDirs []string // directories that it needs at the same path, in addition to /usr
	Version      string   // "2025.3.1.0"
	// Sections lists the sections of this version of ncu that pages show. If the list could not be read, it is empty,
	// and the full set is collected.
	Sections []string
}

// SearchPaths lists the directories in which to search for ncu.
type SearchPaths struct {
	PathVariable string   // as in $PATH; searched first
	ProgramGlobs []string // patterns of programs; of each, the last in alphabetical order wins
	ExtraDirs    []string // directories that a wrapper script on PATH may lead to
}

// DefaultSearchPaths returns PATH and the directories in which NVIDIA's packages install ncu.
func DefaultSearchPaths() SearchPaths {
	return SearchPaths{
		PathVariable: os.Getenv("PATH"),
		ProgramGlobs: []string{
			"/opt/nvidia/nsight-compute/*/ncu",
			"/usr/local/cuda/bin/ncu",
			"/usr/local/cuda-*/bin/ncu",
		},
		ExtraDirs: []string{"/opt/nvidia/nsight-compute"},
	}
}

// FindTool searches for ncu and asks it for its version. The error is ErrNoTool if there is none, and a sentence if ncu
// does not start.
func FindTool(ctx context.Context, where SearchPaths) (Tool, error) {
	path := where.find()
	if path == "" {
		return Tool{}, ErrNoTool
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return Tool{}, fmt.Errorf("follow %s: %w", path, err)
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, real, "--version").CombinedOutput()
	if err != nil {
		return Tool{}, fmt.Errorf("%s is there but `ncu --version` failed (%w): %s", real, err, lastLine(string(out)))
	}
	listed, _ := exec.CommandContext(ctx, real, "--list-sections").Output()
	return Tool{
		ProgramPath:  real,
		RequiredDirs: where.requiredDirs(real),
		Version:      ncu.FindVersion(string(out)),
		Sections:     parseSectionList(string(listed)),
	}, nil
}

var sectionNamePattern = regexp.MustCompile(`^[A-Z][A-Za-z0-9_]+$`)

// unshownSections lists the sections of ncu's full set that no page shows. Without them, each kernel on an H200 is
// replayed 36 times instead of 38, in 1.4 s instead of 1.75 s. Most of this time is for the sections that sample the
// whole device.
func unshownSections() []string {
	return []string{"C2CLink", "NumaAffinity", "Nvlink", "Nvlink_Tables", "Nvlink_Topology", "PmSampling", "PmSampling_WarpStates"}
}

// parseSectionList parses ncu's list of sections, with identifiers in the first column, and omits unshown ones. It
// returns nil for any other text.
func parseSectionList(listed string) (sections []string) {
	_, rows, _ := strings.Cut(listed, "Identifier")
	for line := range strings.Lines(rows) {
		name, _, _ := strings.Cut(line, " ")
		if sectionNamePattern.MatchString(name) && !slices.Contains(unshownSections(), name) {
			sections = append(sections, name)
		}
	}
	if !slices.Contains(sections, "SpeedOfLight") {
		return nil
	}
	return sections
}

func (p SearchPaths) find() string {
	for _, dir := range filepath.SplitList(p.PathVariable) {
		if file := filepath.Join(dir, "ncu"); isExecutable(file) {
			return file
		}
	}
	for _, pattern := range p.ProgramGlobs {
		matches, _ := filepath.Glob(pattern)
		slices.Sort(matches)
		for _, m := range slices.Backward(matches) {
			if isExecutable(m) {
				return m
			}
		}
	}
	return ""
}

// requiredDirs returns the directories besides /usr that a sandbox must show so that the program at path starts.
func (p SearchPaths) requiredDirs(path string) []string {
	var out []string
	for _, dir := range append(slices.Clone(p.ExtraDirs), filepath.Dir(path)) {
		info, err := os.Stat(dir)
		if err != nil || !info.IsDir() || strings.HasPrefix(dir+"/", "/usr/") || slices.ContainsFunc(out, func(d string) bool {
			return strings.HasPrefix(dir+"/", d+"/")
		}) {
			continue
		}
		out = append(out, dir)
	}
	return out
}

func isExecutable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}
