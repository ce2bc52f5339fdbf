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
	"warpboard/views/format"
)

// CompareView is the view model of comparing two runs.
type CompareView struct {
	RunA, RunB     ComparedSide
	TimeComparison versus.Comparison
	Ranking        string // ranking rule in words; empty if the runs have different tasks or versions
	// SameSource means that both runs have the same source, so that all differences come from chance or from
	// conditions.
	SameSource bool
	// BoardScoresNS are the scores of both runs on the board, in nanoseconds. They are 0 unless they differ clearly and
	// at least one also counts other runs of the same source.
	BoardScoresNS  [2]float64
	ConditionsText string // sentence about different conditions of the measurements, such as clocks
	Files          []FileDiff
	// NoCodeReason is a sentence with the reason why the sources are hidden; "" if the viewer may see both.
	NoCodeReason string
	// SASS are the differences of the instructions of both kernels, for viewers who may see both sources.
	SASS        []FileDiff
	PagePath    string // path of the page, with both runs
	CaseIndex   int    // case whose profiles are compared
	Cases       []CaseTab
	Explanation *ncu.Explanation // explanation of the difference under the profiler; nil if there is none
	// Pairs are the compared kernels, from ncu.Compare; if empty, NoProfileReason is shown instead.
	Pairs           []ncu.KernelPair
	NoProfileReason string // sentence that names the run without a profile; empty if both runs have none
	JSONURL         string // URLs of the comparison as JSON and CSV
	CSVURL          string
}

// ComparedSide is one of the two runs.
type ComparedSide struct {
	Name        string // "Submission 12 by ada"
	ShortName   string // "#12", the side's name in sentences, tables, and drawings
	URL         string
	Score       string // as on the board; empty for an unranked run
	BoardName   string // task and device
	SubmittedAt time.Time
	Note        string // reason why this score differs from the score on the board; may be empty
}

// FileDiff is the difference of one submitted file.
type FileDiff struct {
	Name  string
	Lines []format.DiffLine // empty if the file is unchanged
}

