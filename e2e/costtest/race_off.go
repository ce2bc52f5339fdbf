//go:build !race

package costtest

// fatter is the factor by which the race detector increases the allocated bytes; 1 without the race detector.
const fatter = 1
