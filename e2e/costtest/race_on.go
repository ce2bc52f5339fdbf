//go:build race

package costtest

// slower is how much more time a program takes with the race detector, also on a slow machine: there, work that took 1.1 s on others took 1.7.
const slower = 25

// fatter is how much more it allocates: pools drop what they hold now and then.
const fatter = 4
