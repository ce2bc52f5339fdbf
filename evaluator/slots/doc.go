// Package slots manages a machine's slots: which job holds which, where programs on them run, and whether they still work.
//
// In reading order: slot.go is one slot with its tickets, its holder and its faults; pool.go is all of them, how a job holds
// one or several (Hold), and their check after a failure (Held.Check); place.go says under which uid, with which memory and
// which device nodes builds, programs, judges and sidecars run; idlegate.go runs background work while no job needs the
// processors; cached.go keeps an evaluation's program for its caller's next evaluation; probe.go checks a GPU with a small
// known program (probe.cu).
//
// The worker makes the Pool and reserves tickets; an attempt holds slots and asks for places.
//
// It promises: one job at a time holds a slot; jobs that need several never wait for each other, because all take them in
// the same order; no two of the sandbox's slot numbers that place.go gives out are in use at once, so that no program shares
// its uid with another.
//
// What may go wrong: a kernel can break a GPU for the next job, too. So a check of its slots follows a failed job, and a
// slot that fails the check is retired until the worker is restarted.
package slots
