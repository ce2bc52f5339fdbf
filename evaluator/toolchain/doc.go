// Package toolchain finds the compilers and interpreters of a machine, builds submissions with them in the sandbox,
// caches compiled objects, and runs the stages of programs.
//
// In reading order: find.go and python.go find the tools; builder.go has Build and Open; plan.go has the commands of a
// C++ or CUDA build, compile.go runs them or takes the task's files from the store; build_native.go and build_python.go
// are the two kinds of builds, core.go compiles the judge's core of Python programs; inspect.go compiles without
// linking, and code.go reads the assembly; explain.go and ptxas.go parse compiler messages; store.go keeps products on
// disk by the hash of their inputs, locks.go serializes making them; program.go runs executables, and python_program.go
// runs scripts, in warm Pythons (package warm) if there are any.
//
// Callers: taskrun and kernelrun/evaluation build and open programs; the worker keeps Pythons warm and precompiles
// tasks.
//
// Guarantees: a submission that does not compile is a result, not an error. The judge's program is built without the
// submission's files, and the runner's without the reference. Only compiled kernels pass from one stage to the next. No
// stage begins in Pythons in which processes of another one are left, and Close returns when none is.
//
// Failures: a full disk fails builds (an infrastructure error). A changed include library is noticed only by the
// modification time of its directory. Objects of a worker of another version are not reused, because the key includes
// versions and flags.
package toolchain
