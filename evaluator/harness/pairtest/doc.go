// Package pairtest runs a judge and a runner without sandboxes, for the tests of harness and judge: they share this
// process's user and files. What only the sandbox keeps apart cannot be tested with it.
package pairtest
