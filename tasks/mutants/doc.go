// Package mutants makes wrong submissions of a right one, to find out what a task's check lets through. Each calls the
// right kernel and spoils its answer, so that whatever else the kernel does stays as it is.
//
// A mutant fits answers that are one array: of numbers that C++ can index, a DeviceBuffer, a numpy array or a tensor.
// Of others it may not compile or raise an error, and then says nothing of the task. Some are right by luck (reversing
// one element, a lower precision that the task allows): who reads the report decides.
package mutants
