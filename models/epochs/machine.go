package epochs

import (
	"warpboard/evaluator/job"
	"warpboard/internal/gpuname"
)

// SoftwareForKind returns the software of a machine that tasks of a kind use. For Python on the CPU it has no compiler.
func SoftwareForKind(m job.Machine, kind SoftwareKind) Software {
	all := Software{Driver: m.Driver, CUDA: m.CUDA, Compiler: m.CompilerVersion, Harness: m.HarnessDigest}
	if kind == NativeSoftware {
		return all
	}
	if m.Device == gpuname.CPU {
		all.Compiler = ""
	}
	all.Torch, all.Triton = m.Torch, m.Triton
	return all
}

// SoftwareOfRun returns the software of a run's machine record. The record contains Python only if the task uses it.
func SoftwareOfRun(m job.Machine) Software {
	if m.Python != "" {
		return SoftwareForKind(m, PythonSoftware)
	}
	return SoftwareForKind(m, NativeSoftware)
}
