package tasks

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Compile flags come from task creators and reach a compiler that reads files and starts
// programs. The sandbox bounds what that can do; here only what tunes code generation, warnings
// and definitions passes.
var (
	// hostFlag passes what a g++ of its own may be given.
	hostFlag = regexp.MustCompile(`^(-O([0-3gsz]|fast)?|-g[0-3]?|-ggdb|-w|-pthread|-pedantic|--?std=[a-z0-9+]+|` +
		`-f[a-z0-9][a-z0-9=+:-]*|-m[a-z0-9][A-Za-z0-9=.+,-]*|-W[a-z][A-Za-z0-9=+-]*|-[DU][A-Za-z_][^\n]*|-l[A-Za-z0-9_][A-Za-z0-9_.+-]*)$`)
	// hostRefused are the flags among those that load code, write files or name other programs.
	hostRefused = regexp.MustCompile(`^-(fplugin|fdump|fprofile|fopt-info|fcallgraph|ftest-coverage|fuse-ld|flto-|` +
		`fsave|frecord|fmodule|fcompare|ffile|fmacro|fdebug|fstack-usage|mno-stack-usage|fauto-profile|fbranch)`)

	// deviceFlag passes what nvcc knows itself.
	deviceFlag = regexp.MustCompile(`^--?(use_fast_math|lineinfo|generate-line-info|device-debug|G|restrict|extra-device-vectorization|` +
		`ftz=(true|false)|fmad=(true|false)|prec-div=(true|false)|prec-sqrt=(true|false)|` +
		`expt-[a-z-]+|extended-lambda|relaxed-constexpr|maxrregcount=[0-9]+|` +
		`rdc=(true|false)|relocatable-device-code=(true|false)|dlto|lto|` +
		`(gencode|generate-code)=[a-z0-9_=,\[\]"]+|(arch|gpu-architecture|code|gpu-code)=[a-z0-9_,-]+|` +
		`default-stream=(legacy|per-thread|null)|default-stream-[a-z-]+|(diag-suppress|diag_suppress)=[0-9,]+|` +
		`split-compile=[0-9]+|split-compile-extended=[0-9]+|(t|threads)=[0-9]+|` +
		`forward-unknown-to-host-compiler|Wno-deprecated-gpu-targets|res-usage|disable-warnings)$`)
	// toolFlag passes what nvcc hands to ptxas and nvlink.
	toolFlag = regexp.MustCompile(`^-?-[A-Za-z][A-Za-z0-9_-]*(=[A-Za-z0-9_.-]+)?$`)
	// toolRefused are the flags among those that read or write other files.
	toolRefused = regexp.MustCompile(`^--?(o|output|input|options-file|optf|compile-as|library|L|l)`)

	// takesValue are the flags whose value may follow as an argument of its own.
	takesValue = regexp.MustCompile(`^--?(Xcompiler|compiler-options|Xptxas|ptxas-options|Xnvlink|nvlink-options|` +
		`gencode|generate-code|arch|gpu-architecture|code|gpu-code|maxrregcount|default-stream|diag-suppress|rdc|` +
		`relocatable-device-code|split-compile|t|threads|ftz|fmad|prec-div|prec-sqrt)$`)
)

const (
	flagsKey = "config.compile_flags"

	// hostAllowed and deviceAllowed tell an author in short what the rules let pass.
	hostAllowed = "-O…, -g…, -std=…, -D…, -U…, -l…, -w, -pthread, -pedantic, " +
		"and those -f…, -m… and -W… that touch no other file or program"
	deviceAllowed = "nvcc's own for generating code, such as -use_fast_math, -maxrregcount=… and -gencode=…, " +
		"-Xptxas=… and -Xnvlink=… without files, and, also in -Xcompiler=…, g++'s " + hostAllowed
)

// CheckFlags checks the compile_flags of a task in lang for the compiler that builds it, and returns
// them with every flag and its value in one argument. Its error is the Problem of the first flag that
// a task may not set.
func CheckFlags(lang Lang, flags []string) ([]string, error) {
	var checked []string
	for i, flag := range withValues(lang, flags) {
		if refused := refusedFlag(lang, flag); refused != "" {
			return nil, Problem{Key: index(flagsKey, i), Message: refused}
		}
		checked = append(checked, flag)
	}
	return checked, nil
}

