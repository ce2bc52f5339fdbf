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
var programSource embed.FS

// Modes of the evaluation program.
const (
	ModeTest          = "test"      // compile, check, and time
	modeReference     = "reference" // time the reference alone
	modeKeepReference = "record"    // run the reference alone, and store its answers
	modeKeptReference = "recall"    // compile, check, and time the custom kernel; compare it with a stored reference
	ModeCompile       = "compile"   // compile kernels that can be compiled without a GPU
	modeProfile       = "profile-"  // followed by a kernel's label: one call of it for Nsight Compute
)

// Labels of the two kernels of a request.
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
	// CompiledFile has the packed compiled files of each kernel, by label, for the kernels' processes.
	CompiledFile     = "compiled.json"
	timeLimitFile    = "limit"     // has the time limit in seconds
	referenceKeyFile = "reference" // has the key of the reference to store, or of the stored one
	// requestFile is the name of the request file, which only the judge gets. Each stage has its own; it is not a file
	// of the task, because otherwise another reference, other inputs, or more trials would compile extensions again.
	requestFile       = "request.json"
	kernelRequestFile = "kernel.json" // has the part of the request that a kernel's process gets
)

// Names of the files with the sources of kernels that compile a C++ or CUDA extension.
const (
	customFile = customLabel + "_kernel.py"
	refFile    = refLabel + "_kernel.py"
)

