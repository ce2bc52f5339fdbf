//go:build !race

package costtest

// fatter is the factor of additional allocations without the race detector.
const fatter = 1
