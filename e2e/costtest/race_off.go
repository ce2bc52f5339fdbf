//go:build !race

package costtest

// fatter is the factor by which the race detector increases allocations; 1 without it.
const fatter = 1
