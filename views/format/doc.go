// Package format is the only place that formats numbers, times, and sentences for people, so that a score looks the
// same on a board, in a profile, and in a chart's title.
//
// Read format.go (numbers, units, durations), then place.go (ranks), change.go, time.go (dates), stamp.templ, and
// text.go (capitals and periods). Every page, component, and chart uses it. diff.go compares two texts line by line: it
// makes the output of rsc's anchored diff (github.com/rogpeppe/go-internal/diff) numbered and folded lines. Texts of
// more than 20,000 lines are not compared, and 5,000 lines of the result are shown; a line notes that.
//
// Numbers have four significant digits, thousands separated by a narrow no-break space (U+202F), a no-break space
// before the unit (U+00A0), and a real minus sign. Values that were not measured (zero time, NaN, infinity) are an en
// dash, never a zero. Rounding happens only here: stores and the API keep full precision.
//
// Programs and tests that read a number from a page must remove both spaces and the minus; pages have the exact number
// in a title or a value attribute for that.
package format
