//go:build race

package costtest

// fatter is the factor of additional allocations with the race detector, under which a sync.Pool drops values at
// random.
const fatter = 4
