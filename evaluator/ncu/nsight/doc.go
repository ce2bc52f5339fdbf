// Package nsight knows the program ncu: tool.go finds which one is installed and what its version can do; collect.go has its
// command lines, and what a failed collection means for its reader. It starts nothing but `ncu --version` and
// `ncu --list-sections`: package profiling runs the commands in the sandbox, and package ncu reads what they print.
//
// What may go wrong: versions rename sections and write other files (reportName); a driver refuses counters, which Explain says
// in a sentence for the operator.
package nsight
