// Package mutants makes wrong submissions of a right one, to find out what a task's check lets through. Each calls the
// right kernel and spoils its answer or its input, so that whatever else the kernel does stays as it is.
//
// mutants.go has the kinds, native.go and python.go what they are made of. A mutant fits answers that are one array: of numbers that C++ can index, a DeviceBuffer, a numpy array or a tensor.
// Of others it may not compile or raise an error, and then says nothing of the task. Some are right by luck (reversing
// one element, a lower precision that the task allows, a term too small to be seen): who reads the report decides. A
// stale answer is wrong from the second call on: a task with one test cannot see it there.
package mutants
