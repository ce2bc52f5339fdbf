//go:build race

package costtest

// slower is how much more time a program takes with the race detector.
const slower = 15

// fatter is how much more it allocates: pools drop what they hold now and then.
const fatter = 4
