// Package harness holds the programs that feed cases to a submission, check its answers and take the time (programs/),
// and reads the protocol in which such programs, Warpboard's and bundles' own, report.
//
// In reading order: sources.go has the embedded programs; assemble.go puts a task's files, the submission and the
// harness together; spec.go writes cases and names stages as programs know them; parser.go reads a report line by line
// (lines.go), validate.go finds what in it cannot be, processes.go puts the reports of several fresh processes together,
// judge.go says how a stage ended and whose failure it is, score.go makes one number of a ranked stage, and interval.go
// says how exact it is.
//
// The toolchain assembles and builds; taskrun reads reports; dispatch and profiling use spec lines.
//
// A report may be forged: a bundle's own program runs in one process with the submission. So the first word counts,
// contradictions and impossible times are refused, and everything is bounded. What only the judge of package judge can
// know is believed only where there is one.
package harness
