package kernelrun

import "warpboard/tasks"

// CompilationResult is the result of a request that only compiles.
type CompilationResult struct {
	File             string `json:"file" jsonschema:"the source's name in commands and messages"`
	Command          string `json:"command,omitempty" jsonschema:"the compilers' commands, as shell lines"`
	CompilerMessages string `json:"messages,omitempty" jsonschema:"what the compilers printed"`
	// PTXASFacts has the values that ptxas reports, by kernel, as in the build of a run.
	PTXASFacts map[string]string `json:"facts,omitempty" jsonschema:"in answers always absent"`
	Seconds    float64           `json:"seconds" jsonschema:"how long the compilers took"`
	Listings   []CodeListing     `json:"code,omitempty" jsonschema:"the generated code"`
	// Diagnostics and Kernels are derived from the other fields by the site.
	Diagnostics []Diagnostic      `json:"diagnostics,omitempty" jsonschema:"the compilers' messages about lines of the source"`
	Kernels     []KernelResources `json:"kernels,omitempty" jsonschema:"resources of each CUDA kernel"`
}

// Diagnostic is a compiler's message about a line.
type Diagnostic struct {
	Line     int    `json:"line"`
	File     string `json:"file,omitempty" jsonschema:"of a submission with several files; absent: the main one"`
	Severity string `json:"severity" jsonschema:"error or warning"`
	Text     string `json:"text"`
}

// KernelResources has the GPU resources that a CUDA kernel uses; -1 means that ptxas did not report the value.
type KernelResources struct {
	Name        string `json:"name"`
	Registers   int    `json:"registers" jsonschema:"of a thread"`
	SharedBytes int    `json:"shared" jsonschema:"bytes of static shared memory of a block"`
	StackBytes  int    `json:"stack" jsonschema:"bytes of a thread"`
	SpillBytes  int    `json:"spills" jsonschema:"bytes of spilled registers that a thread stores and loads"`
}

// CodeListing is the generated code in one form, such as PTX.
type CodeListing struct {
	Language string     `json:"form" jsonschema:"x86-64, PTX or SASS"`
	Code     []CodeLine `json:"code" jsonschema:"up to 2000 lines"`
}

// CodeLine is a line of code with its line of the source.
type CodeLine struct {
	Text string `json:"text"`
	Line int    `json:"line,omitempty" jsonschema:"of the source; absent: of none, or of a header"`
}

// CompileTimeout is the default time limit of a request to compile, in seconds.
const CompileTimeout = 60

// maxCompiledSource limits a source in bytes, as for submissions.
const maxCompiledSource = tasks.MaxSubmission

// checkCompiled returns a *Refusal for a request that only compiles and names no language, or has no source.
func (r Request) checkCompiled() error {
	refuse := func(name, text string) error { return &Refusal{Message: text, Details: map[string]any{name: ""}} }
	switch {
	case r.CustomKernel.Source == "":
		return refuse("source_code", "source_code is empty: send a C++ or CUDA source")
	case len(r.CustomKernel.Source) > maxCompiledSource:
		return refuse("source_code", "source_code has more than 1,000,000 bytes")
	case r.CustomKernel.KernelType == "" && r.TaskName == "":
		return refuse("kernel_type", "kernel_type is missing: send cuda or cpp, or the name of a task")
	case r.CustomKernel.KernelType != "" && r.TaskName != "":
		return refuse("kernel_type", "kernel_type cannot be combined with task, which has a language")
	}
	return nil
}

// StandaloneTask returns a task definition and files for a request whose source does not belong to a task.
func (r Request) StandaloneTask() (tasks.Definition, map[string][]byte) {
	lang := tasks.LangCPP
	if r.CustomKernel.KernelType == "cuda" {
		lang = tasks.LangCUDA
	}
	name := "kernel." + string(lang)
	return tasks.Definition{Protocol: tasks.ProtocolEval, Lang: lang, HasOwnHarness: true, Config: tasks.BuildConfig{Sources: []string{name}},
		Files: []tasks.File{{Name: name, Source: tasks.SubmissionSource}}}, map[string][]byte{name: []byte(r.CustomKernel.Source)}
}
