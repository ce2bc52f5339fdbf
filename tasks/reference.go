package tasks

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"warpboard/tasks/filetree"
)

// Names at run time in the legacy format, by which its harness includes or imports both files.
const (
	legacyNativeReference  = "reference.cuh"
	legacyNativeSubmission = "train.cuh"
	legacyPythonReference  = "reference.py"
	legacyPythonSubmission = "train.py"
)

const (
	legacyNativeTimeout = 600 * time.Second
	legacyPythonTimeout = 300 * time.Second
)

// TaskFromReference returns a task in the legacy format from its only reference file. The suffix determines the
// language: .cu and .cuh CUDA C++, .cpp C++ on the CPU, .py Python. Its errors are Problems.
func TaskFromReference(file string, content []byte, devices []string) (*Bundle, error) {
	lang := languageOfReference(file)
	if err := checkReferenceFile(file, lang, content); err != nil {
		return nil, err
	}
	reference, submission, timeout := legacyNativeReference, legacyNativeSubmission, legacyNativeTimeout
	if lang == LangPython {
		reference, submission, timeout = legacyPythonReference, legacyPythonSubmission, legacyPythonTimeout
	}
	return &Bundle{
		Name: nameWithoutSuffix(file),
		Definition: Definition{
			Protocol: ProtocolLegacy,
			Lang:     lang,
			Files: []File{
				{Name: reference, Source: reference},
				{Name: submission, Source: SubmissionSource},
			},
			Timeouts:  Timeouts{Test: timeout, Benchmark: timeout, Ranked: timeout},
			RankingBy: RankLastCase,
			GPUs:      devices,
		},
		Files:    map[string][]byte{reference: content},
		Warnings: legacyWarnings(lang, content),
	}, nil
}

func checkReferenceFile(file string, lang Lang, content []byte) error {
	r := &yamlReader{file: filetree.PrintableName(file)}
	switch {
	case lang == "":
		r.addProblem(nil, "", "a reference file ends in .cu, .cuh, .cpp or .py")
	case filetree.RefusedName(file) != "":
		r.addProblem(nil, "", "%s", filetree.RefusedName(file))
	case len(content) > MaxSubmission:
		r.addProblem(nil, "", "is larger than %d bytes", MaxSubmission)
	case !utf8.Valid(content):
		r.addProblem(nil, "", "is not UTF-8 text")
	default:
		for _, name := range legacyNames(lang) {
			if !regexp.MustCompile(`\b` + name + `\b`).Match(content) {
				r.addProblem(nil, name, "is not defined; a reference of this form must define it")
			}
		}
	}
	return r.problems.AsError()
}

func languageOfReference(file string) Lang {
	switch strings.ToLower(path.Ext(file)) {
	case ".cu", ".cuh":
		return LangCUDA
	case ".cpp":
		return LangCPP
	case ".py":
		return LangPython
	default:
		return ""
	}
}

// legacyNames returns the names in the reference that the harness of the legacy format uses.
func legacyNames(lang Lang) []string {
	functions := []string{"generate_input", "ref_kernel", "check_implementation"}
	if lang == LangPython {
		return functions
	}
	return append(functions, "input_t", "output_t")
}

func legacyWarnings(lang Lang, content []byte) []string {
	var out []string
	if lang == LangCPP {
		out = append(out, "A reference that ends in .cpp makes a C++ task for CPUs. For CUDA kernels, upload it as .cu.")
	}
	if lang != LangPython && regexp.MustCompile(`\bmain\s*\(`).Match(content) {
		out = append(out, fmt.Sprintf("The reference seems to define main, which the harness has already; it is included by the name %s.", legacyNativeReference))
	}
	return out
}
