package diff

import (
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// Kind says what happened to a line.
type Kind byte

const (
	Same    Kind = ' '
	Added   Kind = '+'
	Removed Kind = '-'
	Folded  Kind = '~' // stands for a run of equal lines that is not shown
)

// Line is one line of two texts laid over each other. A and B are its numbers in the texts, from 1, and 0
// where it is in one of them only; of a folded run they are the first hidden line's, and Text is empty.
type Line struct {
	Kind   Kind
	A, B   int
	Text   string
	Hidden int // lines of a folded run
}

// Lines compares two texts line by line and folds what is more than three lines away from every change. Equal
// texts have none. Line ends of Windows, and a missing one at the end, make no difference.
func Lines(before, after string) []Line {
	before, after = normal(before), normal(after)
	script := string(diff.Diff("", []byte(before), "", []byte(after)))
	if script == "" {
		return nil
	}
	r := reader{nextA: 1, nextB: 1}
	for i, text := range strings.Split(strings.TrimSuffix(script, "\n"), "\n") {
		if i >= headLines {
			r.read(text)
		}
	}
	r.fold(strings.Count(before, "\n") + 1)
	return r.lines
}

// headLines are the names of the two texts, which a unified diff begins with.
const headLines = 3

// normal ends every line by "\n" alone.
func normal(text string) string {
	text = strings.TrimSuffix(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	if text == "" {
		return ""
	}
	return text + "\n"
}

// reader turns a unified diff back into lines with numbers.
type reader struct {
	lines        []Line
	nextA, nextB int // numbers of the lines that come next
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
