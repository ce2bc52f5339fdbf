// Package sentinels keeps what the kernels of package gauge took on each unit, again and again, and says when a unit is
// not what it was.
//
// The recorder keeps them and asks for drift when it scores a run; the devices page shows them. A sentinel is a median
// of many calls in one process: two of them differ by what a process differs from the next.
package sentinels
