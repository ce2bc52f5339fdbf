package epochs

import (
	"warpboard/evaluator/job"
	"warpboard/internal/gpuname"
)

// SoftwareFor returns the software of a machine that tasks of a kind use. For Python on the CPU it has no compiler.
func SoftwareFor(m job.Machine, kind Kind) Software {
	all := Software{Driver: m.Driver, CUDA: m.CUDA, Compiler: m.Compiler, Harness: m.Harness}
	if kind == Native {
		return all
	}
	if m.Device == gpuname.CPU {
		all.Compiler = ""
	}
	all.Torch, all.Triton = m.Torch, m.Triton
	return all
}

// SoftwareOf returns the software of a run's machine record. The record contains Python only if the task uses it.
func SoftwareOf(m job.Machine) Software {
	if m.Python != "" {
		return SoftwareFor(m, Python)
	}
	return SoftwareFor(m, Native)
}
