package evaluation

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"warpboard/evaluator/harness"
	"warpboard/evaluator/kernelrun"
	"warpboard/evaluator/toolchain"
	"warpboard/tasks"
)

//go:embed program/*.py
var program embed.FS

// Modes of the evaluation program.
const (
	ModeTest      = "test"      // compile, check, and time
	modeReference = "reference" // time the reference alone
	modeRecord    = "record"    // run the reference alone, and keep its answers
	modeRecall    = "recall"    // compile, check, and time the other kernel with a kept reference
	ModeCompile   = "compile"   // compile kernels that can be compiled without a GPU
	modeProfile   = "profile-"  // prefix of a label: one call of that kernel for Nsight Compute
)

// Labels of kernels.
const (
	customLabel = "custom"
	refLabel    = "ref"
)

// Scripts of the judge and of the kernels' processes.
const (
	judgeFile  = "evaluate.py"
	kernelFile = "kernel_process.py"
)

const (
	// CompiledFile holds a kernel's compiled form for its process.
	CompiledFile = "compiled.json"
	limitFile    = "limit"     // time limit in seconds
	keyFile      = "reference" // key of the reference to keep, or of the kept one
	// requestFile is the name of the request file, which only the judge gets. Each stage has its own; it is not a file
	// of the task, because otherwise another reference, other inputs, or more trials would compile extensions again.
	requestFile       = "request.json"
	kernelRequestFile = "kernel.json" // part of the request for the process of a kernel
)

// Files of sources that compile an extension.
const (
	customFile = customLabel + "_kernel.py"
	refFile    = refLabel + "_kernel.py"
)

// taskOf converts a request to a Python task, which is built and run like any other. It also returns the content of
// requestFile. A source that compiles an extension is the submission of the task, so that it is compiled without a
// device.
func taskOf(
	r kernelrun.Request, device string,
) (def tasks.Definition, files map[string][]byte, request []byte, err error) {
	def = tasks.Definition{
		Form: tasks.FormEval, Lang: tasks.LangPython, OwnHarness: true,
		Config: tasks.Config{Main: judgeFile}, Timeouts: tasks.Timeouts{Test: time.Duration(r.Timeout) * time.Second},
	}
	request, err = json.Marshal(struct {
		kernelrun.Request
		Device string `json:"device"`
		Inputs string `json:"inputs"`
		Init   bool   `json:"init"`
	}{r, device, inputsFrom(r), constructedFromInputs(r)})
	if err != nil {
		return def, nil, nil, fmt.Errorf("write the program's request: %w", err)
	}
	if files, err = programFiles(); err != nil {
		return def, nil, nil, err
	}
	addSubmission(&def, files, customFile, &r.CustomKernel)
	addSubmission(&def, files, refFile, r.RefKernel)
	return def, files, request, nil
}

// inputsFrom returns the label of the kernel whose get_inputs generates the inputs in a separate process, or "" if a
// contract describes them. If both kernels have one, the reference's is used, because the reference defines
// correctness.
func inputsFrom(r kernelrun.Request) string {
	gives := func(code *kernelrun.Code) bool {
		return code != nil && code.IO == nil && strings.Contains(code.Source, "get_inputs")
	}
	switch {
	case gives(r.RefKernel):
		return refLabel
	case gives(&r.CustomKernel) && (r.RefKernel == nil || r.RefKernel.IO == nil):
		return customLabel
	}
	return ""
}

// inputsProcess returns the label of the source for the process that generates inputs, or "" if there is none.
func inputsProcess(r kernelrun.Request) string {
	if label := inputsFrom(r); label != "" || !constructedFromInputs(r) {
		return label
	}
	return refLabel
}

// constructedFromInputs reports whether the custom kernel's class is constructed with the result of the reference's
// get_init_inputs, as in KernelBench. That function runs in the process that generates the inputs.
func constructedFromInputs(r kernelrun.Request) bool {
	isClass := (r.CustomKernel.Type == "torch" || r.CustomKernel.Type == "torch_cuda") && r.CustomKernel.Metadata["function_name"] == nil
	return isClass && r.RefKernel != nil && strings.Contains(r.RefKernel.Source, "get_init_inputs") && inputsFrom(r) != customLabel
}

