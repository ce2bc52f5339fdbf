package charts

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"

	"warpboard/evaluator/job"
	"warpboard/evaluator/ncu"
	"warpboard/evaluator/versus"
	"warpboard/views/diff"
	"warpboard/views/format"
)

// CompareVM is the comparison of two runs.
type CompareVM struct {
	A, B    Side
	Finding versus.Finding
	Ranking string // the rule of the score, in words; empty if the runs belong to different tasks or versions
	// SameSource: then every difference comes from chance or conditions, not from the kernel.
	SameSource bool
	// BoardNS are the scores of both on the board, where these differ clearly and are not those of the two runs alone; else 0.
	BoardNS    [2]float64
	Conditions string // what else differs, in a sentence
	Files      []FileDiff
	// NoCode says in a sentence why this reader does not see both sources; empty when they may.
	NoCode string
	// SASS are the kernels' instructions, for who may see both sources.
	SASS    []FileDiff
	Path    string // the page's own, with both runs
	Case    int    // whose profiles are compared
	Cases   []CaseTab
	Because *ncu.Because // what explains the difference under the profiler; nil: nothing to explain
	// Pairs are the kernels side by side, from ncu.Compare; empty shows NoProfile instead.
	Pairs     []ncu.Pair
	NoProfile string // which side has no kernels to compare and why, in a sentence; empty: neither has
	JSON      string // URLs of the same data
	CSV       string
}

// Side is one of the two runs.
type Side struct {
	Name  string // "Submission 12 by ada"
	Short string // "#12", the one name of the side in sentences, tables and drawings
	URL   string
	Score string // as the board shows it; empty for an unranked run
	Where string // task and device
	When  time.Time
	Note  string // how its score differs from its board's; may be empty
}

// FileDiff is one submitted file in both versions.
type FileDiff struct {
	Name  string
	Lines []diff.Line // empty when the file is the same
}

// changes says how much two programs differ.
func changes(files []FileDiff, hidden string) string {
	added, removed, cut := 0, 0, false
	for _, f := range files {
		for _, l := range f.Lines {
			switch l.Kind {
			case diff.Added:
				added++
			case diff.Removed:
				removed++
			case diff.Cut:
				cut = true
			}
		}
	}
	switch {
	case hidden != "":
		return "not shown"
	case added+removed == 0 && cut:
		return "too long to be compared"
	case added+removed == 0:
		return "the same in both"
	}
	text := fmt.Sprintf("%s added, %s removed", format.Plural(added, "line", "lines"), format.Decimal(float64(removed)))
	if cut {
		text += ", and more"
	}
	return text
}

// round3 keeps whole ratios from being shown with the digits of their noise.
func round3(v float64) float64 { return math.Round(v*1000) / 1000 }

func timeText(c *job.CaseResult) string {
	if c == nil || c.Time() <= 0 {
		return "–"
	}
	return format.Nanoseconds(c.Time()).String()
}

// intervalText is how far a case's time may lie from the ends of its interval, or the ends of a wide one.
func intervalText(c *job.CaseResult) string {
	low, high, ok := versus.Spread(c)
	if !ok {
		return ""
	}
	half := (high - low) / 2
	if half > c.Time()/2 { // "± 341 µs" of 114 µs would be a negative time
		return format.Nanoseconds(low).String() + " to " + format.Nanoseconds(high).String()
	}
	return "± " + format.Nanoseconds(half).String()
}

// changeText is a diff's last column.
func changeText(d ncu.Diff) string {
	switch {
	case !d.Comparable && d.A.Text == d.B.Text && d.A.Present():
		return "same"
	case !d.Comparable && d.A.Measured && d.A.Value == 0 && d.B.Measured && d.A.BaseUnit() == d.B.BaseUnit():
		return "+" + Text(d.B) // no percentage of 0
	case !d.Comparable:
		return "–"
	case d.Change == 0:
		return "same"
	case d.A.Unit == "%":
		return signed(d.Change) + " points"
	case math.Abs(d.Change) >= 9:
		return format.Decimal(round3(1+d.Change)) + "×"
	}
	return signed(100*d.Change) + space + "%"
}

func signed(v float64) string {
	if v > 0 {
		return "+" + digits(v)
	}
	return "−" + digits(-v)
}

// leastEffect hides rows that hardly differ behind "Show all".
const leastEffect = 0.02

func (s sectionRows) split() (shown, hidden []ncu.Diff) {
	for _, d := range s {
		if d.Effect >= leastEffect {
			shown = append(shown, d)
		} else {
			hidden = append(hidden, d)
		}
	}
	return shown, hidden
}

type sectionRows []ncu.Diff

// mostInstructions bounds the programs that are compared: a diff of tens of thousands of lines is a page of megabytes.
const mostInstructions = 6000

// SASSDiffs compares the instructions of kernels that are paired and have them.
func (vm CompareVM) SASSDiffs() (list []FileDiff) {
	for _, p := range vm.Pairs {
		if p.A == nil || p.B == nil || p.A.Source == nil || p.B.Source == nil || max(len(p.A.Source.Lines), len(p.B.Source.Lines)) > mostInstructions {
			continue
		}
		lines := diff.First(diff.Lines(program(p.A.Source), program(p.B.Source)), mostDiff)
		list = append(list, FileDiff{Name: vm.pairTitle(p), Lines: lines})
	}
	return list
}

const mostDiff = 300 // lines of a diff of instructions that are shown

// program is a kernel's instructions, a line each, without what another compilation would name otherwise: the numbers of
// registers, predicates and barriers, and addresses.
func program(s *ncu.Source) string {
	var b strings.Builder
	for _, l := range s.Lines {
		text := strings.TrimSpace(l.SASS)
		for text != "" {
			n := strings.IndexFunc(text, isWord)
			if n != 0 {
				n = cmp.Or(max(n, 0), len(text))
				b.WriteString(text[:n])
				text = text[n:]
				continue
			}
			if n = strings.IndexFunc(text, func(r rune) bool { return !isWord(r) }); n < 0 {
				n = len(text)
			}
			b.WriteString(unnamed(text[:n]))
			text = text[n:]
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func isWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// unnamed is a word of an instruction: "UR" of UR12, and a mark for an address.
func unnamed(word string) string {
	name := strings.TrimRight(word, "0123456789")
	switch {
	case name != word && (name == "R" || name == "UR" || name == "P" || name == "UP" || name == "B" || name == "SB"):
		return name
	case strings.HasPrefix(word, "0x") && len(word) >= 6:
		return "…"
	}
	return word
}

func (vm CompareVM) pairTitle(p ncu.Pair) string {
	switch {
	case p.A == nil:
		return p.B.Short + " (only in " + vm.B.Short + ")"
	case p.B == nil:
		return p.A.Short + " (only in " + vm.A.Short + ")"
	case p.A.Short == p.B.Short:
		return p.A.Short
	}
	return p.A.Short + " → " + p.B.Short
}

// pairTimes says how long both kernels took.
func (vm CompareVM) pairTimes(p ncu.Pair) string {
	var times []string
	for _, side := range []struct {
		name   string
		kernel *ncu.Kernel
	}{{vm.A.Short, p.A}, {vm.B.Short, p.B}} {
		if side.kernel == nil {
			continue
		}
		if ns, ok := side.kernel.Duration(); ok {
			times = append(times, format.Nanoseconds(ns).String()+" in "+side.name)
		}
	}
	return strings.Join(times, ", ")
}

func lineNumber(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}