// taskForRequest converts a request to a Python task, which is built and run like any other. request is the content of
// requestFile, which the task does not contain. A Python source that compiles a C++ or CUDA extension on import becomes
// a submission file of the task, so that the builder compiles its extension before the run, without a device. All other
// sources are only in request.
func taskForRequest(
	r kernelrun.Request, device string,
) (def tasks.Definition, files map[string][]byte, request []byte, err error) {
	def = tasks.Definition{
		Protocol: tasks.ProtocolEval, Lang: tasks.LangPython, HasOwnHarness: true,
		Config: tasks.BuildConfig{MainFile: judgeFile}, Timeouts: tasks.Timeouts{Test: time.Duration(r.Timeout) * time.Second},
	}
	request, err = json.Marshal(struct {
		kernelrun.Request
		Device string `json:"device"`
		Inputs string `json:"inputs"`
		Init   bool   `json:"init"`
	}{r, device, inputGeneratorLabel(r), constructedFromInputs(r)})
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

// inputGeneratorLabel returns the label of the kernel whose get_inputs generates the inputs in a separate process, or
// "" if a contract describes them. If both kernels have one, the reference's is used, because the reference defines
// correctness.
func inputGeneratorLabel(r kernelrun.Request) string {
	gives := func(code *kernelrun.KernelCode) bool {
		return code != nil && code.IOContract == nil && strings.Contains(code.Source, "get_inputs")
	}
	switch {
	case gives(r.RefKernel):
		return refLabel
	case gives(&r.CustomKernel) && (r.RefKernel == nil || r.RefKernel.IOContract == nil):
		return customLabel
	}
	return ""
}

// inputProcessLabel returns the label of the source for the process that generates inputs, or "" if there is none.
func inputProcessLabel(r kernelrun.Request) string {
	if label := inputGeneratorLabel(r); label != "" || !constructedFromInputs(r) {
		return label
	}
	return refLabel
}

// constructedFromInputs reports whether the custom kernel's class is constructed with the result of the reference's
// get_init_inputs, as in KernelBench. That function runs in the process that generates the inputs.
func constructedFromInputs(r kernelrun.Request) bool {
	isClass := (r.CustomKernel.KernelType == "torch" || r.CustomKernel.KernelType == "torch_cuda") && r.CustomKernel.Metadata["function_name"] == nil
	return isClass && r.RefKernel != nil && strings.Contains(r.RefKernel.Source, "get_init_inputs") && inputGeneratorLabel(r) != customLabel
}

// kernelLabels returns the labels of the request's kernels.
func kernelLabels(r kernelrun.Request) []string {
	if r.RefKernel == nil {
		return []string{customLabel}
	}
	return []string{customLabel, refLabel}
}

// extensionFailureResult returns the result for an extension of the reference or of the other kernel that could not be
// built. text is the output of the compiler, or a traceback.
func extensionFailureResult(text string, ofReference bool) kernelrun.Result {
	report := kernelrun.Report{CompilationError: "Compilation error:\n" + text}
	if ofReference {
		report = kernelrun.Report{
			RefCompilationError: report.CompilationError,
			ValidationError:     skippedMessage,
			Fault:               kernelrun.FaultReference,
		}
	}
	return kernelrun.Result{Report: report, LastStage: kernelrun.StageCompiling}
}

// skippedMessage is the message for a custom kernel whose reference does not compile.
const skippedMessage = "Skipped due to compilation failure"

// canCompileWithoutGPU reports whether ModeCompile can compile at least one kernel of the request.
func canCompileWithoutGPU(r kernelrun.Request) bool {
	return slices.ContainsFunc(kernelLabels(r), func(label string) bool { return canPrecompile(r, label) })
}

// canPrecompile reports whether a kernel can be compiled on a machine without a GPU.
func canPrecompile(r kernelrun.Request, label string) bool {
	code := kernelByLabel(r, label)
	return code.KernelType == "triton" || code.KernelType == "cuda"
}

// kernelByLabel returns the kernel with a label.
func kernelByLabel(r kernelrun.Request, label string) *kernelrun.KernelCode {
	if label == refLabel {
		return r.RefKernel
	}
	return &r.CustomKernel
}

// kernelsKeyText returns a text that is equal for requests whose compiled kernels are equal: it contains the kernels
// and the program.
func kernelsKeyText(r kernelrun.Request) string {
	files, err := programFiles()
	text, unwritten := json.Marshal(struct {
		Program map[string][]byte
		Kernels []*kernelrun.KernelCode
	}{files, kernelCodes(r)})
	if err := errors.Join(err, unwritten); err != nil {
		panic(err) // cannot happen: the files are embedded, and the kernels were read from JSON
	}
	return string(text)
}

func programFiles() (map[string][]byte, error) {
	names, err := programSource.ReadDir("program")
	if err != nil {
		return nil, fmt.Errorf("read the program: %w", err)
	}
	// The program uses the judge and the clocks of tasks.
	files := harness.Sources(tasks.ProtocolEval, tasks.LangPython)
	delete(files, "utils.py")
	for _, entry := range names {
		if files[entry.Name()], err = programSource.ReadFile("program/" + entry.Name()); err != nil {
			return nil, fmt.Errorf("read the program: %w", err)
		}
	}
	return files, nil
}

func kernelCodes(r kernelrun.Request) []*kernelrun.KernelCode {
	if r.RefKernel == nil {
		return []*kernelrun.KernelCode{&r.CustomKernel}
	}
	return []*kernelrun.KernelCode{&r.CustomKernel, r.RefKernel}
}

// additionalFiles returns the additional files of each kernel: name of its main file → name → content.
func additionalFiles(r kernelrun.Request) map[string]map[string][]byte {
	beside := map[string]map[string][]byte{}
	for _, label := range kernelLabels(r) {
		files := map[string][]byte{}
		for name, text := range kernelByLabel(r, label).Files {
			files[name] = []byte(text)
		}
		beside[label+"_kernel.py"] = files
	}
	return beside
}

func addSubmission(def *tasks.Definition, files map[string][]byte, name string, code *kernelrun.KernelCode) {
	if code == nil || code.KernelType == "cuda" || !toolchain.CompilesExtension([]byte(code.JoinedText())) {
		return
	}
	files[name] = []byte(code.Source)
	def.Files = append(def.Files, tasks.File{Name: name, Source: tasks.SubmissionSource})
}
