// Package slots manages a machine's slots: their holders, the places of programs on them, and their health.
//
// In reading order: slot.go is one slot with its permits for jobs in flight, its holder, and its faults; set.go is all
// slots: holding one or several (Acquire), and checking them after a failure (Lease.ProbeAfterFailure); place.go
// assigns user IDs, memory, and device nodes to builds, programs, and judges; sidecar.go has sidecars, which compile
// evaluations' kernels while their GPU is busy; idlegate.go runs background work while no job needs the processors;
// cached.go keeps an evaluation's program for its caller's next evaluation; probe.go checks a GPU with a small known
// program (probe.cu).
//
// The worker creates the Set and acquires permits for the jobs that it receives; an attempt holds slots and asks for
// places.
//
// Guarantees: one job at a time holds a slot. Jobs that need several slots never deadlock, because all take them in the
// same order. No two sandbox slots from place.go are in use at once, so no two programs share a user ID.
//
// Failures: a kernel can break a GPU for later jobs. So the slots of a failed job are checked, also if one of its
// processes was killed later (Lease.CheckAfterClose). A slot that fails is retired until the worker's self-test passes
// again, or the worker restarts.
package slots
