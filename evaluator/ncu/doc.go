// Package ncu parses the output of Nsight Compute into typed values, and derives the views of pages and the API.
// Package nsight below it builds ncu's command lines, and package profiling runs them in the sandbox; views/charts
// draws. The package starts no processes.
//
// In reading order:
//
//	report.go   Report and Kernel: the stored profile
//	parse.go    ParsePages: raw.go (metrics, sections, rules) and source.go (instructions);
//	            csv.go reads both; ptx.go adds PTX; decode.go reads a stored report
//	metric.go   one number: text, unit, base unit, or not measured
//	fact.go     a number with its label and the metric or formula that it comes from
//	roofline.go, memory.go, occupancy.go (and stalls), mix.go, rules.go: the views
//	compare.go  compares two kernels; cause.go with cause_rules.go explains which is faster
//	devicemetrics.go  the flat names of the evaluation API
//	export.go   everything of a kernel for JSON and CSV; text.go writes a report as text
//	nameless.go removes the names of kernels
//
// A number that ncu did not measure (NaN, n/a, no data, empty) is never treated as zero: it has no value here, in the
// stored JSON, and on every page. Every derived number names its origin (Fact.Origin), and tests compute it again from
// the raw page. Reports are stored as JSON: keys must not change.
//
// Robustness: ncu's versions rename columns and metrics (SampleCounters has four names of one); a driver refuses
// counters (failure texts name the setting); output may be cut anywhere, and the program under the profiler may forge
// it: ParsePages reads what it can and lists the rest in Warnings.
package ncu
