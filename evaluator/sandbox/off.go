package sandbox

import (
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// pathMapping maps paths in the sandbox to host paths, for machines without a sandbox. It guesses which arguments are
// paths, which suffices for the site's own programs. Programs that run in this way can access everything.
type pathMapping []bindMountPaths

func pathMappingOf(a *runArea) pathMapping {
	return append(pathMapping{{a.inPath, "/in"}, {a.outPath, "/out"}, {a.tmpPath, "/tmp"}}, a.bindMounts...)
}

// mapPath maps one absolute path. It returns other paths unchanged.
func (in pathMapping) mapPath(path string) string {
	best := bindMountPaths{}
	for _, b := range in {
		under := path == b.inside || strings.HasPrefix(path, b.inside+"/")
		if under && len(b.inside) > len(best.inside) {
			best = b
		}
	}
	if best.inside == "" {
		return path
	}
	return best.host + path[len(best.inside):]
}

// mapArgument maps the paths in an argument or a variable. The value is treated as a list separated by colons or
// commas, and each element as a path from its first slash on, as in -I/in/include.
func (in pathMapping) mapArgument(arg string) string {
	var b strings.Builder
	for len(arg) > 0 {
		end := strings.IndexAny(arg, ":,")
		if end < 0 {
			end = len(arg)
		}
		element := arg[:end]
		if slash := strings.IndexByte(element, '/'); slash >= 0 {
			element = element[:slash] + in.mapPath(element[slash:])
		}
		b.WriteString(element)
		if end < len(arg) {
			b.WriteByte(arg[end])
			end++
		}
		arg = arg[end:]
	}
	return b.String()
}

// openCommand returns the command line, environment, and directory of a run without a sandbox. Like bubblewrap, the
// shell waits at the gate until the limits are set, and ends with the server.
func openCommand(spec *Spec, a *runArea, fds bwrapDescriptors) (argv, env []string, dir string) {
	in := pathMappingOf(a)
	gate := strconv.Itoa(fds.gateFD)
	argv = []string{"/bin/sh", "-c", "read -r _ <&" + gate + " || exit; exec " + gate + "<&- \"$@\"", "sh"}
	for _, arg := range spec.Argv {
		argv = append(argv, in.mapArgument(arg))
	}
	vars := environment(spec.Env)
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		env = append(env, name+"="+in.mapArgument(vars[name]))
	}
	dir = a.tmpPath
	if spec.WorkingDir != "" {
		dir = in.mapPath(filepath.Clean(spec.WorkingDir))
	}
	return argv, env, dir
}
