// Package sandbox runs one untrusted process tree under bubblewrap, with limits.
//
// What a run may see and do is decided here and nowhere else: an unprivileged uid of its slot,
// which is taken before bubblewrap starts; every namespace, no network, no capabilities; a seccomp
// filter; a read-only system; sized writable areas at /tmp, /dev/shm and /out; cgroup limits (v1 or
// v2) and rlimits. Everything of the run is dead before its outputs are opened, and nothing of it
// stays on the machine.
//
// A server that is not root gets the same walls without the uid of its own; SelfTest says so.
//
// In reading order: spec.go is what a caller asks for and gets; sandbox.go what the machine offers; process.go starts a
// run up to a gate, limits it and opens the gate; supervise.go sees it to its end; conclude.go says how it ended and
// collect.go reads its files. Its parts: area.go and mountns.go (writable areas), arguments.go (bubblewrap's command
// line), descriptors.go, seccomp*.go, cgroup/ and rlimit.go, capture.go (bounded output), thread.go. What a killed
// server left is owner.go's and orphan.go's. selftest.go proves all this on the machine, probe.go is the program that
// it runs inside; off.go is the way without a sandbox.
//
// The toolchain, warm Pythons and profiling run everything through Run; the worker takes no jobs where SelfTest fails.
//
// What may go wrong: a process hangs in a driver and does not die (ErrStuck); a machine has no cgroups (rlimits must
// do, and the self-test says what is less); the kernel lacks a namespace (runs fail, the self-test says which).
package sandbox
