// Package gauge measures a slot with kernels of our own, through the same judge as everyone's: a kernel that does
// nothing, one that reads memory, and one that multiplies and adds. That gives the floor below which no time can be
// honest, the roofs above which no rate can be, and by repetition a sentinel that shows when the unit drifts.
//
// gauge.go makes the job and reads its result; the kernels are in programs/. The worker gauges its slots while no one
// needs them, and says what it found with every run.
//
// The roof of arithmetic is that of fp32 without tensor cores: a task whose kernels may use those should declare bytes
// alone. Memory is read, not written, because that is the faster of the two. The best of all repetitions counts, so
// that a neighbour makes no one look as if they were above a roof.
package gauge
