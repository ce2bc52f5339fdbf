//go:build race

package web_test

// memoryFactor is how much more memory a program takes with the race detector.
const memoryFactor = 8
