package toolchain

import (
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"warpboard/evaluator/sandbox"
)

// librariesDir is where include libraries are shown in the sandbox.
const librariesDir = "/libraries"

// include resolves one entry of a task's include_dirs: "." is the task's own folder, anything else
// begins with the name of an include library, whatever its case: "CUTLASS", "ThunderKittens/include",
// or as tasks of the original have it "/ThunderKittens/include".
func (b *Builder) include(dir string) (flag string, mount *sandbox.Mount, err error) {
	cleaned := strings.TrimPrefix(path.Clean(dir), "/")
	if cleaned == "." || cleaned == "" {
		return "-I/in", nil, nil
	}
	name, rest, _ := strings.Cut(cleaned, "/")
	for _, known := range slices.Sorted(maps.Keys(b.cfg.Libraries)) {
		if !strings.EqualFold(known, name) {
			continue
		}
		if rest != "" && !filepath.IsLocal(rest) {
			break
		}
		inside := path.Join(librariesDir, known)
		return "-I" + path.Join(inside, rest), &sandbox.Mount{Host: b.cfg.Libraries[known], Inside: inside}, nil
	}
	return "", nil, fmt.Errorf("include_dirs: this worker has no include library %q (it has: %s)", dir, b.libraryNames())
}

func (b *Builder) libraryNames() string {
	names := slices.Sorted(maps.Keys(b.cfg.Libraries))
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
