// Package ncutest has the output of ncu for two kernels on an H200, for tests. It does not import package ncu, whose
// own tests use it, too.
package ncutest
