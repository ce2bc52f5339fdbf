// Package toolchain finds the compilers and interpreters of a machine, builds submissions with them in the sandbox, caches
// compiled objects, and runs the stages of the programs.
//
// In reading order: find.go and python.go find the tools; builder.go is Build and Open; plan.go has the commands of a C++ or
// CUDA build, compile.go runs them and finds the task's own units compiled already, build_native.go and build_python.go are
// the two kinds of builds; explain.go and ptxas.go read compilers' messages; store.go keeps products on disk by the hash of
// their inputs, locks.go makes each only once; program.go runs executables and python_program.go scripts, in warm Pythons
// (warm/) if there are any.
//
// taskrun and kernelrun/evaluation build and open; the worker keeps Pythons warm and precompiles tasks.
//
// It promises: a submission that does not compile is a result and not an error; the judge's program is built without the
// submission in sight, and the runner's without the reference; only compiled kernels pass from one stage to the next.
//
// What may go wrong: a cache on a full disk fails builds (an infrastructure error); a changed include library is noticed
// only by its age; an object that a worker of another version compiled is not reused, because the plan's hash holds versions
// and flags.
package toolchain
