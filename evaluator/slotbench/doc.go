// Package slotbench benchmarks a slot with built-in kernels, through the same judge as submissions: a kernel that does
// nothing, one that reads memory, and one that multiplies and adds. The results are the floor below which no time is
// plausible, the limits above which no rate is plausible (roofs), and, over time, a series that shows drift of the
// slot.
//
// slotbench.go makes the job and reads its result; the kernels are in programs/. The worker benchmarks its slots while
// they are idle, and reports the numbers with every run.
//
// The arithmetic limit applies to fp32 without tensor cores: a task whose kernels may use tensor cores should declare
// only bytes. Memory is read, not written, because reading is faster. The best of all repetitions counts, so that a
// neighbor's load during the benchmark cannot put an honest run above a limit.
package slotbench