// changedLinesText returns how many lines differ between two programs.
func changedLinesText(files []FileDiff, hidden string) string {
	added, removed, cut := 0, 0, false
	for _, f := range files {
		for _, l := range f.Lines {
			switch l.Kind {
			case format.DiffLineAdded:
				added++
			case format.DiffLineRemoved:
				removed++
			case format.DiffLineOmitted:
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

// roundToThousandths rounds to three decimals, so that a ratio that is nearly a whole number has no meaningless digits.
func roundToThousandths(v float64) float64 { return math.Round(v*1000) / 1000 }

func timeText(c *job.CaseResult) string {
	if c == nil || c.Time() <= 0 {
		return "–"
	}
	return format.Nanoseconds(c.Time()).String()
}

// intervalText formats half of the confidence interval of the time of a case, or both ends if the interval is wide.
func intervalText(c *job.CaseResult) string {
	low, high, ok := versus.CaseTimeInterval(c)
	if !ok {
		return ""
	}
	half := (high - low) / 2
	if half > c.Time()/2 { // "± 341 µs" for 114 µs would include negative times
		return format.Nanoseconds(low).String() + " to " + format.Nanoseconds(high).String()
	}
	return "± " + format.Nanoseconds(half).String()
}

// differenceText formats a difference for the last column of the table.
func differenceText(d ncu.MetricDiff) string {
	switch {
	case !d.IsComparable && d.ValueA.Text == d.ValueB.Text && d.ValueA.HasValue():
		return "same"
	case !d.IsComparable && d.ValueA.Measured && d.ValueA.Value == 0 && d.ValueB.Measured &&
		d.ValueA.BaseUnit() == d.ValueB.BaseUnit():
		return "+" + MetricText(d.ValueB) // no percentage of 0
	case !d.IsComparable:
		return "–"
	case d.Change == 0:
		return "same"
	case d.ValueA.UnitName == "%":
		return signedText(d.Change) + " points"
	case math.Abs(d.Change) >= 9:
		return format.Decimal(roundToThousandths(1+d.Change)) + "×"
	}
	return signedText(100*d.Change) + noBreakSpace + "%"
}

func signedText(v float64) string {
	if v > 0 {
		return "+" + formatDigits(v)
	}
	return "−" + formatDigits(-v)
}

// minShownEffect is the smallest relative effect with which a row is shown without "Show all".
const minShownEffect = 0.02

func (s sectionRows) splitHidden() (shown, hidden []ncu.MetricDiff) {
	for _, d := range s {
		if d.RelativeEffect >= minShownEffect {
			shown = append(shown, d)
		} else {
			hidden = append(hidden, d)
		}
	}
	return shown, hidden
}

type sectionRows []ncu.MetricDiff

// maxInstructions limits the instructions of the compared kernels: the differences of tens of thousands of lines would
// make a page of megabytes.
const maxInstructions = 6000

// SASSDiffs compares the instructions of paired kernels.
func (vm CompareView) SASSDiffs() (list []FileDiff) {
	for _, p := range vm.Pairs {
		if p.KernelA == nil || p.KernelB == nil || p.KernelA.Source == nil || p.KernelB.Source == nil || max(len(p.KernelA.Source.Lines), len(p.KernelB.Source.Lines)) > maxInstructions {
			continue
		}
		lines := format.FirstLines(format.Diff(normalizedInstructions(p.KernelA.Source), normalizedInstructions(p.KernelB.Source)), maxDiffLines)
		list = append(list, FileDiff{Name: vm.pairTitle(p), Lines: lines})
	}
	return list
}

const maxDiffLines = 300 // maximum number of shown lines

// normalizedInstructions returns the instructions of a kernel, one per line, without details that change with every
// compilation: addresses and the numbers of registers, predicates, and barriers.
func normalizedInstructions(s *ncu.Source) string {
	var b strings.Builder
	for _, l := range s.Lines {
		text := strings.TrimSpace(l.Instruction)
		for text != "" {
			n := strings.IndexFunc(text, isWordRune)
			if n != 0 {
				n = cmp.Or(max(n, 0), len(text))
				b.WriteString(text[:n])
				text = text[n:]
				continue
			}
			if n = strings.IndexFunc(text, func(r rune) bool { return !isWordRune(r) }); n < 0 {
				n = len(text)
			}
			b.WriteString(withoutRegisterNumber(text[:n]))
			text = text[n:]
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func isWordRune(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// withoutRegisterNumber removes the number from a register of an instruction ("UR" for UR12), and replaces an address
// by a placeholder.
func withoutRegisterNumber(word string) string {
	name := strings.TrimRight(word, "0123456789")
	switch {
	case name != word && (name == "R" || name == "UR" || name == "P" || name == "UP" || name == "B" || name == "SB"):
		return name
	case strings.HasPrefix(word, "0x") && len(word) >= 6:
		return "…"
	}
	return word
}

func (vm CompareView) pairTitle(p ncu.KernelPair) string {
	switch {
	case p.KernelA == nil:
		return p.KernelB.ShortName + " (only in " + vm.RunB.ShortName + ")"
	case p.KernelB == nil:
		return p.KernelA.ShortName + " (only in " + vm.RunA.ShortName + ")"
	case p.KernelA.ShortName == p.KernelB.ShortName:
		return p.KernelA.ShortName
	}
	return p.KernelA.ShortName + " → " + p.KernelB.ShortName
}

// pairTimesText describes the times of both kernels of a pair.
func (vm CompareView) pairTimesText(p ncu.KernelPair) string {
	var times []string
	for _, side := range []struct {
		name   string
		kernel *ncu.Kernel
	}{{vm.RunA.ShortName, p.KernelA}, {vm.RunB.ShortName, p.KernelB}} {
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
