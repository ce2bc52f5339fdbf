package profiling

import (
	"regexp"
	"strings"
)

// maxDeclarationBytes limits a kernel's declaration in C++, in bytes.
const maxDeclarationBytes = 2000

var (
	// functionCallPattern matches a name before a parenthesis, with optional template arguments.
	functionCallPattern = regexp.MustCompile(`([A-Za-z_]\w*)\s*(?:<[^<>(){};]*>\s*)?\(`)
	// decoratorPattern matches a Python function with a decorator of a kernel compiler: @triton.jit, @gluon.jit,
	// @cuda.jit, @cute.kernel.
	decoratorPattern = regexp.MustCompile(`(?m)^[ \t]*@[^\n]*\b(?:jit|kernel)\b[^\n]*\n(?:[ \t]*(?:[@#][^\n]*)?\r?\n)*[ \t]*def[ \t]+(\w+)`)
)

// declaredKernels returns the names of the kernels that are declared in files: __global__ functions, including those in
// Python strings, and decorated functions. Comments are not excluded.
func declaredKernels(files map[string][]byte) map[string]bool {
	names := map[string]bool{}
	for _, text := range files {
		for _, found := range decoratorPattern.FindAllSubmatch(text, -1) {
			names[string(found[1])] = true
		}
		_, rest, more := strings.Cut(string(text), "__global__")
		for more {
			var head string
			head, rest, more = strings.Cut(rest, "__global__")
			head = head[:min(len(head), maxDeclarationBytes)]
			if end := strings.IndexAny(head, "{;"); end >= 0 {
				head = head[:end]
			}
			if name := declaredFunction(head); name != "" {
				names[name] = true
			}
		}
	}
	return names
}

// declaredFunction returns the name of the function declared after __global__. Attributes such as
// __launch_bounds__(min(256, N)) may precede it.
func declaredFunction(head string) string {
	for _, at := range functionCallPattern.FindAllStringSubmatchIndex(head, -1) {
		name, before := head[at[2]:at[3]], head[:at[2]]
		if !strings.HasPrefix(name, "__") && strings.Count(before, "(") == strings.Count(before, ")") {
			return name
		}
	}
	return ""
}

// cuteDSLPrefix is the prefix of the names of kernels compiled by CuTe DSL. The function's name and the types of its
// arguments follow.
const cuteDSLPrefix = "kernel_cutlass_"

// containsKernelName reports whether names contains the kernel's name.
func containsKernelName(names map[string]bool, n kernelName) bool {
	if names[n.unqualified] {
		return true
	}
	rest, isDSL := strings.CutPrefix(n.unqualified, cuteDSLPrefix)
	for i := range len(rest) {
		if isDSL && rest[i] == '_' && names[rest[:i]] {
			return true
		}
	}
	return isDSL && names[rest]
}
