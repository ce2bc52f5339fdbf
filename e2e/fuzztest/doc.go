// Package fuzztest runs each fuzz target briefly as part of its package's tests, so that `make test-attacks` finds what
// a few thousand random inputs break.
//
// A target first calls Moment of fuzztest.go. The fuzzing process is the test binary itself, without the coverage that
// guides long fuzzing: compiling everything again for coverage takes minutes. For a long search use go test -fuzz.
package fuzztest
