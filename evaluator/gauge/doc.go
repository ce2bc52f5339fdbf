// Package gauge measures a slot with kernels of our own, through the same judge as everyone's: a kernel that does nothing,
// one that reads memory, and one that multiplies and adds. The results are the floor below which no time can be honest, the
// roofs above which no rate can be, and, over time, a sentinel that shows when the slot drifts.
//
// gauge.go makes the job and reads its result; the kernels are in programs/. The worker gauges its slots while they are
// idle, and reports the numbers with every run.
//
// The roof of arithmetic is that of fp32 without tensor cores: a task whose kernels may use those should declare only bytes.
// Memory is read, not written, because reading is faster. The best of all repetitions counts, so that a neighbour's load
// during the gauge cannot put an honest run above a roof.
package gauge
