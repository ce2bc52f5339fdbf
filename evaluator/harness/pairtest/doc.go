// Package pairtest runs a judge and a runner without sandboxes, for tests of harness and judge: they share this
// process's user and files. It cannot test isolation, which only the sandbox provides.
package pairtest
