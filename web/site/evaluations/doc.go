// Package evaluations is what both evaluation APIs and the playground share: who asks, who may read an
// evaluation, how a request is read and queued, and how its end is awaited.
//
// Read evaluations.go (limits), caller.go (Readable and Changeable are the only ways to an evaluation), read.go,
// submit.go, answer.go (the result, in the one shape that both APIs give).
//
// An evaluation that someone may not read is answered like one that does not exist.
package evaluations
