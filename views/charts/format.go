package charts

import (
	"math"
	"strconv"
	"strings"

	"warpboard/evaluator/ncu"
	"warpboard/views/format"
)

// unitSymbol returns the symbol of a unit that can have decimal prefixes, and "" for other units.
func unitSymbol(unitName string) string {
	switch unitName {
	case "byte", "byte/block":
		return "B"
	case "byte/s":
		return "B/s"
	case "hz":
		return "Hz"
	case "FLOP/s", "op/s":
		return unitName
	}
	return ""
}

// unitText returns the unit to write after the digits of a number; "" if the name of the row has the unit.
func unitText(unitName, digits string) string {
	switch unitName {
	case "", "thread", "SM", "register/thread", "pass", "inst", "inst/cycle", "cluster", "branches":
		return ""
	case "FLOP/byte":
		return " FLOP/B"
	case "op/byte":
		return " op/B"
	case "warp", "block", "cycle", "sector", "wavefront":
		if digits != "1" {
			return " " + unitName + "s"
		}
	}
	return " " + unitName
}

// noBreakSpace joins a number and its symbol without a line break.
const noBreakSpace = "\u00a0"

// roundToThreeDigits rounds to three significant digits, because more digits of a counter are meaningless. Whole
// numbers are unchanged.
func roundToThreeDigits(v float64) float64 {
	if v == 0 || v == math.Trunc(v) {
		return v
	}
	scale := math.Pow(10, 2-math.Floor(math.Log10(math.Abs(v))))
	if math.IsInf(scale, 0) || scale == 0 {
		return v
	}
	return math.Round(v*scale) / scale
}

// MetricText formats a metric for people, with three significant digits and a decimal prefix. For a metric without a
// value it returns the text of Nsight Compute, or that the metric was not measured.
func MetricText(m ncu.Metric) string {
	v, ok := m.BaseValue()
	switch unitName := m.BaseUnit(); {
	case !ok && m.HasValue():
		return m.Text
	case !ok:
		return "not measured"
	case unitName == "%":
		return formatDigits(v) + noBreakSpace + "%"
	case unitName == "s":
		return nanoseconds(v * 1e9)
	case unitSymbol(unitName) != "":
		return withUnitPrefix(v, unitSymbol(unitName))
	default:
		return formatDigits(v) + unitText(unitName, formatDigits(v))
	}
}

// formatDigits formats a number with three significant digits, and a whole number with all digits.
func formatDigits(v float64) string {
	if whole := math.Round(v); math.Abs(v-whole) <= 1e-4*math.Abs(v) || math.Abs(roundToThreeDigits(v)) >= 1000 {
		return format.Decimal(whole)
	}
	text := strconv.FormatFloat(roundToThreeDigits(v), 'g', -1, 64)
	if a := math.Abs(roundToThreeDigits(v)); a >= 1 {
		text = strconv.FormatFloat(v, 'f', 2-int(math.Log10(a)), 64) // keeps trailing zeros: 74.0, not 74
	}
	return strings.Replace(text, "-", "−", 1)
}

// withUnitPrefix formats a number with a decimal prefix of its unit.
func withUnitPrefix(v float64, unitName string) string {
	prefixes := []string{"", "k", "M", "G", "T", "P", "E"}
	i := 0
	for ; math.Abs(roundToThreeDigits(v)) >= 1000 && i < len(prefixes)-1; i++ {
		v /= 1000
	}
	return formatDigits(v) + noBreakSpace + prefixes[i] + unitName
}

// nanoseconds formats a time that may be zero: Nsight Compute reports zero for idle units.
func nanoseconds(ns float64) string {
	if ns == 0 {
		return "0" + noBreakSpace + "ns"
	}
	return format.Nanoseconds(ns).String()
}

// baseUnitValue returns the value attribute of a <data> element: the metric in base units.
func baseUnitValue(m ncu.Metric) string {
	v, _ := m.BaseValue()
	return format.ExactNumber(v)
}

// clamp limits v to the range of least to most, for lengths and positions in a drawing. Unlike with min and max, NaN
// becomes least.
func clamp(v, least, most float64) float64 {
	if !(v > least) {
		return least
	}
	return min(v, most)
}

// coordinateText formats a coordinate of a drawing.
func coordinateText(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }

// amountText formats a metric as MetricText does, but without the unit "wavefronts", which the drawing shows on a
// separate line.
func amountText(m ncu.Metric) string {
	if m.UnitName == "wavefront" {
		m.UnitName = ""
	}
	return MetricText(m)
}

// shortenName shortens a name to at most most characters.
func shortenName(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

// counterCellText formats a counter of an instruction; a dash stands for no count.
func counterCellText(m ncu.Metric) string {
	if !m.Measured {
		return "–"
	}
	return format.Decimal(m.Value)
}
