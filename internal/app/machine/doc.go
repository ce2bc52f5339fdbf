// Package machine finds the devices, compilers, and sandbox of this machine. `serve` and `work` configure a worker with
// it, and package verify runs solutions with it without a site.
//
// It only detects: nothing is compiled or tested here, and failures show when a slot tests itself (evaluator/selftest).
// Two processes on one machine need separate ranges of user IDs, see Settings.FirstUID.
package machine
