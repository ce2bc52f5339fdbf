// Package slotbenchmarks stores the repeated times of package slotbench's kernels on each slot, and reports when a slot
// drifts.
//
// Read slotbenchmarks.go: Keep (stores a benchmark of a heartbeat, once), Drift (compares the last two with up to fifty
// before them, by median and median deviation), and Noise. The dispatcher stores them; package scores checks for drift
// when a result comes; the devices page and the page of a device's slots show them. Times are in nanoseconds, at is by
// the worker's clock; they are kept for 30 days.
//
// A benchmark is a median of many calls in one process: two of them differ as much as two processes do. So less than 2
// % is never drift, and neither is a single deviation.
//
// Trap: a lasting change becomes the usual time once most of the last fifty benchmarks have it, after some four hours
// of an idle slot; the drift then ends without a review. With fewer than seven benchmarks there is no drift.
package slotbenchmarks
