// Package ncu reads the output of Nsight Compute into typed values, and derives the views that pages and the API show.
// Package nsight below it builds ncu's command lines, and package profiling runs those in the sandbox; views/charts draws.
// It is a leaf: it starts nothing and imports nothing of Warpboard.
//
// In reading order:
//
//	report.go Report and Kernel: the stored profile
//	parse.go          Parse, over the pages: raw.go (metrics, sections, rules) and source.go (instructions); csv.go reads both; ptx.go (PTX)
//	metric.go         one number: text, unit, base unit, or not measured
//	fact.go           a number with its label and the metric or formula that it comes from
//	roofline.go, memory.go, occupancy.go (and stalls), mix.go, rules.go      the views
//	compare.go        two kernels beside each other; cause.go with cause_rules.go: reasons why one is faster
//	devicemetrics.go  the flat names of the evaluation API
//	export.go         everything of a kernel for JSON and CSV
//
// It promises that a number which ncu did not measure (NaN, n/a, no data, empty) is never read as zero: it has no value
// here, in the stored JSON and on every page. Every derived number names its origin (Fact.From), and tests compute it again
// from the raw page. Reports are stored as JSON: keys never change.
//
// What may go wrong: ncu's versions rename columns and metrics (samplesColumn in views/charts knows four names of one); a
// driver refuses counters (failure texts name the setting); output may be cut anywhere, and the program under the profiler
// may write its own: Parse reads what it can and lists the rest in Warnings.
package ncu
