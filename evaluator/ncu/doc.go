// Package ncu takes Nsight Compute's measure of a kernel: it builds the ncu command lines,
// reads what ncu prints into typed values, and derives the views that the pages show. Profiling
// itself is run by a worker's pipeline in its sandbox, from the command lines built here.
//
// A number that ncu did not measure (NaN, n/a, no data, empty) is never read as zero: it has no
// value, here, in the stored JSON and on every page.
package ncu
