package importing

import (
	"errors"
	"path"
	"regexp"
	"slices"
	"strings"
)

var (
	modelClassPattern = regexp.MustCompile(`(?m)^class Model\b`)
	// classBodyPattern matches the bodies of classes, whose numbers MaxDimension must not change: they are sizes of
	// layers and channels.
	classBodyPattern      = regexp.MustCompile(`(?m)^class\b.*\n(?:(?:[ \t].*)?\n)*`)
	getInputsPattern      = regexp.MustCompile(`(?m)^def get_inputs\b`)
	modelName             = regexp.MustCompile(`\bModel\b`)
	levelFolderPattern    = regexp.MustCompile(`^level\d+$`)
	importedModulePattern = regexp.MustCompile(`(?m)^(?:import|from)\s+([A-Za-z_]\w*)`)
	docstringPattern      = regexp.MustCompile(`(?s)^class Model\b[^\n]*\n\s+"""(.*?)"""`)
)

// IsKernelBenchProblem reports whether a Python file looks like a problem of KernelBench, even an incomplete one.
func IsKernelBenchProblem(text []byte) bool {
	return modelClassPattern.Match(text) || getInputsPattern.Match(text)
}

// kernelBench returns a task for each problem of KernelBench. In a folder with at least one, each Python file counts as
// a problem.
func (r *problemReader) kernelBench() (list []Task) {
	folders := map[string]bool{}
	for name, text := range r.textsByPath {
		if path.Ext(name) == ".py" && IsKernelBenchProblem(text) {
			folders[path.Dir(name)] = true
		}
	}
	for name, text := range r.textsByPath {
		if path.Ext(name) == ".py" && folders[path.Dir(name)] && path.Base(name) != "__init__.py" {
			list = append(list, r.makeTask(name, func(f *taskFolder) error {
				return r.readModel(f, name,
					string(text))
			}))
		}
	}
	for name, err := range r.readErrors {
		if path.Ext(name) == ".py" && folders[path.Dir(name)] {
			list = append(list, r.makeTask(name, func(*taskFolder) error { return err }))
		}
	}
	return list
}

// readModel writes the files of one problem to its task folder.
func (r *problemReader) readModel(f *taskFolder, name, text string) error {
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	switch {
	case !modelClassPattern.MatchString(text):
		return errors.New("has no class Model at its top level")
	case !getInputsPattern.MatchString(text):
		return errors.New("has no function get_inputs at its top level")
	case strings.Contains(text, "from_pretrained("):
		return errors.New("downloads a model when it is loaded, and a run has no network")
	}
	if foreign := foreignModules(text); len(foreign) > 0 {
		f.addNote("The problem imports %s, which its workers must have.", strings.Join(foreign, ", "))
	}
	if strings.Contains(text, "ropout") {
		f.addNote("The model's dropout is active, as in KernelBench: only a kernel that draws PyTorch's random numbers in " +
			"the same order is right.")
	}
	if smaller, changed := reduceOutsideMatches(classBodyPattern, text,
		r.importOptions.MaxDimension); len(changed) > 0 {
		f.addNote("Smaller than in the problem: %s.", strings.Join(changed, ", "))
		text = smaller
	}
	f.tags, f.tolerance = []string{"kernelbench"}, tolerance{ATol: 1e-4, RTol: 1e-4, Matched: 1, Infinite: "equal"}
	if level := path.Base(path.Dir(path.Join(r.importOptions.Name, name))); levelFolderPattern.MatchString(level) {
		f.tags = append(f.tags, level)
	}
	f.description = modelDescription(text)
	f.files["problem.py"] = []byte(text)
	f.files["template.py"] = []byte(modelName.ReplaceAllString(text, "ModelNew"))
	f.templates = map[string]string{"Python": "template.py"}
	f.tests, f.benchmarks = casesWithSeeds("1001", "2002", "3003"), casesWithSeeds("4004")
	return f.addProgram("task.py", "kernelbench.py")
}

func modelDescription(text string) string {
	about := "Compute what the class `Model` computes."
	if at := modelClassPattern.FindStringIndex(text); at != nil {
		if found := docstringPattern.FindStringSubmatch(text[at[0]:]); found != nil &&
			strings.TrimSpace(found[1]) != "" {
			about = removeIndentation(found[1])
		}
	}
	return markdownText(`%s

Write a class ''ModelNew'' that takes the arguments of ''Model'' and gives the same answers. It is made once, with the
arguments of ''get_init_inputs'' and the weights of seed 42, and called without gradients on what ''get_inputs'' returns.
Instead, you can define ''custom_kernel(data)'', which gets a list of these inputs.

Answers are compared with those of ''Model'': relative and absolute tolerance 10⁻⁴. The caches are flushed before every
timed call.

~~~python
%s
~~~
`, about, strings.TrimSpace(text))
}

// removeIndentation removes the indentation of every line, because Markdown would show indented lines as code.
func removeIndentation(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, "\n")
}

// foreignModules returns the imported modules that a worker with only PyTorch may lack.
func foreignModules(text string) (names []string) {
	usual := []string{"torch", "numpy", "triton", "__future__", "abc", "collections", "copy", "ctypes", "dataclasses",
		"enum", "functools", "inspect", "itertools", "math", "operator", "os", "random", "sys", "time", "typing", "warnings"}
	for _, found := range importedModulePattern.FindAllStringSubmatch(text, -1) {
		if name := found[1]; !slices.Contains(usual, name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
