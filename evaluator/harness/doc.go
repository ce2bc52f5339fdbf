// Package harness holds the programs that feed cases to a submission, check its answers and time it (programs/). It also
// reads the reports of such programs, Warpboard's and bundles' own.
//
// In reading order: sources.go has the embedded programs; assemble.go puts a task's files, the submission and the harness
// together; spec.go writes cases and stage names for the programs; parser.go reads a report line by line (lines.go),
// validate.go refuses impossible values, processes.go puts the reports of several fresh processes together, judge.go decides
// how a stage ended and whose failure it is, score.go computes the score of a ranked stage, and interval.go its interval.
//
// The toolchain assembles and builds; taskrun reads reports; dispatch and profiling use spec lines.
//
// A report may be forged: a bundle's own program runs in one process with the submission. So the first word counts,
// contradictions and impossible times are refused, and everything is bounded. Fields that only the judge of package judge
// can measure count only if there is one.
package harness
