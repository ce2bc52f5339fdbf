// Package evaluation takes an evaluation of single kernels through its stages on a worker: compiling, validating,
// profiling (which here is timing, as the foreign API has it).
//
// In reading order: program.go makes a Python program of a request: a judge (program/evaluate.py) and, each in a process
// and sandbox of its own, the kernels and what draws their inputs (program/kernel_process.py); evaluation.go builds
// extensions, runs the program on a unit and reads device metrics; processes.go says what each process finds; reuse.go
// compares with a reference that the judge keeps (program/reusing.py, program/trials.py); precompile.go compiles Triton and
// CUDA kernels while their unit is still someone else's; reader.go follows the judge's report and blames a crash on what was
// under way.
//
// The worker calls Build, Units, Run and Conclude, in this order (evaluator.Work).
//
// Who is trusted with what: the judge runs no line of the request's, and draws the inputs that a contract describes.
// get_inputs() is the requester's code and knows the inputs before any clock runs, so it has a process that is never
// timed, under seeds that the kernels' processes are never told; of two sources with one, the reference's counts. The
// requester decides what is right (by the reference) and for what (by the inputs), for all to read in the request; no
// kernel can write its time or the verdict. The judge's gate, clocks and constants are those of tasks (package judge).
//
// Weaknesses: two kernels that are compared live at the same time, and on a CPU one that goes on working slows the other
// unnoticed; inputs that a request gives word for word are the same in every call, which the report says; what a kernel
// was compiled to is handed on by its own process, and so kept for the same kernel of the same caller alone, where it
// need not be what the source says. What user code says is bounded. A reference that is kept runs before the other kernel
// has a process, and inputs that come back are known to anyone who reads what an earlier kernel printed: a kernel must be
// much smaller than what its answers, or the inputs, can be told in.
// A time limit counts building and running, and not the waiting for a unit.
package evaluation
