// Package profiling runs Nsight Compute in the sandbox.
//
// In reading order: nsight.go runs a program's process under ncu and has ncu print the report that it left; profile.go is
// the profile stage of a run, one process for all benchmark cases, and the artifacts that it leaves; cutter.go assigns
// kernels to cases; counters.go reads the device metrics of an evaluation.
//
// taskrun calls Profile, kernelrun/evaluation calls Counters. Package ncu has the command lines and reads the pages.
//
// What may go wrong: the driver refuses counters to the user, the report is too large, no kernel was launched. Each gives a
// sentence for the person who asked; an error of Profile is an infrastructure error.
package profiling
