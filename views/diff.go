package views

import (
	"slices"
	"strings"
)

// DiffLine is one line of two texts laid over each other.
type DiffLine struct {
	Mark byte // '-' only in the old text, '+' only in the new one, ' ' in both, '~' where lines are left out
	Text string
}

const (
	diffContext = 3       // lines kept around each change
	diffCells   = 4 << 20 // size of the table from which middles are not compared any more
)

// DiffLines compares two texts line by line and leaves out what is far from any change.
func DiffLines(before, after string) []DiffLine {
	return withoutFar(overlay(splitLines(before), splitLines(after)))
}

func splitLines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// overlay lays b over a: what they begin and end with is common, the middle is compared.
func overlay(a, b []string) []DiffLine {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	return slices.Concat(
		marked(' ', a[:head]),
		middle(a[head:len(a)-tail], b[head:len(b)-tail]),
		marked(' ', a[len(a)-tail:]),
	)
}

// middle finds the longest common subsequence by a table of its lengths.
func middle(a, b []string) []DiffLine {
	if len(a)*len(b) > diffCells {
		return append(marked('-', a), marked('+', b)...)
	}
	width := len(b) + 1
	longest := make([]int, (len(a)+1)*width) // of a[i:] and b[j:]
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				longest[i*width+j] = longest[(i+1)*width+j+1] + 1
			} else {
				longest[i*width+j] = max(longest[(i+1)*width+j], longest[i*width+j+1])
			}
		}
	}
	var lines []DiffLine
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] == b[j]:
			lines = append(lines, DiffLine{' ', a[i]})
			i, j = i+1, j+1
		case longest[(i+1)*width+j] >= longest[i*width+j+1]:
			lines = append(lines, DiffLine{'-', a[i]})
			i++
		default:
			lines = append(lines, DiffLine{'+', b[j]})
			j++
		}
	}
	return slices.Concat(lines, marked('-', a[i:]), marked('+', b[j:]))
}

func marked(mark byte, texts []string) []DiffLine {
	lines := make([]DiffLine, len(texts))
	for i, text := range texts {
		lines[i] = DiffLine{mark, text}
	}
	return lines
}

// diffGap marks lines that were left out.
const diffGap = '~'

// withoutFar keeps the changes with a few lines around them.
func withoutFar(lines []DiffLine) []DiffLine {
	keep := make([]bool, len(lines))
	for i, line := range lines {
		if line.Mark == ' ' {
			continue
		}
		for k := max(i-diffContext, 0); k <= min(i+diffContext, len(lines)-1); k++ {
			keep[k] = true
		}
	}
	var near []DiffLine
	for i, line := range lines {
		switch {
		case keep[i]:
			near = append(near, line)
		case len(near) > 0 && near[len(near)-1].Mark != diffGap:
			near = append(near, DiffLine{Mark: diffGap})
		}
	}
	if n := len(near); n > 0 && near[n-1].Mark == diffGap {
		near = near[:n-1]
	}
	return near
}
