// Package sanitizing runs compute-sanitizer in the sandbox.
//
// In reading order: sanitize.go is the sanitize stage of a run, with one process of the submission per tool for all
// test cases; verdict.go determines how a tool's run ended; log.go parses its log.
//
// taskrun calls Sanitize. The submission's process runs under the tool, with the judge beside it as always.
//
// Failures: a tool hangs, or does not start on this machine, or the submission crashes without a finding. Each results
// in a message, and the findings of the other tools stay. The submission can write to the log: a finding is a claim,
// and so is its absence. An error of Sanitize is an infrastructure error.
package sanitizing
