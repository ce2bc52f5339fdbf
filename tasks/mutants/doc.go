// Package mutants makes wrong submissions from a correct one, to find errors that a task's check misses. Each calls the
// correct kernel and changes its answer or its input; the rest of the kernel is unchanged.
//
// mutants.go has the kinds, native.go and python.go their code. A mutant supports answers that are one array: numbers
// that C++ can index, a DeviceBuffer, a numpy array, or a tensor. For others it may not compile or raise an error, and
// then shows nothing about the task. Some are correct by luck (reversing one element, a lower precision that the task
// allows, a term that is too small): the reader of the report decides. A stale answer is wrong from the second call on:
// a task with one test cannot detect it there.
package mutants
