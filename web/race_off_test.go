//go:build !race

package web_test

// memoryFactor is 1 because the race detector, which needs more memory, is off.
const memoryFactor = 1
