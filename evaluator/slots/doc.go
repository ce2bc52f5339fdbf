// Package slots is the units of a machine's devices: who holds which, where programs on them run, and whether they
// still work.
//
// In reading order: slot.go is one unit with its tickets, its holder and its faults; pool.go is all of them, and how
// a job holds one or several (Hold) and has them checked after a failure (Held.Check); place.go says under which uid,
// with which memory and which device nodes builds, programs, judges and sidecars run; idlegate.go lets work that can
// wait go on while no job needs the processors; cached.go keeps an evaluation's program for its caller's next one;
// probe.go checks a GPU with a small known program (probe.cu).
//
// The worker makes the Pool and reserves tickets; an attempt holds units and asks for places.
//
// What is promised: one job at a time holds a unit; jobs that need several never wait for each other, for everyone
// takes them in the same order; no two of the sandbox's slot numbers that place.go gives out are in use at once, so
// that no program shares its uid with another.
//
// What may go wrong: a unit that a kernel broke answers the next job, too. So a job that fails is followed by a check
// of its units, and a slot that fails it is retired until someone restarts the worker.
package slots
