// Package sanitizing runs compute-sanitizer in the sandbox.
//
// In reading order: sanitize.go is the sanitize stage of a run, with one process of the submission for each tool and all test
// cases in it; verdict.go says how a tool's run ended; log.go reads the log that it left.
//
// taskrun calls Sanitize. The submission's process runs under the tool, and the judge, as always, beside it.
//
// What may go wrong: a tool hangs, or does not start on this machine, or the submission crashes without a finding. Each gives a
// sentence, and the findings of the other tools stay. The log lies where the submission can write: a finding is a claim, and
// so is its absence. An error of Sanitize is an infrastructure error.
package sanitizing
