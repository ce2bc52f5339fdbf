package tasks

import (
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// evalProgramName is the name, without suffix, of a bundle's own program that calls the submission and measures its
// time.
const evalProgramName = "eval"

// Values of the key harness.
const (
	ownHarnessValue       = "own"
	warpboardHarnessValue = "warpboard"
)

// readHarness sets HasOwnHarness, sets the defaults of config for the harness of Warpboard, and checks that the bundle
// has the files that its harness needs:
//
//	py       config.main (default eval.py, if files has one) among files: own harness;
//	         otherwise files must have reference.py and submission.py
//	cu, cpp  a file eval.* among files: own harness, config.sources required;
//	         otherwise config.sources defaults to the submission, and files must have task.h and
//	         reference.cuh (cu) or reference.h (cpp)
func (r *taskReader) readHarness(config *yaml.Node) {
	def := &r.bundle.Definition
	switch def.Lang {
	case LangPython:
		r.readPythonHarness(config, def)
	case LangCUDA, LangCPP:
		r.readNativeHarness(config, def)
	}
	if !def.HasOwnHarness && def.Lang != "" {
		for _, name := range standardFiles(def.Lang) {
			if !def.hasFile(name) {
				r.addProblem(nil, "files", "no eval program is among them, and Warpboard's own harness needs %q", name)
			}
		}
	}
}

// useRequestedHarness removes the eval program if task.yml requests the harness of Warpboard. It must be called last,
// because it replaces r.bundle: pointers to the old Definition are then wrong.
func (r *taskReader) useRequestedHarness(node *yaml.Node) {
	own := r.bundle.Definition.HasOwnHarness
	switch chosen := r.readChoice(node, "harness", "", ownHarnessValue, warpboardHarnessValue); {
	case chosen == ownHarnessValue && !own:
		r.addProblem(node, "harness", "files has no eval program that could measure; leave harness out to use Warpboard's")
	case chosen == warpboardHarnessValue && own && r.problems == nil:
		bundle, err := r.bundle.WithWarpboardHarness()
		if err != nil {
			r.addProblem(node, "harness", "Warpboard's harness cannot be used: %v", err)
			return
		}
		bundle.Files = r.bundle.Files // keep the eval program: the text of task.yml names it
		r.bundle = bundle
	}
}

func (r *taskReader) readPythonHarness(config *yaml.Node, def *Definition) {
	switch {
	case def.Config.MainFile == "" && def.hasFile(evalProgramName+".py"):
		def.Config.MainFile = evalProgramName + ".py"
	case def.Config.MainFile == "":
		return
	case !def.hasFile(def.Config.MainFile):
		r.addProblem(config, "config.main", "%q is not the name of an entry of files; leave config out to use Warpboard's harness", def.Config.MainFile)
	}
	def.HasOwnHarness = true
}

func (r *taskReader) readNativeHarness(config *yaml.Node, def *Definition) {
	def.HasOwnHarness = slices.ContainsFunc(def.Files, func(f File) bool { return nameWithoutSuffix(f.Name) == evalProgramName })
	if len(def.Config.Sources) > 0 {
		return
	}
	if def.HasOwnHarness {
		r.addProblem(config, "config.sources", "is required where files has an eval program: it says which files are compiled")
		return
	}
	def.Config.Sources = submissionNames(def.Files)
}

func submissionNames(files []File) []string {
	var names []string
	for _, f := range files {
		if f.IsSubmission() {
			names = append(names, f.Name)
		}
	}
	return names
}

// standardFiles returns the names at run time of the files that the harness of Warpboard for lang needs.
func standardFiles(lang Lang) []string {
	switch lang {
	case LangPython:
		return []string{"reference.py", "submission.py"}
	case LangCUDA:
		return []string{"task.h", "reference.cuh"}
	case LangCPP:
		return []string{"task.h", "reference.h"}
	default:
		return nil
	}
}

// maxRankProcesses limits the processes that the harness of Warpboard runs for one call, one per GPU.
const maxRankProcesses = 16

// checkWorldSizes checks that every case of a multi-GPU task has a number of GPUs. The harness of Warpboard, which runs
// one process for each GPU, needs the same number for all cases. Profiles are disabled: Nsight Compute replays one
// kernel alone, and a kernel that waits for another GPU never ends.
func (r *taskReader) checkWorldSizes(f yamlFields) {
	def := &r.bundle.Definition
	if !def.MultiGPU {
		return
	}
	for _, list := range []struct {
		key   string
		cases []Case
	}{{"tests", def.Tests}, {"benchmarks", def.Benchmarks}} {
		for i, c := range list.cases {
			n, err := strconv.Atoi(c.argumentText("world_size"))
			if err != nil || n < 1 {
				r.addProblem(f[list.key].Content[i], indexedKey(list.key, i), "multi_gpu needs world_size, the number of GPUs, in every case")
			} else if most := def.WorldSize(); !def.HasOwnHarness && (n != most || n > maxRankProcesses) {
				r.addProblem(f[list.key].Content[i], indexedKey(list.key, i), "world_size is %d, and elsewhere %d: Warpboard's harness runs all cases on the same number of GPUs, at most %d", n, most, maxRankProcesses)
			}
		}
	}
	if def.HasOwnHarness {
		return
	}
	def.DisableProfile = true
	if def.Lang != LangPython && def.Lang != "" {
		r.addProblem(f["multi_gpu"], "multi_gpu", "Warpboard's harness runs Python tasks on several GPUs; a task in C++ needs an eval program of its own for that")
	}
}

// WorldSize returns the largest number of slots that a case of the task needs; 1 unless MultiGPU.
func (d Definition) WorldSize() int {
	most := 1
	if !d.MultiGPU {
		return most
	}
	for _, c := range slices.Concat(d.Tests, d.Benchmarks) {
		n, _ := strconv.Atoi(c.argumentText("world_size"))
		most = max(most, n)
	}
	return most
}

// argumentText returns the text of an argument; "" if the case has none with that name.
func (c Case) argumentText(name string) string {
	for _, arg := range c {
		if arg.Name == name {
			return arg.Value
		}
	}
	return ""
}

// String returns the case as a line, "size: 1024; seed: 7": eval programs read cases in this form, and results use it
// as their name. Line breaks and semicolons in values are refused, so the line is unambiguous.
func (c Case) String() string {
	parts := make([]string, len(c))
	for i, arg := range c {
		parts[i] = arg.Name + ": " + arg.Value
	}
	return strings.Join(parts, "; ")
}
