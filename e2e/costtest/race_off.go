//go:build !race

package costtest

// slower is how much more time a program takes without the race detector.
const slower = 1

// fatter is how much more it allocates without the race detector.
const fatter = 1
