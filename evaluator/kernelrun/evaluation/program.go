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

// Modes of the program.
const (
	ModeTest      = "test"      // compile, check and time
	modeReference = "reference" // time the reference alone
	modeRecord    = "record"    // run the reference alone, and keep what it gives
	modeRecall    = "recall"    // compile, check and time the other kernel beside what is kept
	ModeCompile   = "compile"   // compile what needs no GPU for that
	modeProfile   = "profile-"  // and a label: one call of that kernel for Nsight Compute
)

// The labels of kernels.
const (
	customLabel = "custom"
	refLabel    = "ref"
)

// The programs of the judge, and of the processes of the kernels.
const (
	judgeFile  = "evaluate.py"
	kernelFile = "kernel_process.py"
)

const (
	// CompiledFile is where the process of a kernel finds what that was compiled to before.
	CompiledFile = "compiled.json"
	limitFile    = "limit"     // the seconds that it has
	keyFile      = "reference" // the key of the reference to keep, or that is kept
	// requestFile is the request, for the judge alone. It comes with each stage and is no file of the task: an extension would be
	// compiled again for another reference, other inputs, or more trials.
	requestFile       = "request.json"
	kernelRequestFile = "kernel.json" // what the process of a kernel has of the request
)

// The files of sources that compile an extension.
const (
	customFile = customLabel + "_kernel.py"
	refFile    = refLabel + "_kernel.py"
)

// taskOf makes a Python task of a request, which is built and run as any other, and the text of requestFile. A source that compiles
// an extension is the task's submission, so that it is compiled before a device is held.
func taskOf(r kernelrun.Request, device string) (def tasks.Definition, files map[string][]byte, request []byte, err error) {
	def = tasks.Definition{
		Form: tasks.FormEval, Lang: tasks.LangPython, OwnHarness: true,
		Config: tasks.Config{Main: judgeFile}, Timeouts: tasks.Timeouts{Test: time.Duration(r.Timeout) * time.Second},
	}
	request, err = json.Marshal(struct {
		kernelrun.Request
		Device string `json:"device"`
		Inputs string `json:"inputs"`
		Init   bool   `json:"init"`
	}{r, device, inputsFrom(r), hasInit(r)})
	if err != nil {
		return def, nil, nil, fmt.Errorf("write the program's request: %w", err)
	}
	if files, err = programFiles(); err != nil {
		return def, nil, nil, err
	}
	addSubmission(&def, files, customFile, &r.Custom)
	addSubmission(&def, files, refFile, r.Ref)
	return def, files, request, nil
}

// inputsFrom is the label of the kernel whose get_inputs gives the inputs, in a separate process; empty if they come from a
// contract. The reference's get_inputs counts, since it defines what is right.
func inputsFrom(r kernelrun.Request) string {
	gives := func(code *kernelrun.Code) bool {
		return code != nil && code.IO == nil && strings.Contains(code.Source, "get_inputs")
	}
	switch {
	case gives(r.Ref):
		return refLabel
	case gives(&r.Custom) && (r.Ref == nil || r.Ref.IO == nil):
		return customLabel
	}
	return ""
}

// inputsProcess is the label of the source that the process beside the kernels has; empty if there is none.
func inputsProcess(r kernelrun.Request) string {
	if label := inputsFrom(r); label != "" || !hasInit(r) {
		return label
	}
	return refLabel
}

// hasInit reports whether the custom kernel's class is made with what the reference's get_init_inputs gives, as in KernelBench.
// That runs in the process that draws the inputs.
func hasInit(r kernelrun.Request) bool {
	isClass := (r.Custom.Type == "torch" || r.Custom.Type == "torch_cuda") && r.Custom.Metadata["function_name"] == nil
	return isClass && r.Ref != nil && strings.Contains(r.Ref.Source, "get_init_inputs") && inputsFrom(r) != customLabel
}

// labels are those of the request's kernels.
func labels(r kernelrun.Request) []string {
	if r.Ref == nil {
		return []string{customLabel}
	}
	return []string{customLabel, refLabel}
}

// refused is the result of a request whose extension could not be built. The text is the compiler's, or a
// traceback, and names the file.
func refused(text string) kernelrun.Result {
	report := kernelrun.Report{CompilationError: "Compilation error:\n" + text}
	if strings.Contains(text, refFile) {
		report = kernelrun.Report{RefCompilationError: report.CompilationError, ValidationError: skipped, Fault: kernelrun.FaultReference}
	}
	return kernelrun.Result{Report: report, Stage: kernelrun.StageCompiling}
}

// skipped is the text in a custom kernel's report if its reference does not compile.
const skipped = "Skipped due to compilation failure"

// compilesAlone reports whether ModeCompile has something to compile.
func compilesAlone(r kernelrun.Request) bool {
	return slices.ContainsFunc(labels(r), func(label string) bool { return compilesBefore(r, label) })
}

// compilesBefore reports whether a kernel can be compiled without its device.
func compilesBefore(r kernelrun.Request, label string) bool {
	code := codeOf(r, label)
	return code.Type == "triton" || code.Type == "cuda"
}

// codeOf is the kernel of a label.
func codeOf(r kernelrun.Request, label string) *kernelrun.Code {
	if label == refLabel {
		return r.Ref
	}
	return &r.Custom
}

// kernelsText is a text of the request's kernels and of the program: where it is the same, the same is compiled.
func kernelsText(r kernelrun.Request) string {
	files, err := programFiles()
	text, unwritten := json.Marshal(struct {
		Program map[string][]byte
		Kernels []*kernelrun.Code
	}{files, codes(r)})
	if err := errors.Join(err, unwritten); err != nil {
		panic(err) // the files are part of this binary, and the kernels were read from JSON
	}
	return string(text)
}

func programFiles() (map[string][]byte, error) {
	names, err := program.ReadDir("program")
	if err != nil {
		return nil, fmt.Errorf("read the program: %w", err)
	}
	// The judge, the gate and the clocks are those of tasks.
	files := harness.Sources(tasks.FormEval, tasks.LangPython)
	delete(files, "utils.py")
	for _, entry := range names {
		if files[entry.Name()], err = program.ReadFile("program/" + entry.Name()); err != nil {
			return nil, fmt.Errorf("read the program: %w", err)
		}
	}
	return files, nil
}

func codes(r kernelrun.Request) []*kernelrun.Code {
	if r.Ref == nil {
		return []*kernelrun.Code{&r.Custom}
	}
	return []*kernelrun.Code{&r.Custom, r.Ref}
}

func addSubmission(def *tasks.Definition, files map[string][]byte, name string, code *kernelrun.Code) {
	if code == nil || code.Type == "cuda" || !toolchain.CompilesExtension([]byte(code.Source)) {
		return
	}
	files[name] = []byte(code.Source)
	def.Files = append(def.Files, tasks.File{Name: name, Source: tasks.SubmissionSource})
}
