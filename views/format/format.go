package format

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Quantity is a number with a unit of a suitable size, as two texts so that columns align.
type Quantity struct {
	Number    string // "12.34"; an en dash for NotMeasured
	UnitName  string // "µs"
	ExactText string // in the base unit: "12340.5 ns"
}

// String returns the number and the unit with a no-break space between them.
func (q Quantity) String() string {
	return strings.TrimRight(q.Number+noBreakSpace+q.UnitName, noBreakSpace)
}

// NotMeasured stands for a number that was not measured.
const NotMeasured = "–"

// noBreakSpace joins a number and its unit without a line break.
const noBreakSpace = "\u00a0"

var timeUnits = []struct {
	name string
	ns   float64
}{{"s", 1e9}, {"ms", 1e6}, {"µs", 1e3}, {"ns", 1}}

// Nanoseconds formats a time with the largest unit that makes it at least 1, with four significant digits, but at most
// two decimals of a nanosecond, because no clock resolves more: 12340.5 → 12.34 µs, 1 → 1.00 ns. Values that are not
// finite and positive were not measured.
func Nanoseconds(ns float64) Quantity {
	if !(ns > 0) || math.IsInf(ns, 0) {
		return Quantity{Number: NotMeasured}
	}
	// rounded before choosing the unit, because rounding may change 999.96 ns to 1 µs
	rounded := roundToFourDigits(ns)
	exact := strconv.FormatFloat(math.Round(ns*100)/100, 'f', -1, 64) + " ns" // the resolution of clocks
	for _, unitName := range timeUnits {
		if rounded >= max(unitName.ns, 10) {
			return Quantity{Number: plainDigits(rounded / unitName.ns), UnitName: unitName.name, ExactText: exact}
		}
	}
	if rounded < 0.01 {
		return Quantity{Number: "<" + noBreakSpace + "0.01", UnitName: "ns", ExactText: ExactNumber(ns) + " ns"}
	}
	return Quantity{Number: strconv.FormatFloat(ns, 'f', 2, 64), UnitName: "ns", ExactText: exact}
}

// NanosecondsLike formats a time with the unit and the decimals of another time, so that compared numbers align: with
// 79.98 µs, 3304051 ns is 3 304.05 µs. A time more than a thousand times as long, or less than a tenth, gets its own
// unit.
func NanosecondsLike(ns, other float64) Quantity {
	own, model := Nanoseconds(ns), Nanoseconds(other)
	if own.UnitName == "" || model.UnitName == "" || ns > 1000*other || ns < other/10 {
		return own
	}
	_, decimals, _ := strings.Cut(model.Number, ".")
	for _, unitName := range timeUnits {
		if unitName.name == model.UnitName {
			own.Number, own.UnitName = groupThousands(strconv.FormatFloat(ns/unitName.ns, 'f', len(decimals), 64)), unitName.name
		}
	}
	return own
}

// MaybeNanoseconds formats a time as Nanoseconds does; nil is a missing score, which was not measured.
func MaybeNanoseconds(ns *float64) Quantity {
	if ns == nil {
		return Quantity{Number: NotMeasured}
	}
	return Nanoseconds(*ns)
}

// roundToFourDigits rounds to four significant digits.
func roundToFourDigits(x float64) float64 {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'e', 3, 64), 64)
	return rounded
}

// plainDigits formats a number with four significant digits and no exponent, including trailing zeros.
func plainDigits(x float64) string {
	digits := 3 - int(math.Floor(math.Log10(x)))
	return strconv.FormatFloat(x, 'f', min(max(digits, 0), 6), 64)
}

// RelativeError formats a standard error relative to its mean: "± 0.4 %". A time is never negative, so larger errors
// are "> ± 100 %".
func RelativeError(mean, err float64) string {
	if !(mean > 0) || !(err >= 0) || math.IsInf(mean, 0) || math.IsInf(err, 0) {
		return NotMeasured
	}
	percent := 100 * err / mean
	switch {
	case percent == 0:
		return "± 0\u00a0%"
	case percent < 0.01:
		return "< 0.01\u00a0%"
	case percent < 1:
		return fmt.Sprintf("± %.2f\u00a0%%", percent)
	case percent > 100:
		return "> ± 100\u00a0%"
	}
	return fmt.Sprintf("± %.1f\u00a0%%", percent)
}

// TimeFactor formats a ratio of times as "12.1×" or "1.27×". A ratio of less than 1.005 is "< 0.5 %".
func TimeFactor(ratio float64) string {
	switch {
	case ratio < 1.005:
		return "< 0.5\u00a0%"
	case ratio < 10:
		return strconv.FormatFloat(ratio, 'f', 2, 64) + "×"
	}
	return strconv.FormatFloat(ratio, 'f', 1, 64) + "×"
}

// SpeedFactor formats a ratio of speeds with three digits: "0.924×", "12.1×".
func SpeedFactor(ratio float64) string {
	digits := 3
	for at := 1.0; digits > 0 && ratio >= at; at *= 10 {
		digits--
	}
	return strconv.FormatFloat(ratio, 'f', digits, 64) + "×"
}

