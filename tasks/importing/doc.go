// Package importing makes task folders of problems that were written for other benchmarks. It reads files and runs
// nothing: the task's own programs, in python/, call the problem's Python code in the sandbox of a run.
//
// In reading order:
//
//	importing.go    ReadProblems, which recognizes the problems of an upload
//	folder.go       the task folder of a problem, with its task.yml
//	kernelbench.go  KernelBench: a Python file with Model, get_inputs, and get_init_inputs
//	trace.go        SOL-ExecBench and FlashInfer Trace: a definition in JSON; workload.go reads its workloads
//	safetensors.go  the inputs that a workload stores in files
//	leetgpu.go      LeetGPU: a folder with a Challenge class; markdown.go writes its statement as Markdown
//	sizes.go        smaller sizes for smaller devices
//	python/         the programs of the tasks
//
// Guarantees: a problem becomes a whole folder or an error; what a task cannot express is in its OmissionNotes. The
// task format checks each folder like any other.
package importing
