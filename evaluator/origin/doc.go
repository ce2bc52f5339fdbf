// Package origin says where the kernels came from that a program launched under Nsight Compute: from its source, or from a
// library.
//
//	name.go    the parts of a kernel's name
//	source.go  the kernels that a source declares
//	origin.go  the rows: name, launches, time, origin
//
// profiling calls it for each case of a profile, and for evaluations with device metrics. The rows go into the result.
//
// It is evidence from one untimed call. A kernel's name is all that it looks at, and a program chooses its names; it can also
// recognise the profiler and launch others. So no score depends on an origin, and pages say so. A kernel is the source's only if the
// source declares a kernel of this name. The names of libraries change with their versions: what no rule knows is "unknown".
package origin
