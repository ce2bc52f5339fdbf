//go:build !race

package web

// memoryFactor is how much more memory a program takes with the race detector, which is off.
const memoryFactor = 1