// withValues walks flags by their index, each together with a value that follows as an argument of its own.
func withValues(lang Lang, flags []string) func(func(int, string) bool) {
	return func(yield func(int, string) bool) {
		for i := 0; i < len(flags); i++ {
			at, flag := i, flags[i]
			if lang == LangCUDA && takesValue.MatchString(flag) && i+1 < len(flags) {
				i++
				flag += "=" + flags[i]
			}
			if !yield(at, flag) {
				return
			}
		}
	}
}

// refusedFlag says why a task in lang may not set a flag, or "" if it may.
func refusedFlag(lang Lang, flag string) string {
	switch {
	case !strings.HasPrefix(flag, "-"):
		return fmt.Sprintf("%q is not a flag; flags start with -", flag)
	case lang == LangCUDA && !allowedDevice(flag):
		return fmt.Sprintf("%q is not among the flags that a CUDA task may set: %s", flag, deviceAllowed)
	case lang != LangCUDA && !allowedHost(flag):
		return fmt.Sprintf("%q is not among the flags that a C++ task may set: %s", flag, hostAllowed)
	}
	return ""
}

// allowedDevice tells what nvcc may be given, allowedHost what g++, and allowedTool what nvcc's ptxas and nvlink.
func allowedDevice(flag string) bool {
	name, value, _ := strings.Cut(strings.TrimLeft(flag, "-"), "=")
	switch name {
	case "Xcompiler", "compiler-options":
		return value != "" && !slices.ContainsFunc(strings.Split(value, ","), func(f string) bool { return !allowedHost(f) })
	case "Xptxas", "ptxas-options", "Xnvlink", "nvlink-options":
		return value != "" && !slices.ContainsFunc(strings.Split(value, ","), func(f string) bool { return !allowedTool(f) })
	}
	return deviceFlag.MatchString(flag) || allowedHost(flag)
}

func allowedHost(flag string) bool {
	return hostFlag.MatchString(flag) && !hostRefused.MatchString(flag)
}

func allowedTool(flag string) bool {
	return toolFlag.MatchString(flag) && !toolRefused.MatchString(flag)
}

var (
	identifier  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	libraryName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.+-]*$`)
	deviceName  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9 ._+-]{0,31}$`)
	driveLetter = regexp.MustCompile(`^[A-Za-z]:`)
)

const (
	maxName      = 240 // bytes of a path
	maxPathDepth = 12
)

// refusedName says why name cannot be the slash-separated path of a file, or "" if it can.
func refusedName(name string) string {
	switch {
	case name == "":
		return "has an empty name"
	case !utf8.ValidString(name):
		return "has a name that is not UTF-8"
	case strings.ContainsFunc(name, func(c rune) bool { return unicode.IsControl(c) || unicode.Is(unicode.Bidi_Control, c) }):
		return "has a control character in its name"
	case strings.Contains(name, `\`):
		return "has a backslash in its name; folders are separated by /"
	case strings.HasPrefix(name, "/") || driveLetter.MatchString(name):
		return "has an absolute path"
	case len(name) > maxName:
		return "has a name longer than 240 bytes"
	case strings.Count(name, "/") >= maxPathDepth:
		return "lies deeper than 12 folders"
	}
	for part := range strings.SplitSeq(name, "/") {
		switch {
		case part == "..":
			return "points outside the archive (..)"
		case part == "" || part == ".":
			return "has an empty or . part in its path"
		case strings.HasPrefix(part, "-"):
			return "has a name that starts with -, which programs take for an option"
		}
	}
	return ""
}

// IsLibraryName reports whether -lNAME names a library and nothing else.
func IsLibraryName(name string) bool { return libraryName.MatchString(name) }

// IsIdentifier reports whether -DNAME defines a name and nothing else.
func IsIdentifier(name string) bool { return identifier.MatchString(name) }

// stem is a path's last element without its suffix.
func stem(name string) string {
	base := path.Base(name)
	return strings.TrimSuffix(base, path.Ext(base))
}

// fold makes names equal that a case-insensitive disk would hold in one file.
func fold(name string) string { return strings.ToLower(strings.ToUpper(name)) }
