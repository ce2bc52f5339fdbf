// Package evaluation runs an evaluation of one or two kernels on a worker, in stages: compiling, validating, and
// profiling (which in this API means timing).
//
// Files in reading order: program.go converts a request to a Python program, which has a judge (program/evaluate.py)
// and, each in a process and a sandbox of its own, the kernels and the source of their inputs
// (program/kernel_process.py); evaluation.go builds extensions, runs the program on a slot, and reads device metrics;
// processes.go describes the files of each process; reuse.go compares a kernel with a reference that the judge of an
// earlier evaluation has kept (program/reusing.py, program/trials.py); precompile.go compiles Triton and CUDA kernels
// while their slot is busy; compilation.go only compiles, without a slot; reader.go parses the report of the judge and
// attributes a crash to the step in progress.
//
// An evaluation responds before the processes of its kernels have ended if the constants of the judge's clocks are
// already known, and all processes use at most an eighth of the memory of the device (Stages.end). During that time the
// next evaluation of the same caller loads kernels in other Pythons, in processes that have been prepared for kernels
// of the same kinds (prepare in kernel_process.py); before its first call, it waits until the earlier processes have
// ended (Timekeeper.wait_alone). Preparing uses the device, so it begins when an evaluation has nothing left to measure
// (Stages.allow_preparing).
//
// A baseline is an additional comparison in the same stages with another reference (compareBaselines). A setup is a
// call of the function setup of a kernel before the inputs of a case are generated (Stages.set_up).
//
// The worker calls Build, SlotCount, Run, and Conclude, in this order (evaluator.Work).
//
// Trust: the judge runs no code of the request. It generates the inputs that a contract describes. get_inputs() is code
// of the request and knows the inputs before any clock runs, so it runs in a process that is never timed, with seeds
// that the processes of the kernels never get; if both kernels have the function, that of the reference is used. The
// request defines, visibly, what is correct (by a reference) and which inputs are used; a kernel can forge neither its
// time nor the verdict. The gate, the clocks, and the constants of the judge are the same as for tasks (package judge).
//
// Weaknesses:
//
//   - Two compared kernels exist at the same time. On a CPU, one that continues to work after its call slows the other,
//     and nothing detects this.
//   - Inputs with values in the request are the same in every call; the report notes that.
//   - The process of the kernel returns its compiled form, which may not match the source. The compiled form is
//     therefore stored only for the same kernel of the same caller.
//   - The output of user code is limited.
//   - A kept reference runs before the other kernel has a process, and a person who reads the output of an earlier
//     kernel knows repeated inputs. Reuse therefore requires a kernel much smaller than its outputs or inputs.
//   - A setup can start work that continues during the calls, as importing the source can.
//   - Processes of an ended evaluation can slow down, for two seconds, the loading of the next one of the same caller.
//
// A time limit includes building and running, but not waiting for a slot.
package evaluation
