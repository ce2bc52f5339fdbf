// Package evaluations has what both evaluation APIs and the playground share: callers, rights to read an evaluation,
// reading and queueing of requests, and waiting for the end.
//
// Read evaluations.go (limits), caller.go (ReadableEvaluation and ChangeableEvaluation are the only ways to an
// evaluation), read.go, submit.go, answer.go (the result, in the one shape that both APIs give).
//
// An evaluation that the caller may not read is answered like a missing one.
package evaluations
