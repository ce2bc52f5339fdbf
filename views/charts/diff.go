package charts

import "strings"

// DiffKind says what happened to a line.
type DiffKind byte

const (
	DiffSame    DiffKind = ' '
	DiffAdded   DiffKind = '+'
	DiffRemoved DiffKind = '-'
	DiffSkipped DiffKind = '~' // a run of equal lines that is not shown
)

// DiffLine is one line of a unified diff. A and B are line numbers from 1, 0 where the line is not
// in that text; on a skipped run they are the first hidden line, and Text is empty.
type DiffLine struct {
	Kind DiffKind
	A, B int
	Text string
	Hide int // lines hidden, of a skipped run
}

// most edits that Diff looks for: beyond that the texts are strangers, and a line-by-line script
// would cost quadratic memory to say so.
const mostEdits = 1000

// Diff compares two texts line by line with Myers' algorithm and keeps context equal lines around
// each change. It returns nil for equal texts.
func Diff(a, b string, context int) []DiffLine {
	if a == b {
		return nil
	}
	x, y := lines(a), lines(b)
	return fold(script(x, y), context)
}

func lines(s string) []string {
	s = strings.TrimSuffix(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	if s == "" {
		return nil
	}
	return strings.Split(s, "\n")
}

// script returns every line of both texts, marked.
func script(a, b []string) []DiffLine {
	trace, found := shortest(a, b)
	if !found {
		return replaceAll(a, b)
	}
	var back []DiffLine
	x, y := len(a), len(b)
	for d := len(trace) - 1; d >= 0; d-- {
		prevX, prevY := previous(trace[d], d, x-y)
		for x > prevX && y > prevY {
			back = append(back, DiffLine{Kind: DiffSame, A: x, B: y, Text: a[x-1]})
			x, y = x-1, y-1
		}
		if d == 0 {
			break
		}
		if x == prevX {
			back = append(back, DiffLine{Kind: DiffAdded, B: y, Text: b[y-1]})
		} else {
			back = append(back, DiffLine{Kind: DiffRemoved, A: x, Text: a[x-1]})
		}
		x, y = prevX, prevY
	}
	for i, j := 0, len(back)-1; i < j; i, j = i+1, j-1 {
		back[i], back[j] = back[j], back[i]
	}
	return back
}

// shortest finds the least number of edits. trace[d] holds the furthest x on each diagonal
// -d…d before step d, offset by d.
func shortest(a, b []string) (trace [][]int32, found bool) {
	limit := min(len(a)+len(b), mostEdits)
	v := make([]int32, 2*limit+3)
	mid := limit + 1
	for d := 0; d <= limit; d++ {
		trace = append(trace, append([]int32(nil), v[mid-d:mid+d+1]...))
		for k := -d; k <= d; k += 2 {
			var x int
			if k == -d || k != d && v[mid+k-1] < v[mid+k+1] {
				x = int(v[mid+k+1])
			} else {
				x = int(v[mid+k-1]) + 1
			}
			for x < len(a) && x-k < len(b) && a[x] == b[x-k] {
				x++
			}
			v[mid+k] = int32(x)
			if x >= len(a) && x-k >= len(b) {
				return trace, true
			}
		}
	}
	return nil, false
}

// previous returns where step d came from to reach diagonal k.
func previous(row []int32, d, k int) (x, y int) {
	if d == 0 {
		return 0, 0
	}
	at := func(k int) int {
		if k < -d || k > d {
			return -1
		}
		return int(row[k+d])
	}
	if k == -d || k != d && at(k-1) < at(k+1) {
		return at(k + 1), at(k+1) - (k + 1)
	}
	return at(k - 1), at(k-1) - (k - 1)
}

func replaceAll(a, b []string) []DiffLine {
	out := make([]DiffLine, 0, len(a)+len(b))
	for i, l := range a {
		out = append(out, DiffLine{Kind: DiffRemoved, A: i + 1, Text: l})
	}
	for i, l := range b {
		out = append(out, DiffLine{Kind: DiffAdded, B: i + 1, Text: l})
	}
	return out
}

// fold hides equal lines further than context from any change.
func fold(all []DiffLine, context int) []DiffLine {
	near := make([]bool, len(all))
	for i, l := range all {
		if l.Kind == DiffSame {
			continue
		}
		for j := max(0, i-context); j <= min(len(all)-1, i+context); j++ {
			near[j] = true
		}
	}
	var out []DiffLine
	for i, l := range all {
		switch {
		case near[i]:
			out = append(out, l)
		case len(out) > 0 && out[len(out)-1].Kind == DiffSkipped:
			out[len(out)-1].Hide++
		default:
			out = append(out, DiffLine{Kind: DiffSkipped, A: l.A, B: l.B, Hide: 1})
		}
	}
	return out
}
