// Package profiling runs Nsight Compute in the sandbox.
//
// In reading order: nsight.go runs a program's process under ncu and lets ncu print the report; profile.go is the
// profile stage of a run, one process for all benchmark cases, and its artifacts; launch_splitter.go assigns kernels to
// cases; counters.go reads the device metrics of an evaluation; origin.go finds the origin of each kernel that ran, by
// its name (name.go) and by the submission's source (source.go).
//
// taskrun calls Profile, kernelrun/evaluation calls CollectCounters. Package ncu parses the pages of a report, and
// package ncu/nsight has the command lines.
//
// Failures: the driver refuses counters to the user, the report is too large, no kernel was launched. Each results in a
// message for the requester; an error of Profile is an infrastructure error.
package profiling
