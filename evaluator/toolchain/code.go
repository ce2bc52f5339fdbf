package toolchain

import (
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/ianlancetaylor/demangle"

	"warpboard/evaluator/ncu"
)

// Limits for a listing: its lines, the bytes of each line that are read and shown, and the size of a demangled symbol
// as a power of two.
const (
	maxCodeLines  = 2000
	maxParsedLine = 16 << 10
	maxCodeLine   = 400
	maxSymbolBits = 10
)

// CodeLine is a line of assembly with its line in the source file; 0 if it belongs to none, or to another file.
type CodeLine struct {
	Text string `json:"text"`
	Line int    `json:"line"`
}

var (
	// Source positions in the output of gas and ptxas: .file 1 "/in" "kernel.cpp", and .loc 1 7 5.
	fileDirectivePattern = regexp.MustCompile(`^\s*\.file\s+(\d+)\s+(?:"[^"]*"\s+)?"([^"]*)"`)
	locDirectivePattern  = regexp.MustCompile(`^\s*\.loc\s+(\d+)\s+(\d+)`)
	// Source positions in the output of nvdisasm.
	sassPositionPattern    = regexp.MustCompile(`^\s*//## File "([^"]*)", line (\d+)`)
	sassInstructionPattern = regexp.MustCompile(`^\s*/\*[0-9a-f]{4,}\*/\s+(.*?)\s*;?\s*(?:/\*.*)?$`)
	sassKernelPattern      = regexp.MustCompile(`^\.text\.(\S+):`)
	localLabelPattern      = regexp.MustCompile(`\.L\w+`)
	mangledNamePattern     = regexp.MustCompile(`\b_Z\w+`)
)

// codeListing collects the lines of a listing, up to a limit.
type codeListing struct {
	sourceFile  string
	fileNumbers map[string]string
	currentLine int
	codeLines   []CodeLine
}

// newListing first reads the names of files, which ptxas writes at the end.
func newListing(text, file string) *codeListing {
	l := &codeListing{sourceFile: file, fileNumbers: map[string]string{}}
	for line := range strings.Lines(text) {
		if m := fileDirectivePattern.FindStringSubmatch(line); m != nil {
			l.fileNumbers[m[1]] = path.Base(m[2])
		}
	}
	return l
}

// readPosition reports whether a line only has a source position, which it stores for the following lines.
func (l *codeListing) readPosition(text string) bool {
	if fileDirectivePattern.MatchString(text) {
		return true
	}
	if m := locDirectivePattern.FindStringSubmatch(text); m != nil {
		l.setPosition(l.fileNumbers[m[1]], m[2])
		return true
	}
	if m := sassPositionPattern.FindStringSubmatch(text); m != nil {
		l.setPosition(path.Base(m[1]), m[2])
		return true
	}
	return false
}

func (l *codeListing) setPosition(file, number string) {
	l.currentLine = 0
	if n, err := strconv.Atoi(number); err == nil && file == l.sourceFile {
		l.currentLine = n
	}
}

func (l *codeListing) add(text string, line int) {
	if l.isFull() {
		return
	}
	text = mangledNamePattern.ReplaceAllStringFunc(text[:min(len(text), maxParsedLine)], func(symbol string) string {
		return ncu.Demangle(symbol, maxSymbolBits, demangle.NoRust)
	})
	l.codeLines = append(l.codeLines, CodeLine{strings.ToValidUTF8(text[:min(len(text), maxCodeLine)], ""), line})
}

func (l *codeListing) isFull() bool { return len(l.codeLines) == maxCodeLines }

// readPTXListing returns the lines of a PTX text, except those that only have source positions.
func readPTXListing(text, file string) []CodeLine {
	l := newListing(text, file)
	for line := range strings.Lines(text) {
		line = strings.TrimRight(strings.ReplaceAll(line, "\t", "  "), "\r\n ")
		bare := strings.TrimSpace(line)
		switch {
		case l.isFull():
			return l.codeLines
		case l.readPosition(line) || bare == "" || strings.HasPrefix(bare, "//"):
		case strings.HasSuffix(bare, ";") && !strings.HasPrefix(bare, "."):
			l.add(line, l.currentLine)
		case strings.HasPrefix(bare, ".section"):
			return l.codeLines // the rest is only debug information
		default:
			l.add(line, 0)
		}
	}
	return l.codeLines
}

// readSASSListing returns the kernels, labels, and instructions of nvdisasm's output.
func readSASSListing(text, file string) []CodeLine {
	l := newListing(text, file)
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n\t ")
		if l.isFull() {
			return l.codeLines
		}
		if l.readPosition(line) {
			continue
		}
		if m := sassKernelPattern.FindStringSubmatch(line); m != nil {
			l.currentLine = 0
			l.add(m[1]+":", 0)
		} else if m := sassInstructionPattern.FindStringSubmatch(line); m != nil && m[1] != "" {
			l.add("  "+m[1], l.currentLine)
		} else if strings.HasPrefix(line, ".L_") && strings.HasSuffix(line, ":") {
			l.add(line, 0)
		}
	}
	return l.codeLines
}

// readX86Assembly returns the functions in g++'s assembly that contain code of the file: their instructions, and the
// labels in use. It omits data, and functions that come only from headers.
func readX86Assembly(text, file string) []CodeLine {
	l, used := newListing(text, file), map[string]bool{}
	var function []CodeLine
	end := func() {
		for _, c := range function {
			if c.Line > 0 {
				for _, c := range function {
					if !strings.HasPrefix(c.Text, ".L") || used[strings.TrimSuffix(c.Text, ":")] {
						l.add(c.Text, c.Line)
					}
				}
				break
			}
		}
		function, l.currentLine = nil, 0
	}
	for line := range strings.Lines(text) {
		bare := strings.TrimSpace(line)
		switch {
		case l.isFull():
			return l.codeLines
		case l.readPosition(line) || bare == "" || len(function) > maxCodeLines: // no code, or above the limit
		case strings.HasSuffix(bare, ":"):
			if !strings.HasPrefix(bare, ".L") {
				end()
			}
			function = append(function, CodeLine{Text: bare})
		case !strings.HasPrefix(bare, ".") && !strings.HasPrefix(bare, "#"):
			for _, label := range localLabelPattern.FindAllString(bare, -1) {
				used[label] = true
			}
			function = append(function, CodeLine{"  " + strings.ReplaceAll(bare, "\t", " "), l.currentLine})
		}
	}
	end()
	return l.codeLines
}
