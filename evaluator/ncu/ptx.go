package ncu

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

const (
	// MaxPTX limits the PTX of one program, in bytes, because programs under the profiler can forge it.
	MaxPTX = 4 << 20
	// maxKernelPTX limits the stored PTX of one kernel, in bytes.
	maxKernelPTX  = 256 << 10
	maxPTXEntries = 2000
	// maxSignature limits demangled names to 2^maxSignature bytes, because each type in a name may double it.
	maxSignature = 14
)

// ptxEntry is one kernel in PTX. Parts that it shares with other kernels of its module are added only if it is stored,
// because a module may have thousands of kernels.
type ptxEntry struct {
	signature                                 string // demangled
	declaration, instructions, fileDirectives string
	blockSize                                 int // threads per block from .reqntid or .maxntid; 0 if absent
}

func (e ptxEntry) size() int { return len(e.declaration) + len(e.instructions) + len(e.fileDirectives) }

// text returns a complete PTX module, except for functions and variables that the kernel shares with others.
func (e ptxEntry) text() string { return e.declaration + "\n" + e.instructions + e.fileDirectives }

var (
	ptxEntryPattern     = regexp.MustCompile(`^\s*(?:\.(?:visible|weak)\s+)?\.entry\s+([\w$]+)`)
	ptxBlockSizePattern = regexp.MustCompile(`^\s*\.(?:req|max)ntid\s+(\d+)(?:\s*,\s*(\d+))?(?:\s*,\s*(\d+))?`)
	ptxFilePattern      = regexp.MustCompile(`^\s*\.file\s+(\d+)\s+"([^"]*)"`)
	ptxLocPattern       = regexp.MustCompile(`^\s*\.loc\s+(\d+)\s+(\d+)`)
	cCastPattern        = regexp.MustCompile(`\((?:unsigned )?(?:int|bool|char|short|long)\)`)
)

// AttachPTX assigns each kernel its part of the program's PTX, which has one or several modules. A kernel gets none if
// several parts match, such as the variants tried by an autotuner.
func (r *Report) AttachPTX(text string) {
	if len(text) == 0 {
		return
	}
	if len(text) >= MaxPTX {
		r.addWarning(fmt.Sprintf("The program has %d MB of PTX or more, which is not kept.", MaxPTX>>20))
		return
	}
	entries := map[string][]ptxEntry{}
	for _, e := range parsePTXKernels(text) {
		name := ShortName(e.signature)
		entries[name] = append(entries[name], e)
	}
	for i := range r.Kernels {
		k := &r.Kernels[i]
		if k.Source == nil {
			continue
		}
		switch found := k.matchingEntries(entries[k.ShortName]); {
		case len(found) > 1:
			r.addWarning(fmt.Sprintf("%d variants of %s were compiled; the report does not name the one that ran, so its PTX is left out.", len(found), k.ShortName))
		case len(found) == 1 && found[0].size() > maxKernelPTX:
			r.addWarning(fmt.Sprintf("The PTX of %s has more than %d kB and is left out.", k.ShortName, maxKernelPTX>>10))
		case len(found) == 1:
			k.Source.PTX = found[0].text()
		}
	}
}

// matchingEntries returns the entries that may be the kernel, by its name, signature, and block size.
func (k *Kernel) matchingEntries(entries []ptxEntry) []ptxEntry {
	keep := func(like func(ptxEntry) bool) {
		var kept []ptxEntry
		for _, e := range entries {
			if like(e) {
				kept = append(kept, e)
			}
		}
		if len(kept) > 0 {
			entries = kept
		}
	}
	signature, seen := normalizeSignature(k.Name), map[ptxEntry]bool{}
	keep(func(e ptxEntry) bool { return normalizeSignature(e.signature) == signature })
	keep(func(e ptxEntry) bool { return e.blockSize == k.BlockSize[0]*k.BlockSize[1]*k.BlockSize[2] })
	keep(func(e ptxEntry) bool { first := !seen[e]; seen[e] = true; return first })
	return entries
}

