package origin

import (
	"regexp"
	"strings"
)

// longestHead bounds the declaration of a kernel in C++, in bytes.
const longestHead = 2000

var (
	// called is a name before a parenthesis, perhaps with template arguments between them.
	called = regexp.MustCompile(`([A-Za-z_]\w*)\s*(?:<[^<>(){};]*>\s*)?\(`)
	// decorated is a function of Python that a compiler of kernels gets: @triton.jit, @gluon.jit, @cuda.jit, @cute.kernel.
	decorated = regexp.MustCompile(`(?m)^[ \t]*@[^\n]*\b(?:jit|kernel)\b[^\n]*\n(?:[ \t]*(?:[@#][^\n]*)?\r?\n)*[ \t]*def[ \t]+(\w+)`)
)

// declared are the names of the kernels that files declare: __global__ functions, also inside strings of Python, and functions
// with a decorator. Comments count, too: it is read as text.
func declared(files map[string][]byte) map[string]bool {
	names := map[string]bool{}
	for _, text := range files {
		for _, found := range decorated.FindAllSubmatch(text, -1) {
			names[string(found[1])] = true
		}
		_, rest, more := strings.Cut(string(text), "__global__")
		for more {
			var head string
			head, rest, more = strings.Cut(rest, "__global__")
			head = head[:min(len(head), longestHead)]
			if end := strings.IndexAny(head, "{;"); end >= 0 {
				head = head[:end]
			}
			if name := firstCalled(head); name != "" {
				names[name] = true
			}
		}
	}
	return names
}

// firstCalled is the function that is declared behind __global__. Attributes like __launch_bounds__(min(256, N)) may be before it.
func firstCalled(head string) string {
	for _, at := range called.FindAllStringSubmatchIndex(head, -1) {
		name, before := head[at[2]:at[3]], head[:at[2]]
		if !strings.HasPrefix(name, "__") && strings.Count(before, "(") == strings.Count(before, ")") {
			return name
		}
	}
	return ""
}

// cuteDSL begins the names of kernels that CuTe DSL compiles: the function's name and its arguments' types follow.
const cuteDSL = "kernel_cutlass_"

// declares reports whether a kernel is one of these names.
func declares(names map[string]bool, n name) bool {
	if names[n.base] {
		return true
	}
	rest, isDSL := strings.CutPrefix(n.base, cuteDSL)
	for i := range len(rest) {
		if isDSL && rest[i] == '_' && names[rest[:i]] {
			return true
		}
	}
	return isDSL && names[rest]
}