// kernelLabels returns the labels of the request's kernels.
func kernelLabels(r kernelrun.Request) []string {
	if r.RefKernel == nil {
		return []string{customLabel}
	}
	return []string{customLabel, refLabel}
}

// refused returns the result for an extension that could not be built. text is the output of the compiler, or a
// traceback with the file's name.
func refused(text string) kernelrun.Result {
	report := kernelrun.Report{CompilationError: "Compilation error:\n" + text}
	if strings.Contains(text, refFile) {
		report = kernelrun.Report{
			RefCompilationError: report.CompilationError,
			ValidationError:     skippedText,
			Fault:               kernelrun.FaultReference,
		}
	}
	return kernelrun.Result{Report: report, Stage: kernelrun.StageCompiling}
}

// skippedText is the message for a custom kernel whose reference does not compile.
const skippedText = "Skipped due to compilation failure"

// compilesAlone reports whether some kernel of the request can be compiled by ModeCompile.
func compilesAlone(r kernelrun.Request) bool {
	return slices.ContainsFunc(kernelLabels(r), func(label string) bool { return compilesBefore(r, label) })
}

// compilesBefore reports whether a kernel can be compiled without its device.
func compilesBefore(r kernelrun.Request, label string) bool {
	code := codeOf(r, label)
	return code.Type == "triton" || code.Type == "cuda"
}

// codeOf returns the kernel with a label.
func codeOf(r kernelrun.Request, label string) *kernelrun.Code {
	if label == refLabel {
		return r.RefKernel
	}
	return &r.CustomKernel
}

// kernelsText returns a text that is equal for requests whose compiled kernels are equal: it contains the kernels and
// the program.
func kernelsText(r kernelrun.Request) string {
	files, err := programFiles()
	text, unwritten := json.Marshal(struct {
		Program map[string][]byte
		Kernels []*kernelrun.Code
	}{files, kernelCodes(r)})
	if err := errors.Join(err, unwritten); err != nil {
		panic(err) // cannot happen: the files are embedded, and the kernels were read from JSON
	}
	return string(text)
}

func programFiles() (map[string][]byte, error) {
	names, err := program.ReadDir("program")
	if err != nil {
		return nil, fmt.Errorf("read the program: %w", err)
	}
	// Tasks have the same judge and clocks.
	files := harness.Sources(tasks.FormEval, tasks.LangPython)
	delete(files, "utils.py")
	for _, entry := range names {
		if files[entry.Name()], err = program.ReadFile("program/" + entry.Name()); err != nil {
			return nil, fmt.Errorf("read the program: %w", err)
		}
	}
	return files, nil
}

func kernelCodes(r kernelrun.Request) []*kernelrun.Code {
	if r.RefKernel == nil {
		return []*kernelrun.Code{&r.CustomKernel}
	}
	return []*kernelrun.Code{&r.CustomKernel, r.RefKernel}
}

// filesBeside returns the additional files of the kernels, by the name of the main file.
func filesBeside(r kernelrun.Request) map[string]map[string][]byte {
	beside := map[string]map[string][]byte{}
	for _, label := range kernelLabels(r) {
		files := map[string][]byte{}
		for name, text := range codeOf(r, label).Files {
			files[name] = []byte(text)
		}
		beside[label+"_kernel.py"] = files
	}
	return beside
}

func addSubmission(def *tasks.Definition, files map[string][]byte, name string, code *kernelrun.Code) {
	if code == nil || code.Type == "cuda" || !toolchain.CompilesExtension([]byte(code.Text())) {
		return
	}
	files[name] = []byte(code.Source)
	def.Files = append(def.Files, tasks.File{Name: name, Source: tasks.SubmissionSource})
}
