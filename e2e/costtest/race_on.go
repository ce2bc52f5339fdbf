//go:build race

package costtest

// fatter is the factor by which the race detector increases the allocated bytes, because a sync.Pool then drops values
// at random.
const fatter = 4
