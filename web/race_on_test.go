//go:build race

package web_test

// memoryFactor is the factor by which the race detector increases the memory of a process.
const memoryFactor = 8
