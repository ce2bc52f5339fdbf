package parse

import (
	"errors"
	"fmt"
	"strings"
)

// Problem is one error in an upload, with what its author needs for correcting it.
type Problem struct {
	File    string // path inside the upload; empty for the whole upload
	Line    int    // from 1; 0 if it is not about a line
	Key     string // "files[2].source"; empty if it is not about a key
	Message string // a sentence
}

// Error returns "file:line: key: message", without unknown parts.
func (p Problem) Error() string {
	var b strings.Builder
	b.WriteString(p.File)
	switch {
	case p.Line > 0 && p.File == "":
		fmt.Fprintf(&b, "Line %d", p.Line)
	case p.Line > 0:
		fmt.Fprintf(&b, ":%d", p.Line)
	}
	if p.Key != "" {
		writeSeparator(&b)
		b.WriteString(p.Key)
	}
	writeSeparator(&b)
	b.WriteString(p.Message)
	return b.String()
}

func writeSeparator(b *strings.Builder) {
	if b.Len() > 0 {
		b.WriteString(": ")
	}
}

// Problems are all problems found by one reading; AsError returns them as an error.
type Problems []Problem

// Error returns one line for each problem.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

// ProblemsFromError returns the problems in err for a page to list; nil if err is another error, such as a failing
// disk.
func ProblemsFromError(err error) []Problem {
	var many Problems
	if errors.As(err, &many) {
		return many
	}
	var one Problem
	if errors.As(err, &one) {
		return []Problem{one}
	}
	return nil
}

// maxProblems limits the problems of one reading that are reported.
const maxProblems = 50

// Add appends p; after maxProblems it does nothing.
func (ps *Problems) Add(p Problem) {
	if len(*ps) < maxProblems {
		*ps = append(*ps, p)
	}
}

// AsError returns the problems as an error, or nil if there are none.
func (ps Problems) AsError() error {
	if len(ps) == 0 {
		return nil
	}
	return ps
}

// SizeText formats a number of bytes for a sentence.
func SizeText(n int64) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	default:
		return fmt.Sprintf("%d bytes", n)
	}
}