// Bytes formats a size in binary units: 1536 → 1.5 KiB.
func Bytes(n int64) string {
	unitNames := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	x, i := float64(n), 0
	for ; x >= 1024 && i < len(unitNames)-1; i++ {
		x /= 1024
	}
	if i == 0 {
		return fmt.Sprintf("%d\u00a0B", n)
	}
	if x >= 100 {
		return fmt.Sprintf("%.0f\u00a0%s", x, unitNames[i])
	}
	return fmt.Sprintf("%.1f\u00a0%s", x, unitNames[i])
}

// Count formats a whole number with thin spaces between its thousands.
func Count(n int64) string {
	if n < 0 {
		return "−" + groupThousands(strconv.FormatInt(n, 10)[1:])
	}
	return groupThousands(strconv.FormatInt(n, 10))
}

// Decimal formats a number with four significant digits, and a whole number with all digits.
func Decimal(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return NotMeasured
	}
	sign, a := "", math.Abs(v)
	if v < 0 {
		sign = "−"
	}
	switch {
	case a >= 1000 || a == math.Trunc(a):
		return sign + groupThousands(strconv.FormatFloat(a, 'f', 0, 64))
	case a >= 1:
		return sign + groupThousands(plainDigits(roundToFourDigits(a)))
	default:
		return sign + strconv.FormatFloat(a, 'g', 4, 64)
	}
}

// AllDigits formats a number with all digits: 1 291 120 815.14.
func AllDigits(v float64) string {
	digits := strconv.FormatFloat(v, 'f', -1, 64)
	if rest, negative := strings.CutPrefix(digits, "-"); negative {
		return "\u2212" + groupThousands(rest)
	}
	return groupThousands(digits)
}

// NumericalError formats a numerical error with three significant digits: 0.499, 12.5, 5.96 × 10⁻⁸.
func NumericalError(off float64) string {
	switch {
	case off == 0:
		return "0"
	case off >= 0.001 && off < 999_999.5:
		rounded, _ := strconv.ParseFloat(strconv.FormatFloat(off, 'g', 3, 64), 64)
		return groupThousands(strconv.FormatFloat(rounded, 'f', -1, 64))
	}
	digits, exponent, _ := strings.Cut(strconv.FormatFloat(off, 'e', 2, 64), "e")
	n, _ := strconv.Atoi(exponent)
	return digits + noBreakSpace + "×" + noBreakSpace + "10" + superscriptReplacer.Replace(strconv.Itoa(n))
}

var superscriptReplacer = strings.NewReplacer("-", "⁻", "0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴", "5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹")

// Percent formats a share as a percentage.
func Percent(part float64) string {
	if part > 0 && part < 0.0005 {
		return "< 0.1" + noBreakSpace + "%"
	}
	return strconv.FormatFloat(100*part, 'f', 1, 64) + noBreakSpace + "%"
}

// WithUnitPrefix formats a number with a fitting decimal prefix: 3.35e12 of B/s is 3.350 TB/s.
func WithUnitPrefix(v float64, unitName string) string {
	prefixes := []string{"", "k", "M", "G", "T", "P", "E"}
	x, i := v, 0
	for ; math.Abs(roundToFourDigits(x)) >= 1000 && i < len(prefixes)-1; i++ {
		x /= 1000
	}
	return Decimal(x) + noBreakSpace + prefixes[i] + unitName
}

// ExactNumber formats a number for programs, so that they read the same number.
func ExactNumber(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// groupThousands adds thin spaces between the thousands of an unsigned number.
func groupThousands(number string) string {
	whole, _, _ := strings.Cut(number, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		number = number[:i] + "\u202f" + number[i:]
	}
	return number
}

// Plural formats a count with its noun: 1 case, 2 cases.
func Plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Count(int64(n)) + " " + many
}

// Duration formats a duration for people: 840 ms, 5 s, 12.3 s, 4 min 05 s, 2 h 10 min, 1 day 5 h, 3 days.
func Duration(d time.Duration) string {
	switch {
	case d < 0:
		return NotMeasured
	case d < time.Second:
		return fmt.Sprintf("%d\u00a0ms", d.Milliseconds())
	case d < time.Minute && d%time.Second == 0: // whole seconds, so probably a limit
		return fmt.Sprintf("%d\u00a0s", int(d.Seconds()))
	case d < time.Minute:
		return fmt.Sprintf("%.1f\u00a0s", math.Floor(d.Seconds()*10)/10)
	case d < time.Hour && d%time.Minute < time.Second:
		return fmt.Sprintf("%d\u00a0min", int(d.Minutes()))
	case d < time.Hour:
		return fmt.Sprintf("%d\u00a0min %02d\u00a0s", int(d.Minutes()), int(d.Seconds())%60)
	case d < 24*time.Hour:
		return fmt.Sprintf("%d\u00a0h %02d\u00a0min", int(d.Hours()), int(d.Minutes())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("1\u00a0day %d\u00a0h", int(d.Hours())-24)
	default:
		return fmt.Sprintf("%d\u00a0days", int(d.Hours())/24)
	}
}

// TimeBetween formats the time from a to b; "" if one of them is zero.
func TimeBetween(a, b time.Time) string {
	if a.IsZero() || b.IsZero() {
		return NotMeasured
	}
	return Duration(b.Sub(a))
}
