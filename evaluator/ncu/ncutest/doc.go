// Package ncutest reads what ncu printed of two kernels on an H200, for tests. It knows nothing of package ncu, whose own
// tests use it, too.
package ncutest
