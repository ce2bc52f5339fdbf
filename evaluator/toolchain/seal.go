package toolchain

import (
	"slices"
	"strings"

	"warpboard/evaluator/harness"
)

// kernelSymbols are the names that Warpboard's harness calls a submission by: custom_kernel in the global
// namespace, with any arguments.
const kernelSymbols = "_Z13custom_kernel*"

// sealCommands join the submission's objects to one of which only the kernel can be seen. The linker would
// else prefer a submission's clock_gettime, write or steady_clock::now to those of the C and C++ libraries,
// for the harness too; and its copy of an inline function, were its groups not dissolved. Not for a bundle's
// own program, which may call what it likes, nor for nvcc, which links in a way of its own.
func (p *plan) sealCommands(objects []string) [][]string {
	join := slices.DeleteFunc(slices.Clone(p.compile), func(flag string) bool { return strings.HasPrefix(flag, "-l") })
	join = append(join, "-r", "-nostdlib", "-flinker-output=nolto-rel", "-Wl,--force-group-allocation")
	return [][]string{
		slices.Concat(join, objects, []string{"-o", sealedObject}),
		{"objcopy", "--wildcard", "--keep-global-symbol=" + kernelSymbols, sealedObject},
	}
}

const sealedObject = "submission.o"

// linkCommands link objects, in the order of the units. Sealed, all happens in one directory that can be
// written to; else the objects are in /in and the program goes to /out.
func (p *plan) linkCommands() [][]string {
	if !p.seal {
		return [][]string{p.linkCommand(p.objects(func(harness.Unit) bool { return true }), "/out/program")}
	}
	submitted := p.objects(func(u harness.Unit) bool { return u.Submitted })
	rest := p.objects(func(u harness.Unit) bool { return !u.Submitted })
	return append(p.sealCommands(submitted), p.linkCommand(append(rest, sealedObject), "program"))
}

func (p *plan) linkCommand(objects []string, program string) []string {
	return slices.Concat(p.compile, objects, p.link, []string{"-o", program})
}

// objects names the objects of some units.
func (p *plan) objects(of func(harness.Unit) bool) []string {
	var names []string
	for i, unit := range p.layout.Units {
		if of(unit) {
			names = append(names, objectName(i))
		}
	}
	return names
}

// shellLines writes commands one per line, as a shell takes them.
func shellLines(commands [][]string) string {
	quoted := make([]string, len(commands))
	for i, command := range commands {
		quoted[i] = quote(command)
	}
	return strings.Join(quoted, "\n")
}
