//go:build race

package web

// memoryFactor is how much more memory a program takes with the race detector.
const memoryFactor = 8
