// Package cgroup limits and counts a tree of processes with Linux control groups.
//
// Machines differ: version 1, version 2, or both at once with each controller on either; a container may see only its
// own part of a tree, and may not be able to write there. Find chooses the directory in which this process may create
// children, for memory and for pids (find.go). New then creates one run's cgroups, which limit, count, kill, and are
// removed (group.go).
//
// The sandbox is the only caller. Guarantees: a process that Add moved is in the group with all its later children.
// Kill returns only when the group is empty or the deadline has passed. A nil Tree or Group limits nothing and returns
// no error, for machines without cgroups, which have only rlimits.
//
// Limits: version 1 kills only one process when memory runs out, and a fork bomb continues however often it is refused,
// so the caller must poll Exceeded. In version 2 a directory that delegates controllers must not have processes itself:
// Find then moves this process into a child, "warpboard.main". A killed server leaves cgroups behind, which the next
// server removes with Sweep.
package cgroup
