package profiling

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/ianlancetaylor/demangle"

	"warpboard/evaluator/job"
	"warpboard/evaluator/ncu"
)

const (
	// maxKernelName limits a stored kernel name, in bytes. Names in ATen and CUTLASS can have thousands.
	maxKernelName = 160
	// maxParsedName limits the part of a name that is parsed, in bytes, and maxSignatureBits a demangled name, to
	// 2^maxSignatureBits bytes.
	maxParsedName, maxSignatureBits = 16 << 10, 14
)

// cCastPattern matches the casts that ncu prints before numbers in template arguments.
var cCastPattern = regexp.MustCompile(`\((?:unsigned )?(?:int|bool|char|short|long)\)`)

// kernelName is a kernel's name in parts.
type kernelName struct {
	signature   string // demangled signature
	display     string // without return type and parameters
	qualified   string // also without template arguments
	unqualified string // also without namespaces
}

func parseKernelName(printed string) kernelName {
	whole := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(printed[:min(len(printed), maxParsedName)], ""))
	if strings.HasPrefix(whole, "_Z") {
		whole = ncu.Demangle(whole, maxSignatureBits, demangle.NoRust)
	}
	whole = strings.NewReplacer("(anonymous namespace)::", "", "<unnamed>::", "").Replace(strings.TrimSpace(whole))
	n := kernelName{signature: whole}
	var shown string
	shown, n.qualified = functionOf(whole)
	n.display = job.MarkBidiControls(job.ShortenText(cCastPattern.ReplaceAllString(shown, ""), maxKernelName))
	n.unqualified = n.qualified[strings.LastIndex(n.qualified, "::")+1:]
	n.unqualified = strings.TrimPrefix(n.unqualified, ":")
	return n
}

// functionOf returns the function name of a signature with template arguments (shown) and without (qualified). It
// returns other texts unchanged.
func functionOf(signature string) (shown, qualified string) {
	var plain strings.Builder
	start, depth := 0, 0
scan:
	for i := range len(signature) {
		c := signature[i]
		switch {
		case c == '<':
			depth++
		case c == '>':
			if depth--; depth < 0 {
				return signature, signature
			}
		case depth > 0:
		case c == '(' && i > start:
			signature = signature[:i]
			break scan
		case c == ' ': // the part before the space was a return type
			start = i + 1
			plain.Reset()
		default:
			plain.WriteByte(c)
		}
	}
	if depth != 0 || plain.Len() == 0 {
		return signature, signature
	}
	return signature[start:], plain.String()
}
