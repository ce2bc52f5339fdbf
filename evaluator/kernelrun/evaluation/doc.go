// Package evaluation takes an evaluation of single kernels through its stages on a worker: compiling, validating,
// profiling (which here is timing, as the foreign API has it).
//
// In reading order: program.go makes a Python task of a request, with the program in program/ that compiles, checks and
// times the kernels; evaluation.go builds extensions, runs the program on a unit and reads device metrics;
// precompile.go compiles Triton and CUDA kernels while their unit is still somebody else's; reader.go follows the
// program's report and blames a crash on what was under way.
//
// The worker calls Build, Units, Run and Conclude, in this order (evaluator.Work).
//
// User code shares the program's process: everything that it says is bounded, and what it compiled is kept for its own
// caller alone. A time limit counts building and running, and not the waiting for a unit.
package evaluation
