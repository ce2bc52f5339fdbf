// Package sandbox runs one untrusted process tree under bubblewrap, with limits.
//
// Only this package decides the rights of a run: an unprivileged user ID of its slot, set before bubblewrap starts;
// every namespace, no network, no capabilities; a seccomp filter; a read-only system; sized writable areas at /tmp,
// /dev/shm, and /out; cgroup limits (v1 or v2) and rlimits. All processes of the run have ended before its outputs are
// opened, and nothing of it stays on the machine.
//
// A server that is not root has the same isolation without separate user IDs; SelfTest reports this.
//
// In reading order: spec.go has the request and the outcome of a run; sandbox.go detects the machine's features;
// process.go starts a run up to a gate, limits it, and opens the gate; supervise.go waits for its end; conclude.go
// determines how it ended, and collect.go reads its files. Parts: area.go and mountns.go (writable areas), arguments.go
// (bubblewrap's command line), descriptors.go, seccomp_amd64.go (the forbidden system calls; bpf.go assembles them),
// cgroup_find.go, cgroup_group.go and rlimit.go, priority.go, capture.go (limited output), thread.go. owner.go and
// orphan.go clean up after a killed server. selftest.go tests all this on the machine, probe.go is the program that it
// runs inside, and listen.go has the addresses that it must not reach; off.go runs without a sandbox.
//
// The toolchain, warm Pythons, and profiling run everything through Run; the worker takes no jobs if SelfTest fails.
//
// Failures: a process hangs in a driver and does not die (ErrProcessStuck); a machine has no cgroups (only rlimits
// apply, and the self-test lists the missing limits); Linux lacks a namespace (runs fail, and the self-test names it).
//
// Control groups (cgroup_find.go, cgroup_group.go) limit and count the processes of a run. Machines differ: version 1,
// version 2, or both at once with each controller on either; a container may see only its own part of a tree, and may
// not be able to write there. A process that AddProcess moved is in the group with all its later children. Kill returns
// only when the group is empty or the deadline has passed. A nil CgroupTree or ControlGroup limits nothing, for
// machines without cgroups, which have only rlimits. Version 1 kills only one process when memory runs out, and a fork
// bomb continues however often it is refused, so the caller must poll ExceededLimit. In version 2 a directory that
// delegates controllers must not have processes itself: this process then moves into a child, "warpboard.main". A
// killed server leaves cgroups behind, which the next server removes with RemoveOrphans.
package sandbox
