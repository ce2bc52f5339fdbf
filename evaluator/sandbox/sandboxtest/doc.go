// Package sandboxtest reserves resources that only one test on a machine may use at a time: user IDs for sandboxes, and
// addresses. Tests count the processes of those IDs, and the kernel counts them for its limits, so that neither another
// test nor a running site may use the same ones. Compiled objects are in a directory that all tests may share.
package sandboxtest
