// Package evaluation takes an evaluation of single kernels through its stages on a worker: compiling, validating, and
// profiling (which means timing, as in the foreign API).
//
// In reading order: program.go makes a Python program from a request: a judge (program/evaluate.py) and, each in its
// own process and sandbox, the kernels and the source of their inputs (program/kernel_process.py); evaluation.go builds
// extensions, runs the program on a slot, and reads device metrics; processes.go describes the files of each process;
// reuse.go compares with a reference that the judge has kept (program/reusing.py, program/trials.py); precompile.go
// compiles Triton and CUDA kernels while their slot is busy; compilation.go only compiles, on no slot; reader.go parses
// the judge's report and attributes a crash to the step in progress.
//
// An evaluation answers before its kernels' processes have ended if no constants remain to be measured, and an eighth of
// the device's memory suffices for all processes (Stages.end). During that time its caller's next evaluation loads
// kernels in other Pythons. Before its first call, it waits for the end of the earlier ones (Timekeeper.wait_alone).
//
// Baselines are further comparisons by the same stages, with another reference (compareBaselines). A setup is a call of
// the kernel's process before the inputs of a case are drawn for it (Stages.set_up).
//
// The worker calls Build, SlotCount, Run, and Conclude, in this order (evaluator.Work).
//
// Trust: the judge runs no code of the request, and generates the inputs that a contract describes. get_inputs() is the
// requester's code and knows the inputs before any clock runs, so it has a process that is never timed, with seeds that
// the kernels' processes never get; if both sources have one, the reference's counts. The requester defines correctness
// (by the reference) and the inputs, visibly in the request; no kernel can forge its time or the verdict. The judge's
// gate, clocks, and constants are the same as for tasks (package judge).
//
// Weaknesses: two compared kernels are alive at the same time, and on a CPU one that continues to work slows the other
// unnoticed. Inputs given literally in a request are the same in every call; the report notes that. The kernel's own
// process passes on its compiled form, which may not match the source, so it is kept only for the same kernel of the
// same caller. Output of user code is limited. A kept reference runs before the other kernel has a process, and
// repeated inputs are known to anyone who reads an earlier kernel's output: reuse requires a kernel much smaller than
// its answers or the inputs. A setup can start work that goes on during the calls, as importing the source can. What an
// evaluation leaves behind can slow down, for two seconds, the loading of its caller's next one.
//
// A time limit includes building and running, but not waiting for a slot.
package evaluation
