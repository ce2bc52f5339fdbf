package diff

import (
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// Kind is the kind of change of a line.
type Kind byte

const (
	Same    Kind = ' '
	Added   Kind = '+'
	Removed Kind = '-'
	Folded  Kind = '~' // a hidden run of equal lines
	Cut     Kind = '!' // its Text describes the omitted lines
)

// Limits of the diffs of a page: a text of 1 MB may have a million lines.
const (
	mostCompared = 20_000 // lines of all texts together
	mostShown    = 5_000
)

// Comparison compares several pairs of texts within these limits.
type Comparison struct{ compared, shown int }

// Line is one line of a diff. A and B are its numbers in the texts, from 1, or 0 if only the other text has it. A
// folded run has the numbers of its first hidden line, and an empty Text.
type Line struct {
	Kind   Kind
	A, B   int
	Text   string
	Hidden int // lines of a folded run
}

// Lines compares two texts line by line and folds lines more than three lines away from every change. Equal texts have
// none. Windows line ends, and a missing one at the end, make no difference.
func Lines(before, after string) []Line { return new(Comparison).Lines(before, after) }

// Lines is the function Lines, for one of several pairs.
func (c *Comparison) Lines(before, after string) []Line {
	before, after = normal(before), normal(after)
	if before == after {
		return nil
	}
	if c.tooLong(before, after) {
		return []Line{{Kind: Cut, Text: tooLongText(before, after)}}
	}
	script := string(diff.Diff("", []byte(before), "", []byte(after)))
	r := reader{nextA: 1, nextB: 1}
	for i, text := range strings.Split(strings.TrimSuffix(script, "\n"), "\n") {
		if i >= headLines {
			r.read(text)
		}
	}
	r.fold(strings.Count(before, "\n") + 1)
	lines := First(r.lines, max(mostShown-c.shown, 0))
	c.shown += len(lines)
	return lines
}

// First returns the first lines of a diff, and a line with the number of the others.
func First(lines []Line, most int) []Line {
	if len(lines) <= most {
		return lines
	}
	return append(lines[:most:most], Line{Kind: Cut, Text: fmt.Sprintf("%d more lines of the comparison are not shown", len(lines)-most)})
}

// Unified returns a unified diff of two files, or a sentence if they are too long.
func (c *Comparison) Unified(nameA, before, nameB, after string) string {
	if before != after && c.tooLong(before, after) {
		return fmt.Sprintf("--- %s\n+++ %s\n%s\n", nameA, nameB, tooLongText(before, after))
	}
	return string(diff.Diff(nameA, []byte(before), nameB, []byte(after)))
}

func (c *Comparison) tooLong(before, after string) bool {
	c.compared += strings.Count(before, "\n") + strings.Count(after, "\n")
	return c.compared > mostCompared
}

func tooLongText(before, after string) string {
	return fmt.Sprintf("They differ, and are too long to be compared: %d and %d lines", strings.Count(before, "\n"), strings.Count(after, "\n"))
}

// headLines is the number of header lines in a unified diff.
const headLines = 3

// normal ends every line with only "\n".
func normal(text string) string {
	text = strings.TrimSuffix(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	if text == "" {
		return ""
	}
	return text + "\n"
}

// reader converts a unified diff back to numbered lines.
type reader struct {
	lines        []Line
	nextA, nextB int // numbers of the next lines
}

func (r *reader) read(text string) {
	line := Line{Kind: Kind(text[0]), A: r.nextA, B: r.nextB, Text: text[1:]}
	switch line.Kind {
	case '@':
		var a, b, count int
		if _, err := fmt.Sscanf(text, "@@ -%d,%d +%d,", &a, &count, &b); err == nil {
			r.fold(a)
		}
		return
	case Added:
		line.A = 0
		r.nextB++
	case Removed:
		line.B = 0
		r.nextA++
	default:
		r.nextA++
		r.nextB++
	}
	r.lines = append(r.lines, line)
}

// fold hides the equal lines before line a of the first text.
func (r *reader) fold(a int) {
	if hidden := a - r.nextA; hidden > 0 {
		r.lines = append(r.lines, Line{Kind: Folded, A: r.nextA, B: r.nextB, Hidden: hidden})
		r.nextA += hidden
		r.nextB += hidden
	}
}
