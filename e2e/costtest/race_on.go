//go:build race

package costtest

// slower is how much more time a program takes with the race detector.
const slower = 15
