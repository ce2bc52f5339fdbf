// Package harness has the programs that feed cases to a submission, check its answers, and time it (programs/). It also
// parses the reports of such programs, Warpboard's and bundles' own.
//
// In reading order: sources.go has the embedded programs; assemble.go combines a task's files, the submission, and the
// harness; spec.go writes cases and stage names for the programs; parser.go parses a report line by line (lines.go),
// numerics.go its numerical errors; validate.go refuses impossible values; processes.go merges the reports of several
// fresh processes; stage_verdict.go decides how a stage ended and who caused a failure; score.go computes the score of
// a ranked stage, interval.go its interval, and combine.go the score of several runs.
//
// Folders of programs: common, cpp, and cu have the C++ and CUDA harness, py the Python one, core the judge's core that
// py calls, runner the warm Pythons, and legacy the adapters for the legacy form.
//
// The toolchain assembles and builds; taskrun parses reports; dispatch and profiling use spec lines.
//
// A report may be forged: a bundle's own program runs in one process with the submission. So the first value counts,
// contradictions and impossible times are refused, and everything is limited. Values that only a separate judge can
// measure count only if there is one.
package harness
