package kernelrun

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"warpboard/tasks"
)

//go:embed program/*.py
var program embed.FS

// Modes of the program.
const (
	ModeTest          = "test"           // compile, check and time
	ModeCompile       = "compile"        // compile what needs no GPU for that
	ModeProfileRef    = "profile-ref"    // one call of the reference for Nsight Compute
	ModeProfileCustom = "profile-custom" // one call of the custom kernel
)

const mainFile = "evaluate.py"

// CompiledFile is where the program finds what Reader.Compiled gave for the same kernels before.
const CompiledFile = "compiled.tar.gz"

// The files of sources that compile an extension.
const (
	customFile = "custom_kernel.py"
	refFile    = "ref_kernel.py"
)

// buildsExtension recognises a source that compiles a C++ or CUDA extension when it is imported.
var buildsExtension = regexp.MustCompile(`\b(load_inline|cpp_extension)\b`)

// Task makes a Python task of a request, for the worker that builds and runs it as any other. A source
// that compiles an extension is its submission, so that it is compiled before a device is held.
func (r Request) Task(device string) (tasks.Definition, map[string][]byte, error) {
	def := tasks.Definition{
		Form: tasks.FormEval, Lang: tasks.LangPython, OwnHarness: true,
		Config: tasks.Config{Main: mainFile}, Timeouts: tasks.Timeouts{Test: time.Duration(r.Timeout) * time.Second},
	}
	request, err := json.Marshal(struct {
		Request
		Device string `json:"device"`
	}{r, device})
	if err != nil {
		return def, nil, fmt.Errorf("write the program's request: %w", err)
	}
	files, err := programFiles()
	if err != nil {
		return def, nil, err
	}
	files["request.json"] = request
	r.addSubmission(&def, files, customFile, &r.Custom)
	r.addSubmission(&def, files, refFile, r.Ref)
	return def, files, nil
}

// Refused is the result of a request whose extension could not be built. The text is the compiler's, or a
// traceback, and names the file.
func Refused(text string) Result {
	report := Report{CompilationError: "Compilation error:\n" + text}
	if strings.Contains(text, refFile) {
		report = Report{RefCompilationError: report.CompilationError, ValidationError: skipped}
	}
	return Result{Report: report, Stage: StageCompiling}
}

// skipped is what a custom kernel's report says when its reference does not compile.
const skipped = "Skipped due to compilation failure"

// CompilesAlone tells whether ModeCompile has something to compile.
func (r Request) CompilesAlone() bool {
	for _, code := range r.codes() {
		if code.Type == "triton" || code.Type == "cuda" {
			return true
		}
	}
	return false
}

// Kernels is a text of the request's kernels and of the program: where it is the same, the same is compiled.
func (r Request) Kernels() string {
	files, err := programFiles()
	text, unwritten := json.Marshal(struct {
		Program map[string][]byte
		Kernels []*Code
	}{files, r.codes()})
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
	files := map[string][]byte{}
	for _, entry := range names {
		if files[entry.Name()], err = program.ReadFile("program/" + entry.Name()); err != nil {
			return nil, fmt.Errorf("read the program: %w", err)
		}
	}
	return files, nil
}

func (r Request) codes() []*Code {
	if r.Ref == nil {
		return []*Code{&r.Custom}
	}
	return []*Code{&r.Custom, r.Ref}
}

func (Request) addSubmission(def *tasks.Definition, files map[string][]byte, name string, code *Code) {
	if code == nil || code.Type == "cuda" || !buildsExtension.MatchString(code.Source) {
		return
	}
	files[name] = []byte(code.Source)
	def.Files = append(def.Files, tasks.File{Name: name, Source: tasks.SubmissionSource})
}
