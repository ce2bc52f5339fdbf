package charts

import (
	"math"
	"strconv"
	"strings"
	"time"

	"warpboard/evaluator/ncu"
)

// symbol returns how a base unit that takes decimal prefixes is written; other units have none.
func symbol(unit string) string {
	switch unit {
	case "byte", "byte/block":
		return "B"
	case "byte/s":
		return "B/s"
	case "hz":
		return "Hz"
	case "FLOP/s", "op/s":
		return unit
	}
	return ""
}

// word returns what is written after digits of the unit: nothing where the label has said it.
func word(unit, digits string) string {
	switch unit {
	case "", "thread", "SM", "register/thread", "pass", "inst", "inst/cycle", "cluster", "branches":
		return ""
	case "FLOP/byte":
		return " FLOP/B"
	case "op/byte":
		return " op/B"
	case "warp", "block", "cycle", "sector", "wavefront":
		if digits != "1" {
			return " " + unit + "s"
		}
	}
	return " " + unit
}

// space joins a number and its symbol, which must not part at the end of a line.
const space = "\u00a0"

// Text shows a metric for people: four significant digits and a fitting prefix. A metric without a
// value shows ncu's word for it, or says that it was not measured.
func Text(m ncu.Metric) string {
	v, ok := m.Base()
	switch unit := m.BaseUnit(); {
	case !ok && m.Present():
		return m.Text
	case !ok:
		return "not measured"
	case unit == "%":
		return Decimal(v) + space + "%"
	case unit == "s":
		return Nanoseconds(v * 1e9)
	case symbol(unit) != "":
		return prefixed(v, symbol(unit))
	default:
		return Decimal(v) + word(unit, Decimal(v))
	}
}

// Decimal shows a number with four significant digits, whole numbers with all of theirs, and
// thousands separated.
func Decimal(v float64) string {
	a := math.Abs(v)
	switch {
	case v == math.Trunc(v) && a < 1e15:
		return grouped(strconv.FormatFloat(v, 'f', 0, 64))
	case a >= 1000:
		return grouped(strconv.FormatFloat(v, 'f', 0, 64))
	case a >= 100:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case a >= 10:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case a >= 1:
		return strconv.FormatFloat(v, 'f', 3, 64)
	default:
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
}

func grouped(digits string) string {
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

func prefixed(v float64, unit string) string {
	for _, p := range []struct {
		factor float64
		prefix string
	}{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if math.Abs(v) >= p.factor {
			return Decimal(v/p.factor) + space + p.prefix + unit
		}
	}
	return Decimal(v) + space + unit
}

// Nanoseconds shows a time in the unit that fits it.
func Nanoseconds(ns float64) string {
	switch a := math.Abs(ns); {
	case a >= 1e9:
		return Decimal(ns/1e9) + space + "s"
	case a >= 1e6:
		return Decimal(ns/1e6) + space + "ms"
	case a >= 1e3:
		return Decimal(ns/1e3) + space + "µs"
	default:
		return Decimal(ns) + space + "ns"
	}
}

// Span shows a duration in the unit that fits it.
func Span(d time.Duration) string { return Nanoseconds(float64(d)) }

// Percent shows a part of one as a percentage.
func Percent(part float64) string {
	if part > 0 && part < 0.0005 {
		return "<0.1" + space + "%"
	}
	return strconv.FormatFloat(100*part, 'f', 1, 64) + space + "%"
}

// exact writes a number so that reading it back gives the same number.
func exact(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// baseValue is what a <data> element's value attribute holds: the metric in base units.
func baseValue(m ncu.Metric) string {
	v, _ := m.Base()
	return exact(v)
}

// within is the nearest to v between two bounds, for lengths and places in a drawing: not a number is the
// lower one, which min and max would pass on.
func within(v, least, most float64) float64 {
	if !(v > least) {
		return least
	}
	return min(v, most)
}

// px writes a coordinate of a drawing.
func px(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }

// amountText is Text without the word "wavefronts", which the drawing writes on a line of its own.
func amountText(m ncu.Metric) string {
	if m.Unit == "wavefront" {
		m.Unit = ""
	}
	return Text(m)
}

// clip shortens a long name for a place with little room.
func clip(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

// cellText is a counter of an instruction: a dash where ncu counted nothing.
func cellText(m ncu.Metric) string {
	if !m.Measured {
		return "–"
	}
	return Decimal(m.Value)
}
