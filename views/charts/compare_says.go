package charts

import (
	"fmt"
	"strings"

	"warpboard/evaluator/versus"
	"warpboard/views/format"
)

// FasterText describes which run is faster and by how much, or that the data do not show it.
func (vm CompareView) FasterText() string {
	r := vm.HeadlineRatio()
	switch {
	case vm.TimeComparison.SharedCaseCount == 0:
		return "The two runs have no timed case in common, so their speeds cannot be compared."
	case vm.SameSource:
		return "Both ran the same source"
	case !r.IsClear():
		return "No clear difference"
	case r.Value < 1:
		return fmt.Sprintf("%s is %s faster than %s", vm.RunB.ShortName, factorText(r.Inverse().Value),
			vm.RunA.ShortName)
	}
	return fmt.Sprintf("%s is %s slower than %s", vm.RunB.ShortName, factorText(r.Value), vm.RunA.ShortName)
}

// CertaintyText describes how certain FasterText is, and which times it compares; "" if nothing can be compared.
func (vm CompareView) CertaintyText() string {
	r, by := vm.HeadlineRatio(), vm.Ranking
	if vm.coversOtherCases() {
		by = "geometric mean of the cases that both ran"
	}
	b, a := vm.RunB.ShortName, vm.RunA.ShortName
	switch {
	case vm.TimeComparison.SharedCaseCount == 0:
		return ""
	case vm.SameSource:
		return fmt.Sprintf("%s took %s the time of %s by chance or because of the conditions.", b,
			factorText(r.Value), a)
	case !r.HasInterval():
		return fmt.Sprintf("%s took %s the time of %s (%s), but each was measured in too few fresh processes for an interval.", b, factorText(r.Value), a, by)
	case r.IsClear() && r.Value < 1:
		r = r.Inverse()
	case !r.IsClear():
		return fmt.Sprintf("%s takes %s to %s the time of %s (99 %% interval; %s).", b, factorText(r.Low), factorText(r.High), a, by)
	}
	return fmt.Sprintf("%s to %s at 99 %% confidence; %s.", factorText(r.Low), factorText(r.High), by)
}

// BoardLeadText describes which run is better on the board, if the two runs alone do not show it; otherwise it is "".
func (vm CompareView) BoardLeadText() string {
	r, a, b := vm.HeadlineRatio(), vm.BoardScoresNS[0], vm.BoardScoresNS[1]
	if a == 0 || vm.SameSource || r.IsClear() && (r.Value < 1) == (b < a) {
		return ""
	}
	first := vm.RunA.ShortName
	if b < a {
		first, a, b = vm.RunB.ShortName, b, a
	}
	return fmt.Sprintf("By their scores on the board, %s is clearly ahead: %s against %s, from further measurements. These two runs alone do not show it.",
		first, format.Nanoseconds(a), format.Nanoseconds(b))
}

// DifferingCases names the cases that are faster or slower; "" if there is only one case.
func (vm CompareView) DifferingCases() string {
	if len(vm.TimeComparison.Cases) < 2 || vm.TimeComparison.SharedCaseCount == 0 {
		return ""
	}
	var faster, slower []versus.ComparedCase
	unknown := 0
	for _, c := range vm.TimeComparison.Cases {
		switch r := c.Ratio; {
		case r.Value == 0:
		case !r.IsClear():
			unknown++
		case r.Value < 1:
			faster = append(faster, c)
		default:
			slower = append(slower, c)
		}
	}
	all := format.Plural(vm.TimeComparison.SharedCaseCount, "case", "cases")
	text := fmt.Sprintf("No clear difference in any of %s that both ran.", all)
	if len(faster)+len(slower) > 0 {
		var parts []string
		if len(faster) > 0 {
			parts = append(parts, fmt.Sprintf("faster in %d, %s", len(faster), mostExtremeCase(faster, versus.Ratio.Inverse)))
		}
		if len(slower) > 0 {
			parts = append(parts, fmt.Sprintf("slower in %d, %s", len(slower), mostExtremeCase(slower, func(r versus.Ratio) versus.Ratio { return r })))
		}
		if unknown > 0 {
			parts = append(parts, fmt.Sprintf("no clear difference in %d", unknown))
		}
		text = fmt.Sprintf("Of %s that both ran, %s is %s.", all, vm.RunB.ShortName, strings.Join(parts, "; "))
	}
	if n := vm.oneSidedCaseCount(); n > 0 {
		text += fmt.Sprintf(" %s timed on one side only.", format.Plural(n, "case was", "cases were"))
	}
	return text
}

// mostExtremeCase describes the case for which of returns the largest ratio: "by up to 1.42× (size: 1024)".
func mostExtremeCase(cases []versus.ComparedCase, of func(versus.Ratio) versus.Ratio) string {
	top := cases[0]
	for _, c := range cases {
		if of(c.Ratio).Value > of(top.Ratio).Value {
			top = c
		}
	}
	by := "by"
	if len(cases) > 1 {
		by = "by up to"
	}
	return fmt.Sprintf("%s %s (%s)", by, factorText(of(top.Ratio).Value), top.Spec)
}

// oneSidedCaseCount counts the cases for which only one of the runs has a time.
func (vm CompareView) oneSidedCaseCount() int {
	return len(vm.TimeComparison.Cases) - vm.TimeComparison.SharedCaseCount
}

// timesNote explains the chart of the cases. The chart shows the same intervals that decide whether the text calls a
// difference clear.
func (vm CompareView) timesNote() string {
	return fmt.Sprintf("Time of %s in each case: the line at 1× is %s, the bar is the 99 %% interval of the ratio, left is faster. There is no clear difference if the bar crosses the line, or if the ratio is within 0.5 %%. Boards have 95 %% intervals; here they have 99 %%, because people compare many pairs.", vm.RunB.ShortName, vm.RunA.ShortName)
}

// ratioText formats the ratio of the times of a case: "1.42× faster", or that there is no clear difference.
func (vm CompareView) ratioText(r versus.Ratio) string {
	switch {
	case r.Value == 0:
		return "not timed on both sides"
	case !r.HasInterval():
		return "too few processes to tell"
	case !r.IsClear():
		return "no clear difference"
	case r.Value < 1:
		return vm.RunB.ShortName + " is " + factorText(1/r.Value) + " faster"
	}
	return vm.RunB.ShortName + " is " + factorText(r.Value) + " slower"
}

func ratioClass(r versus.Ratio) string {
	switch {
	case !r.IsClear():
		return "pf-same"
	case r.Value < 1:
		return "pf-better"
	}
	return "pf-worse"
}

// factorText formats a ratio as "1.42×", with three or four significant digits.
func factorText(ratio float64) string { return fmt.Sprintf("%.*f×", ratioDigits(ratio), ratio) }

func ratioDigits(ratio float64) int {
	switch {
	case ratio >= 100:
		return 0
	case ratio >= 10:
		return 1
	case ratio >= 1.2 || ratio <= 0.8:
		return 2
	}
	return 3
}

// profiledCase names the case whose profiles are compared; "" if there is only one case.
func (vm CompareView) profiledCase() string {
	if len(vm.Cases) < 2 && len(vm.TimeComparison.Cases) < 2 {
		return ""
	}
	for _, c := range vm.Cases {
		if c.Index == vm.CaseIndex {
			return c.Name
		}
	}
	return ""
}
