package parse

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// AllowedHostFlags and AllowedNVCCFlags describe the allowed flags of g++ and nvcc for authors.
const (
	AllowedHostFlags = "-O…, -g…, -std=…, -D…, -U…, -l…, -w, -pthread, -pedantic, " +
		"and those -f…, -m… and -W… that touch no other file or program"
	AllowedNVCCFlags = "nvcc's own for generating code, such as -use_fast_math, -maxrregcount=… and -gencode=…, " +
		"-Xptxas=… and -Xnvlink=… without files, and, also in -Xcompiler=…, g++'s " + AllowedHostFlags
)

var (
	// hostFlagPattern matches candidates for allowed flags of g++; refusedHostFlagPattern excludes some.
	hostFlagPattern = regexp.MustCompile(`^(-O([0-3gsz]|fast)?|-g[0-3]?|-ggdb|-w|-pthread|-pedantic|--?std=[a-z0-9+]+|` +
		`-f[a-z0-9][a-z0-9=+:-]*|-m[a-z0-9][A-Za-z0-9=.+,-]*|-W[a-z][A-Za-z0-9=+-]*|-[DU][A-Za-z_][^\n]*|-l[A-Za-z0-9_][A-Za-z0-9_.+-]*)$`)
	// refusedHostFlagPattern matches those of hostFlagPattern that load code, write files, or name other programs.
	refusedHostFlagPattern = regexp.MustCompile(`^-(fplugin|fdump|fprofile|fopt-info|fcallgraph|ftest-coverage|fuse-ld|flto-|` +
		`fsave|frecord|fmodule|fcompare|ffile|fmacro|fdebug|fstack-usage|mno-stack-usage|fauto-profile|fbranch)`)

	// nvccFlagPattern matches allowed flags of nvcc itself.
	nvccFlagPattern = regexp.MustCompile(`^--?(use_fast_math|lineinfo|generate-line-info|device-debug|G|restrict|extra-device-vectorization|` +
		`ftz=(true|false)|fmad=(true|false)|prec-div=(true|false)|prec-sqrt=(true|false)|` +
		`expt-[a-z-]+|extended-lambda|relaxed-constexpr|maxrregcount=[0-9]+|` +
		`rdc=(true|false)|relocatable-device-code=(true|false)|dlto|lto|` +
		`(gencode|generate-code)=[a-z0-9_=,\[\]"]+|(arch|gpu-architecture|code|gpu-code)=[a-z0-9_,-]+|` +
		`default-stream=(legacy|per-thread|null)|default-stream-[a-z-]+|(diag-suppress|diag_suppress)=[0-9,]+|` +
		`split-compile=[0-9]+|split-compile-extended=[0-9]+|(t|threads)=[0-9]+|` +
		`forward-unknown-to-host-compiler|Wno-deprecated-gpu-targets|res-usage|disable-warnings)$`)
	// toolFlagPattern matches flags that nvcc passes to ptxas and nvlink.
	toolFlagPattern = regexp.MustCompile(`^-?-[A-Za-z][A-Za-z0-9_-]*(=[A-Za-z0-9_.-]+)?$`)
	// refusedToolFlagPattern matches those of toolFlagPattern that read or write other files.
	refusedToolFlagPattern = regexp.MustCompile(`^--?(o|output|input|options-file|optf|compile-as|library|L|l)`)

	// flagWithValuePattern matches flags whose value may be the next argument.
	flagWithValuePattern = regexp.MustCompile(`^--?(Xcompiler|compiler-options|Xptxas|ptxas-options|Xnvlink|nvlink-options|` +
		`gencode|generate-code|arch|gpu-architecture|code|gpu-code|maxrregcount|default-stream|diag-suppress|rdc|` +
		`relocatable-device-code|split-compile|t|threads|ftz|fmad|prec-div|prec-sqrt)$`)
)

// JoinedFlags iterates over flags by index, each joined with a value in the next argument, if any.
func JoinedFlags(cuda bool, flags []string) func(func(int, string) bool) {
	return func(yield func(int, string) bool) {
		for i := 0; i < len(flags); i++ {
			at, flag := i, flags[i]
			if cuda && flagWithValuePattern.MatchString(flag) && i+1 < len(flags) {
				i++
				flag += "=" + flags[i]
			}
			if !yield(at, flag) {
				return
			}
		}
	}
}

// RefusedFlag returns the reason why a task may not set a flag; "" if it may.
func RefusedFlag(cuda bool, flag string) string {
	switch {
	case !strings.HasPrefix(flag, "-"):
		return fmt.Sprintf("%q is not a flag; flags start with -", flag)
	case cuda && !isAllowedNVCCFlag(flag):
		return fmt.Sprintf("%q is not among the flags that a CUDA task may set: %s", flag, AllowedNVCCFlags)
	case !cuda && !isAllowedHostFlag(flag):
		return fmt.Sprintf("%q is not among the flags that a C++ task may set: %s", flag, AllowedHostFlags)
	}
	return ""
}

// isAllowedNVCCFlag reports whether a task may set a flag of nvcc. isAllowedHostFlag is for g++, and isAllowedToolFlag
// for ptxas and nvlink.
func isAllowedNVCCFlag(flag string) bool {
	name, value, _ := strings.Cut(strings.TrimLeft(flag, "-"), "=")
	switch name {
	case "Xcompiler", "compiler-options":
		return value != "" && !slices.ContainsFunc(strings.Split(value, ","), func(f string) bool { return !isAllowedHostFlag(f) })
	case "Xptxas", "ptxas-options", "Xnvlink", "nvlink-options":
		return value != "" && !slices.ContainsFunc(strings.Split(value, ","), func(f string) bool { return !isAllowedToolFlag(f) })
	}
	return nvccFlagPattern.MatchString(flag) || isAllowedHostFlag(flag)
}

func isAllowedHostFlag(flag string) bool {
	return hostFlagPattern.MatchString(flag) && !refusedHostFlagPattern.MatchString(flag)
}

func isAllowedToolFlag(flag string) bool {
	return toolFlagPattern.MatchString(flag) && !refusedToolFlagPattern.MatchString(flag)
}
