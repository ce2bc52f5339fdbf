//go:build !race

package costtest

// fatter is how much more it allocates without the race detector.
const fatter = 1
