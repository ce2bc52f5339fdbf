package sandbox

import (
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// inside maps paths in the sandbox to host paths, for machines that cannot have a sandbox. It guesses which arguments
// are paths, which is good enough for the site's own programs. Such a program can see everything.
type inside []bind

func insideOf(a *scratch) inside {
	return append(inside{{a.in, "/in"}, {a.out, "/out"}, {a.tmp, "/tmp"}}, a.binds...)
}

// path maps one absolute path. Paths outside stay unchanged.
func (in inside) path(path string) string {
	best := bind{}
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

// argument maps the paths in an argument or a variable: in a list separated by colons or commas, each element is
// treated as a path from its first slash on, as in -I/in/include.
func (in inside) argument(arg string) string {
	var b strings.Builder
	for len(arg) > 0 {
		end := strings.IndexAny(arg, ":,")
		if end < 0 {
			end = len(arg)
		}
		element := arg[:end]
		if slash := strings.IndexByte(element, '/'); slash >= 0 {
			element = element[:slash] + in.path(element[slash:])
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
// shell waits at the gate until the limits are set; it ends when the server does.
func openCommand(spec *Spec, a *scratch, fds control) (argv, env []string, dir string) {
	in := insideOf(a)
	gate := strconv.Itoa(fds.gate)
	argv = []string{"/bin/sh", "-c", "read -r _ <&" + gate + " || exit; exec " + gate + "<&- \"$@\"", "sh"}
	for _, arg := range spec.Argv {
		argv = append(argv, in.argument(arg))
	}
	vars := environment(spec.Env)
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		env = append(env, name+"="+in.argument(vars[name]))
	}
	dir = a.tmp
	if spec.Dir != "" {
		dir = in.path(filepath.Clean(spec.Dir))
	}
	return argv, env, dir
}