// normalizeSignature removes those parts of a signature that tools spell differently.
func normalizeSignature(s string) string {
	s = cCastPattern.ReplaceAllString(strings.TrimPrefix(s, "void "), "")
	return strings.NewReplacer(" ", "", "const", "", "<unnamed>::", "", "(anonymous namespace)::", "").Replace(s)
}

// parsePTXKernels returns the kernels in one or several PTX modules.
func parsePTXKernels(text string) []ptxEntry {
	var out []ptxEntry
	for i, module := range strings.Split("\n"+text, "\n.version") {
		if i > 0 {
			out = append(out, readModule(".version"+module)...)
		}
	}
	return out[:min(len(out), maxPTXEntries)]
}

func readModule(text string) []ptxEntry {
	var head, files strings.Builder
	var out []ptxEntry
	var body *strings.Builder
	depth := 0
lines:
	for line := range strings.Lines(text) {
		if body == nil {
			m := ptxEntryPattern.FindStringSubmatch(line)
			switch {
			case m != nil && len(out) == maxPTXEntries:
				break lines
			case m != nil:
				out = append(out, ptxEntry{signature: Demangle(m[1], maxSignature)})
				body, depth = &strings.Builder{}, 0
			case strings.HasPrefix(line, ".version"), strings.HasPrefix(line, ".target"), strings.HasPrefix(line, ".address_size"):
				head.WriteString(line)
			case ptxFilePattern.MatchString(line):
				files.WriteString(line)
			}
			if m == nil {
				continue
			}
		}
		body.WriteString(line)
		e := &out[len(out)-1]
		if m := ptxBlockSizePattern.FindStringSubmatch(line); m != nil && depth == 0 {
			e.blockSize = productOfNumbers(m[1:])
		}
		depth += strings.Count(line, "{") - strings.Count(line, "}")
		if depth == 0 && strings.Contains(line, "}") {
			e.instructions, body = body.String(), nil
		}
	}
	whole := out[:0]
	for _, e := range out {
		if e.instructions != "" { // the text of an entry without instructions is incomplete
			e.declaration, e.fileDirectives = head.String(), files.String()
			whole = append(whole, e)
		}
	}
	return whole
}

func productOfNumbers(numbers []string) int {
	all := 1
	for _, text := range numbers {
		if n, err := strconv.Atoi(text); err == nil {
			all *= n
		}
	}
	return all
}

// PTXLine is a line of PTX with the line of the source from which it was compiled; SourceLine is 0 if it is unknown.
type PTXLine struct {
	Number     int // line number in the text, from 1
	Text       string
	SourceFile string
	SourceLine int
}

// PTXLines returns the lines of the kernel's PTX, except those that only have source positions.
func (s *Source) PTXLines() []PTXLine {
	files := map[string]string{}
	for line := range strings.Lines(s.PTX) {
		if m := ptxFilePattern.FindStringSubmatch(line); m != nil {
			files[m[1]] = m[2]
		}
	}
	var out []PTXLine
	var at PTXLine
	for text := range strings.Lines(s.PTX) {
		at.Number++
		text = strings.TrimRight(text, "\r\n\t ")
		if m := ptxLocPattern.FindStringSubmatch(text); m != nil {
			at.SourceFile, at.SourceLine = files[m[1]], 0
			if n, err := strconv.Atoi(m[2]); err == nil && at.SourceFile != "" {
				at.SourceLine = n
			}
			continue
		}
		if text == "" || ptxFilePattern.MatchString(text) {
			continue
		}
		if at.Text = strings.ReplaceAll(text, "\t", "  "); !ptxInstruction(text) {
			out = append(out, PTXLine{Number: at.Number, Text: at.Text})
			continue
		}
		out = append(out, at)
	}
	return out
}

// ptxInstruction reports whether a line of PTX is an instruction.
func ptxInstruction(line string) bool {
	line = strings.TrimSpace(line)
	return strings.HasSuffix(line, ";") && !strings.HasPrefix(line, ".") && !strings.HasPrefix(line, "//")
}
