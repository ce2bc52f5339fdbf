//go:build race

package web_test

// memoryFactor is the factor by which a program needs more memory with the race detector.
const memoryFactor = 8
