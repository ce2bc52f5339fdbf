// Package origin determines where the kernels of a program under Nsight Compute came from: its source, or a library.
//
//	name.go    parts of a kernel's name
//	source.go  kernels declared in a source
//	origin.go  rows: name, launches, time, origin
//
// profiling calls it for each case of a profile, and for evaluations with device metrics. The rows are part of the
// result.
//
// An origin is evidence from one untimed call. It depends only on the kernel's name, which the program chooses; a
// program can also detect the profiler and launch other kernels. So no score depends on an origin, and pages note this.
// A kernel is the source's only if the source declares a kernel of this name. Names in libraries change with their
// versions: names without a rule are "unknown".
package origin
