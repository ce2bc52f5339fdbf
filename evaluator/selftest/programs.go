package selftest

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strconv"
	"time"

	"warpboard/evaluator/device"
	"warpboard/evaluator/job"
	"warpboard/evaluator/toolchain"
	"warpboard/tasks"
)

// TaskKey is the task key of all test programs.
const TaskKey = "selftest"

// selfTestTimeLimit is the time limit of a test program: on a machine that has just started, torch is imported twice
// and Triton compiles. A slot whose tests never passed accepts no jobs for up to this time.
const selfTestTimeLimit = 3 * time.Minute

// Program is a test program that a slot must compile and run.
type Program struct {
	Name string // for example "NumPy"
	Job  job.Job
	fix  string // advice for the operator after a failure
}

// languageTest is a language that a machine may support, and the built-in task that tests it.
type languageTest struct {
	name, task, template, fix string
	size                      tasks.Case
	gpu                       bool
	promised                  func(toolchain.Toolchain) bool
}

func elementsCase(n int) tasks.Case {
	return tasks.Case{{Name: "size", Value: strconv.Itoa(n)}, {Name: "seed", Value: "4242"}}
}

// languageTests returns the tests of all languages. Programs omits those that the machine does not support: a worker
// without nvcc accepts Python jobs.
func languageTests() []languageTest {
	has := func(name string) func(toolchain.Toolchain) bool {
		return func(t toolchain.Toolchain) bool { return t.Python != nil && t.Python.Packages[name] != "" }
	}
	const user = "as a user who is not root"
	return []languageTest{
		{name: "C++", task: "vectoradd_cpp", template: "template.cpp", size: elementsCase(1 << 16),
			promised: func(t toolchain.Toolchain) bool { return t.GPP != nil },
			fix:      "See that g++ compiles a program with <vector> " + user},
		{name: "NumPy", task: "softmax_numpy", template: "template.py",
			size:     tasks.Case{{Name: "rows", Value: "256"}, {Name: "columns", Value: "512"}, {Name: "seed", Value: "4242"}},
			promised: has("numpy"), fix: "See that the worker's python3 imports numpy " + user},
		{name: "CUDA C++", task: "vectoradd_cuda", template: "template.cu", size: elementsCase(1 << 24), gpu: true,
			promised: func(t toolchain.Toolchain) bool { return t.NVCC != nil },
			fix:      "See that nvcc compiles for this GPU, and that nvidia-smi shows the GPU without errors"},
		{name: "torch", task: "vectoradd_torch", template: "template.py", size: elementsCase(1 << 24), gpu: true,
			promised: func(t toolchain.Toolchain) bool { return has("torch")(t) && !has("triton")(t) },
			fix:      "See that torch.zeros(1, device=\"cuda\") works in the worker's python3 " + user},
		{name: "torch and Triton", task: "vectoradd_torch", template: "template_triton.py", size: elementsCase(1 << 24), gpu: true,
			promised: func(t toolchain.Toolchain) bool { return has("torch")(t) && has("triton")(t) },
			fix:      "See that torch.zeros(1, device=\"cuda\") works in the worker's python3 " + user + ", and that a C compiler is there for Triton"},
	}
}

// Programs returns the test programs for a slot and the tools of its machine.
func Programs(slot device.Slot, tools toolchain.Toolchain) ([]Program, error) {
	bundles, err := tasks.Examples()
	if err != nil {
		return nil, fmt.Errorf("read the built-in tasks: %w", err)
	}
	var list []Program
	for _, k := range languageTests() {
		if k.gpu != slot.IsGPU() || !k.promised(tools) {
			continue
		}
		at := slices.IndexFunc(bundles, func(b *tasks.Bundle) bool { return b.Name == k.task })
		if at < 0 {
			return nil, fmt.Errorf("there is no built-in task %s", k.task)
		}
		j, err := k.job(bundles[at], slot.Device)
		if err != nil {
			return nil, err
		}
		list = append(list, Program{Name: k.name, Job: j, fix: k.fix})
	}
	return list, nil
}

// job returns the job of a test program: the task's own template, run once in the benchmark stage, the only stage in
// which the judge reports both clocks.
func (k languageTest) job(b *tasks.Bundle, device string) (job.Job, error) {
	sources, err := b.ProgramFiles(tasks.Submission{Source: b.Files[k.template]})
	if err != nil {
		return job.Job{}, fmt.Errorf("read the built-in task %s: %w", k.task, err)
	}
	def := b.Definition
	def.Tests, def.Benchmarks = nil, []tasks.Case{k.size}
	def.Timeouts = tasks.Timeouts{Test: selfTestTimeLimit, Benchmark: selfTestTimeLimit, Ranked: selfTestTimeLimit}
	return job.Job{
		// The prefix marks the worker's own attempts: they may use a slot under test, are interrupted by jobs, and are
		// not reported to the site.
		MessageVersion: job.MessageVersion, AttemptID: job.SlotBenchmarkIDPrefix + rand.Text(), Device: device, Mode: job.ModeBenchmark,
		TaskHash: TaskKey, Task: def, Sources: sources, EnqueuedAt: time.Now(),
	}, nil
}

// Profiled returns the program in mode profile.
func (p Program) Profiled() Program {
	p.Job.Mode, p.Job.AttemptID = job.ModeProfile, job.SlotBenchmarkIDPrefix+rand.Text()
	return p
}
