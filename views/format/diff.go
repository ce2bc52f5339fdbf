package format

import (
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// DiffKind is the kind of change of a line.
type DiffKind byte

const (
	DiffLineSame    DiffKind = ' '
	DiffLineAdded   DiffKind = '+'
	DiffLineRemoved DiffKind = '-'
	DiffLineFolded  DiffKind = '~' // a hidden run of equal lines
	DiffLineOmitted DiffKind = '!' // its Text describes the omitted lines
)

// Limits of the diffs of a page: a text of 1 MB may have a million lines.
const (
	maxComparedLines = 20_000 // lines of all texts together
	maxShownLines    = 5_000
)

// TextComparer compares several pairs of texts; the limits are for all pairs together.
type TextComparer struct{ comparedLines, shownLines int }

// DiffLine is one line of a diff. OldNumber and NewNumber are its numbers in the texts, from 1; 0 if only the other
// text has the line. A group of hidden lines has the numbers of its first line, and an empty Text.
type DiffLine struct {
	Kind                 DiffKind
	OldNumber, NewNumber int
	Text                 string
	HiddenLines          int // number of lines in a hidden group
}

// Diff compares two texts by lines and hides lines more than three lines away from every change. Equal texts give nil.
// Windows line ends, and a missing line end in the last line, count as equal.
func Diff(before, after string) []DiffLine { return new(TextComparer).Diff(before, after) }

// Diff compares one of several pairs of texts by lines, as the function Diff does for a single pair.
func (c *TextComparer) Diff(before, after string) []DiffLine {
	before, after = normalizeLineEnds(before), normalizeLineEnds(after)
	if before == after {
		return nil
	}
	if c.isTooLong(before, after) {
		return []DiffLine{{Kind: DiffLineOmitted, Text: tooLongText(before, after)}}
	}
	script := string(diff.Diff("", []byte(before), "", []byte(after)))
	r := diffReader{nextOldNumber: 1, nextNewNumber: 1}
	for i, text := range strings.Split(strings.TrimSuffix(script, "\n"), "\n") {
		if i >= diffHeaderLines {
			r.readDiff(text)
		}
	}
	r.hideEqualLines(strings.Count(before, "\n") + 1)
	lines := FirstLines(r.lines, max(maxShownLines-c.shownLines, 0))
	c.shownLines += len(lines)
	return lines
}

// FirstLines returns the first most lines of a diff, and a line with the number of the others.
func FirstLines(lines []DiffLine, most int) []DiffLine {
	if len(lines) <= most {
		return lines
	}
	return append(lines[:most:most], DiffLine{
		Kind: DiffLineOmitted,
		Text: fmt.Sprintf("%d more lines of the comparison are not shown", len(lines)-most),
	})
}

// Unified returns a unified diff of two files, or a sentence if they are too long.
func (c *TextComparer) Unified(nameA, before, nameB, after string) string {
	if before != after && c.isTooLong(before, after) {
		return fmt.Sprintf("--- %s\n+++ %s\n%s\n", nameA, nameB, tooLongText(before, after))
	}
	return string(diff.Diff(nameA, []byte(before), nameB, []byte(after)))
}

func (c *TextComparer) isTooLong(before, after string) bool {
	c.comparedLines += strings.Count(before, "\n") + strings.Count(after, "\n")
	return c.comparedLines > maxComparedLines
}

func tooLongText(before, after string) string {
	return fmt.Sprintf("They differ, and are too long to be compared: %d and %d lines", strings.Count(before, "\n"), strings.Count(after, "\n"))
}

// diffHeaderLines is the number of header lines of a unified diff.
const diffHeaderLines = 3

// normalizeLineEnds ends every line with only "\n".
func normalizeLineEnds(text string) string {
	text = strings.TrimSuffix(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	if text == "" {
		return ""
	}
	return text + "\n"
}

// diffReader converts a unified diff to numbered lines.
type diffReader struct {
	lines                        []DiffLine
	nextOldNumber, nextNewNumber int // numbers of the next lines
}

func (r *diffReader) readDiff(text string) {
	line := DiffLine{Kind: DiffKind(text[0]), OldNumber: r.nextOldNumber, NewNumber: r.nextNewNumber, Text: text[1:]}
	switch line.Kind {
	case '@':
		var a, b, count int
		if _, err := fmt.Sscanf(text, "@@ -%d,%d +%d,", &a, &count, &b); err == nil {
			r.hideEqualLines(a)
		}
		return
	case DiffLineAdded:
		line.OldNumber = 0
		r.nextNewNumber++
	case DiffLineRemoved:
		line.NewNumber = 0
		r.nextOldNumber++
	default:
		r.nextOldNumber++
		r.nextNewNumber++
	}
	r.lines = append(r.lines, line)
}

// hideEqualLines hides the equal lines before line a of the old text.
func (r *diffReader) hideEqualLines(a int) {
	if hidden := a - r.nextOldNumber; hidden > 0 {
		r.lines = append(r.lines, DiffLine{Kind: DiffLineFolded, OldNumber: r.nextOldNumber, NewNumber: r.nextNewNumber,
			HiddenLines: hidden})
		r.nextOldNumber += hidden
		r.nextNewNumber += hidden
	}
}
