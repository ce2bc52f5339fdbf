//go:build race

package costtest

// fatter is how much more it allocates: pools drop what they hold now and then.
const fatter = 4
