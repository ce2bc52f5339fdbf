// Package sentinels keeps what the kernels of package gauge took on each unit, again and again, and says when a unit is
// not what it was.
//
// Read sentinels.go: Keep (what a heartbeat brings, once), Drift (the last two against up to fifty before them, by median and
// median deviation) and Noise. The recorder keeps them and asks for drift when it scores a run; the devices page and the page
// of a device's units show them. Times are in nanoseconds, at by the worker's clock; they are kept for 30 days.
//
// A sentinel is a median of many calls in one process: two of them differ by what a process differs from the next. So less
// than 2 % is never called drift, and neither is what happens once.
//
// What may go wrong: a change that lasts becomes the usual time once most of the last fifty sentinels have it, after some four
// hours of an idle unit; the drift then ends without anyone having looked. With fewer than seven nothing is said at all.
package sentinels
