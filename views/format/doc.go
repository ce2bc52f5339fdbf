// Package format is the only place that writes numbers, times and sentences for people, so that a score reads the
// same on a board, in a profile and in a chart's title.
//
// Read format.go (numbers, units, durations), then time.go (dates) and text.go (capitals and full stops). Every
// page, component and chart calls it; it imports nothing of Warpboard.
//
// It promises: four significant digits, thousands apart by a narrow space that does not break (U+202F), a number
// never parts from its unit (U+00A0), negative numbers carry a real minus, and what was not measured (zero time, NaN,
// infinity) is an en dash and never a zero. Rounding happens here alone: stores and the API keep full precision.
//
// What may go wrong: programs and tests that read a number back off a page must take both spaces and the minus away;
// pages carry the exact number in a title or a value attribute for that.
package format
