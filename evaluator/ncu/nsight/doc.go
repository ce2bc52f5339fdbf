// Package nsight is about the program ncu: tool.go finds the installed version and its features; collect.go has its command
// lines, and explains a failed collection. It starts only `ncu --version` and `ncu --list-sections`: package profiling runs
// the commands in the sandbox, and package ncu reads what they print.
//
// What may go wrong: versions rename sections and write other files (reportName); a driver refuses counters, which Explain
// turns into a sentence for the operator.
package nsight
