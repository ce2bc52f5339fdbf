// Package fuzztest runs each fuzz target for a moment as part of its package's tests, so that what a few thousand odd inputs
// break shows in `make test-attacks`.
//
// A target calls fuzztest.go's Moment first. The process that fuzzes is the test binary itself, without the coverage that guides long
// fuzzing: compiling everything once more for that takes minutes. For a long search use go test -fuzz.
package fuzztest
