// Package nsight handles the program ncu: tool.go finds the installed version and its features; collect.go has its
// command lines, and explains a failed collection. It starts only `ncu --version` and `ncu --list-sections`: package
// profiling runs the commands in the sandbox, and package ncu parses their output.
//
// Versions of ncu rename sections and write other files (exportArgument). If a driver refuses counters, ExplainFailure
// returns a sentence for the operator.
package nsight
